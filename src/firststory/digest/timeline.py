"""When the documents of a story came: how many per hour, day, week or month."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from firststory.digest.words import is_midnight

if TYPE_CHECKING:
    from firststory.store.period_reader import Arrived

Unit = Literal["hour", "day", "week", "month"]
HOURS_TO_SHOW = timedelta(hours=36)
"""The longest story that is shown by the hour."""
MAX_COLUMNS = 31
"""Columns of a timeline; longer ones are counted in larger units."""


@dataclass(frozen=True, slots=True)
class Column:
    """The documents of an hour, day, week or month."""

    start: datetime
    documents: int
    sources: int
    """Distinct sources."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Those that have documents, in the order of time; empty where no document has a time."""

    unit: Unit
    columns: tuple[Column, ...]


def timeline_of(arrivals: Sequence[Arrived]) -> Timeline:
    """Count documents in the smallest unit that needs few columns.

    Examples
    --------
    >>> from firststory.store.period_reader import Arrived
    >>> noon = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
    >>> told = timeline_of([Arrived(noon + timedelta(hours=n), "AP", False) for n in (0, 0.2, 30)])
    >>> told.unit, [(f"{one.start:%d %H}", one.documents, one.sources) for one in told.columns]
    ('hour', [('15 12', 2, 1), ('16 18', 1, 1)])
    """
    timed = sorted((one.time.astimezone(UTC), one.source or "") for one in arrivals if one.time is not None)
    times = [time for time, _ in timed]
    units: list[Unit] = ["day", "week", "month"]
    if times and times[-1] - times[0] <= HOURS_TO_SHOW and not all(map(is_midnight, times)):
        units = ["hour"]
    unit = next((one for one in units if len({start_of(time, one) for time in times}) <= MAX_COLUMNS), units[-1])
    found: dict[datetime, list[str]] = {}
    for time, source in timed:
        found.setdefault(start_of(time, unit), []).append(source)
    columns = (Column(start, len(those), len(set(those) - {""})) for start, those in found.items())
    return Timeline(unit, tuple(columns))


def start_of(time: datetime, unit: Unit) -> datetime:
    """The beginning of the hour, day, week (Monday) or month that a time is in.

    Examples
    --------
    >>> [f"{start_of(datetime(2026, 11, 15, 12, 30), unit):%m-%d %H:%M}" for unit in ("hour", "day", "week", "month")]
    ['11-15 12:00', '11-15 00:00', '11-09 00:00', '11-01 00:00']
    """
    if unit == "hour":
        return time.replace(minute=0, second=0, microsecond=0)
    day = time.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day
