"""Verdicts as a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from firststory.errors import MissingExtraError, not_one_of
from firststory.records import Verdict

LIBRARIES = ("pandas", "polars")


def frame_of(verdicts: Iterable[Verdict], library: str) -> Any:
    """One row for each verdict: the values of `Verdict.to_dict`, times as times, terms and neighbours as lists."""
    if library not in LIBRARIES:
        raise not_one_of("Monitor.verdicts_frame", "library", LIBRARIES, library)
    try:
        made = import_module(library)
    except ImportError as error:
        raise MissingExtraError("Monitor.verdicts_frame", library, "frames") from error
    rows = [
        verdict.to_dict()
        | {
            "time": verdict.document.time,
            "terms": [term.text for term in verdict.terms],
            "nearest": [near.id for near in verdict.nearest],
        }
        for verdict in verdicts
    ]
    names = list(rows[0]) if rows else list(_EMPTY)
    columns = {name: [row[name] for row in rows] for name in names}
    return made.DataFrame(columns)


_EMPTY = (
    "id", "time", "title", "source", "url", "novelty", "p_value", "is_novel", "terms", "nearest", "story", "kind",
    "duplicate_of", "sentence",
)  # fmt: skip
"""The columns of a frame without rows."""
