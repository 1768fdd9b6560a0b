"""The time range of a view: one of a few lengths before now, or days that the reader chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from firststory.serve.page.clock import Clock
from firststory.units import MICROSECOND

LENGTHS = {
    "6h": ("Last 6 hours", "in 6 hours", timedelta(hours=6)),
    "24h": ("Last 24 hours", "in 24 hours", timedelta(hours=24)),
    "3d": ("Last 3 days", "in 3 days", timedelta(days=3)),
    "7d": ("Last 7 days", "in 7 days", timedelta(days=7)),
    "30d": ("Last 30 days", "in 30 days", timedelta(days=30)),
    "90d": ("Last 90 days", "in 90 days", timedelta(days=90)),
}
DAYS = "days"


@dataclass(frozen=True, slots=True)
class Range:
    """From when to when, and how that is said."""

    chosen: str
    since: datetime
    until: datetime
    words: str
    from_day: str = ""
    to_day: str = ""


def names(*lengths: str) -> dict[str, str]:
    """Some lengths as they are chosen from."""
    return {one: LENGTHS[one][0] for one in lengths}


def range_of(asked: Mapping[str, str], clock: Clock, allowed: Mapping[str, str], default: str) -> Range:
    """What the address says; the default where it says nothing that can be understood."""
    chosen = asked.get("since", default)
    first, last = _day(asked.get("from")), _day(asked.get("to"))
    if chosen == DAYS and (first or last):
        begin, end = first or last or date.min, last or first or date.max
        begin, end = min(begin, end), max(begin, end)
        since = datetime.combine(begin, time(), clock.zone)
        until = datetime.combine(end, time(), clock.zone) + timedelta(days=1) - MICROSECOND
        words = "on " + clock.date(since) if begin == end else f"from {clock.date(since)} to {clock.date(until)}"
        return Range(DAYS, since, until, words, begin.isoformat(), end.isoformat())
    if chosen not in allowed:
        chosen = default
    _, words, length = LENGTHS[chosen]
    # A day of a stream that knows only days is one day, not its midnight and the one before.
    return Range(chosen, clock.now - length + MICROSECOND, clock.now, words)


def _day(given: str | None) -> date | None:
    try:
        return date.fromisoformat(given or "")
    except ValueError:
        return None
