"""What a run asks of the documents in a store before it judges others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from firststory.store import codec
from firststory.store.driver import rows_of

PENDING_STEP = -1
"""The step of feedback that no step has applied yet."""
VALUES_AT_ONCE = 512
"""Of a look-up by ids or fingerprints."""


class BeforeStep(NamedTuple):
    """What the store is asked before each step."""

    known_ids: set[str]
    """Those of the step's ids that it has."""
    feedback: tuple[dict[str, Any], ...]
    """What was said and no step has applied."""
    wanted_settings: dict[str, Any]
    """See `store.setting_changes`."""


def known_ids(connection: Connection, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for some in _batched(ids):
        query = f"SELECT id FROM documents WHERE id IN ({', '.join('?' * len(some))})"
        found.update([row[0] for row in rows_of(connection, query, some)])
    return found


def has_pending_feedback(connection: Connection) -> bool:
    return bool(rows_of(connection, "SELECT 1 FROM feedback WHERE step = ? LIMIT 1", (PENDING_STEP,)))


def first_with(connection: Connection, fingerprints: Sequence[int], before: int) -> dict[int, str]:
    """See `Store.first_with`."""
    found: dict[int, str] = {}
    for some in _batched([codec.to_signed(number) for number in fingerprints]):
        query = (
            "SELECT d.fingerprint, coalesce(v.duplicate_of, d.id) FROM documents d "
            "JOIN verdicts v ON v.n = d.n WHERE d.n IN (SELECT min(n) FROM documents WHERE fingerprint IN "
            f"({', '.join('?' * len(some))}) GROUP BY fingerprint) AND d.step < ?"
        )
        found.update({codec.to_unsigned(row[0]): row[1] for row in rows_of(connection, query, (*some, before))})
    return found


def _batched(values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Some at a time: no database takes any number of values in one statement.

    The last is repeated until their number is a power of two: SQLite's driver keeps every statement that it has seen
    lately with its values, and one for every number of them would fill memory for hours.
    """
    for start in range(0, len(values), VALUES_AT_ONCE):
        some = tuple(values[start : start + VALUES_AT_ONCE])
        yield some + some[-1:] * ((1 << (len(some) - 1).bit_length()) - len(some))
