"""When the documents of a story came, and from which sources."""

from __future__ import annotations

from functools import lru_cache

from firststory.growth import first_hour, per_day
from firststory.harmless import harmless
from firststory.units import HOUR_SECONDS

MAX_SOURCES = 50
MAX_SOURCE_CHARACTERS = 100
MAX_HOURS_BACK = 8 * 24
"""Age of the oldest hour at which those of more than a week ago are dropped."""
NOT_COUNTED = -(1 << 62)
"""No hour: the documents of the week must be counted again."""


class Activity:
    """The first and last time, the documents in each hour of the last week, and the sources."""

    __slots__ = ("_in_week", "_week_start", "first", "hours", "last", "sources")

    def __init__(self) -> None:
        self.first: float | None = None
        self.last: float | None = None
        self.hours: dict[int, int] = {}
        """Documents in each hour since 1970."""
        self.sources: dict[str, int] = {}
        self._in_week, self._week_start = 0, NOT_COUNTED
        """Documents in the week that growth was last asked for, and its first hour."""

    def add(self, source: str | None, time: float | None) -> None:
        """A document has come."""
        if source:
            self._add_source(shown_source(source), 1)
        if time is None:
            return
        if self.first is None or time < self.first:
            self.first = time
        if self.last is None or time > self.last:
            self.last = time
        hours, hour = self.hours, int(time // HOUR_SECONDS)
        if hour in hours:
            hours[hour] += 1
        else:
            hours[hour] = 1
            # What is more than a week old is dropped, but not at every new hour.
            if hour - next(iter(hours)) > MAX_HOURS_BACK:
                start = first_hour(time)
                self.hours = {one: n for one, n in hours.items() if one >= start}
        self._in_week += hour >= self._week_start

    def _add_source(self, source: str, count: int) -> None:
        if source and (source in self.sources or len(self.sources) < MAX_SOURCES):
            self.sources[source] = self.sources.get(source, 0) + count

    def growth(self, start: int) -> float:
        """Documents per day over the week that begins with an hour, see `first_hour`."""
        if start != self._week_start:
            hours = self.hours
            if len(hours) == 1:  # most stories
                ((hour, n),) = hours.items()
                self._in_week = n if hour >= start else 0
            else:
                self._in_week = sum([n for hour, n in hours.items() if hour >= start])
            self._week_start = start
        return per_day(self._in_week)

    def absorb(self, other: Activity) -> None:
        """Add the documents of another story."""
        for source, count in other.sources.items():
            self._add_source(source, count)
        for hour, n in other.hours.items():
            self.hours[hour] = self.hours.get(hour, 0) + n
        self._week_start = NOT_COUNTED
        self.first = min((time for time in (self.first, other.first) if time is not None), default=None)
        self.last = max((time for time in (self.last, other.last) if time is not None), default=None)


def shown_source(source: str) -> str:
    """A source as people see it: not a megabyte long, and without characters that turn a line round."""
    return _cleaned(source[: 10 * MAX_SOURCE_CHARACTERS])


@lru_cache(maxsize=1 << 10)
def _cleaned(source: str) -> str:
    # Twice: what the first pass takes out can leave a joiner with nothing to join.
    return harmless(harmless(source, MAX_SOURCE_CHARACTERS), MAX_SOURCE_CHARACTERS)
