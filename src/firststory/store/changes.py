"""What the steps of a store brought, in an order that can be resumed: verdicts, alerts, and stories that changed.

A story stands at the last step that changed it: who comes late gets it once, as it is now.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import func, select

from firststory.errors import ParameterError
from firststory.records import Alert, Story, Verdict
from firststory.store import codec, schema
from firststory.store.alert_reader import _alerts, _select_alerts
from firststory.store.store import Store

KINDS = ("verdict", "alert", "story", "status")
"""What is told of a step, in this order."""


class Cursor(NamedTuple):
    """A place in the changes of a store: after one of them. `number` counts within the kind of a step."""

    step: int
    kind: int = len(KINDS) - 1
    number: int = 0

    def __str__(self) -> str:
        """As it is sent and comes back: steps counted from 1, so that 0 is before the first.

        Examples
        --------
        >>> str(Cursor(12, 1, 345)), parse_cursor("13-1-345"), str(Cursor(-1))
        ('13-1-345', Cursor(step=12, kind=1, number=345), '0-3-0')
        """
        return f"{self.step + 1}-{self.kind}-{self.number}"


def parse_cursor(text: str) -> Cursor:
    """The cursor that a client sends back."""
    parts = text.split("-")
    if len(parts) == 3 and all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        steps, kind, number = (int(part) for part in parts)
        if kind < len(KINDS):
            return Cursor(steps - 1, kind, number)
    raise ParameterError(
        owner="events",
        parameter="Last-Event-ID",
        allowed="the id of an event of this service",
        received=text[:50],
        remedy="Leave it out to begin with what comes next.",
    )


class Change(NamedTuple):
    """Something that a step brought."""

    cursor: Cursor
    """The place after it."""
    record: Verdict | Alert | Story

    @property
    def kind(self) -> str:
        return KINDS[self.cursor.kind]


def changes(store: Store, first: int, last: int, *, all_verdicts: bool) -> list[Change]:
    """What the steps from `first` to `last` brought, in order; verdicts only those that are novel, unless all."""
    found: list[Change] = []
    documents, verdicts = schema.documents, schema.verdicts
    both = documents.join(verdicts, verdicts.c.n == documents.c.n)
    columns = [*documents.c, *[column for column in verdicts.c if column.name != "n"]]
    query = select(*columns).select_from(both).where(documents.c.step.between(first, last))
    if not all_verdicts:
        query = query.where(verdicts.c.is_novel.is_(True))
    alerts, stories = schema.alerts, schema.stories
    with store._reading() as connection:
        found += [
            Change(Cursor(row["step"], 0, row["n"]), codec.verdict_from_row(row))
            for row in connection.execute(query.order_by(documents.c.n)).mappings()
        ]
        numbers = select(alerts.c.n, alerts.c.step).where(alerts.c.step.between(first, last)).order_by(alerts.c.n)
        places = [Cursor(row.step, 1, row.n) for row in connection.execute(numbers)]
        fired = _alerts(connection, _select_alerts().where(alerts.c.step.between(first, last)).order_by(alerts.c.n))
        found += [Change(place, alert) for place, alert in zip(places, fired, strict=True)]
        now = connection.execute(select(func.max(stories.c.last_seen))).scalar()
        found += [
            Change(Cursor(row["step"], 2, _number(row["id"])), codec.story_from_row(row, now))
            for row in connection.execute(select(stories).where(stories.c.step.between(first, last))).mappings()
        ]
    found.sort(key=lambda change: change.cursor)
    return found


def _number(story: str) -> int:
    """Stories are counted: s1, s2, …"""
    digits = story.lstrip("s")
    return int(digits) if digits.isdigit() else 0
