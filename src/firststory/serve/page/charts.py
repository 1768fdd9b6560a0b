"""Where the parts of the small charts stand: numbers for the templates, which draw them as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from firststory.serve.page.clock import Clock

STRIP_LEFT, STRIP_RIGHT, STRIP_APART = 6.0, 226.0, 8.5
SPARK_WIDTH, SPARK_TOP, SPARK_BOTTOM = 96.0, 3.0, 23.0
SPARK_BINS = 24
WIDE = 1000.0
PIN_ROWS = 3
LETTER = 6.6
"""The width of a letter of a pin's label."""


def strip(times: Sequence[float]) -> list[float]:
    """Where the dots of an arrival strip stand: in proportion to time, but apart; the first at the left end.

    Examples
    --------
    >>> strip([0.0, 1.0, 2.0, 100.0])
    [6.0, 14.5, 23.0, 226.0]
    """
    if not times:
        return []
    first, last = min(times), max(times)
    whole = (last - first) or 1.0
    room = (STRIP_RIGHT - STRIP_LEFT) / max(len(times) - 1, 1)
    apart = min(STRIP_APART, room)
    places = [STRIP_LEFT + (STRIP_RIGHT - STRIP_LEFT) * (time - first) / whole for time in sorted(times)]
    for n in range(1, len(places)):
        places[n] = max(places[n], places[n - 1] + apart)
    places[-1] = min(places[-1], STRIP_RIGHT)
    for n in range(len(places) - 2, 0, -1):
        places[n] = min(places[n], places[n + 1] - apart)
    return [round(place, 1) for place in places]


class Spark(NamedTuple):
    """A small line with the area under it."""

    line: str
    area: str
    end: float
    """The height of its last point."""


def spark(values: Sequence[float], *, smooth: bool = True) -> Spark:
    """The shape of some numbers, on a scale of its own; smoothed 1-2-1."""
    given = list(values) or [0.0]
    if smooth and len(given) > 2:
        padded = [given[0], *given, given[-1]]
        given = [(a + 2 * b + c) / 4 for a, b, c in zip(padded, padded[1:], padded[2:], strict=False)]
    top = max(given) or 1.0
    step = SPARK_WIDTH / max(len(given) - 1, 1)
    heights = [SPARK_BOTTOM - (SPARK_BOTTOM - SPARK_TOP) * value / top for value in given]
    points = [f"{n * step:.1f} {height:.1f}" for n, height in enumerate(heights)]
    line = "M" + " L".join(points)
    return Spark(line, f"{line} L{SPARK_WIDTH:.0f} 26 L0 26 Z", round(heights[-1], 1))


def spark_of(bins: Mapping[int, int], n_bins: int = SPARK_BINS) -> Spark:
    """The same of counts by bin."""
    return spark([bins.get(n, 0) for n in range(n_bins)])


@dataclass(frozen=True, slots=True)
class Bar:
    """One column: where it stands and what it says."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on the axis of time."""

    x: float
    label: str
    is_day: bool = False


def bars(
    counts: Sequence[int], titles: Sequence[str], *, left: float, right: float, top: float, bottom: float
) -> list[Bar]:
    """Columns of one width side by side; those that are empty are left out."""
    most, step = max([*counts, 1]), (right - left) / max(len(counts), 1)
    gap = min(3.0, step * 0.15)
    found = []
    for n, (count, title) in enumerate(zip(counts, titles, strict=True)):
        if count:
            height = max((bottom - top) * count / most, 1.5)
            found.append(Bar(round(left + n * step + gap / 2, 1), round(bottom - height, 1), round(step - gap, 1),
                             round(height, 1), title))  # fmt: skip
    return found


def ticks(clock: Clock, since: datetime, until: datetime, left: float, right: float, most: int = 9) -> list[Tick]:
    """Marks on a line of time, in the reader's hours and days."""
    whole = (until - since).total_seconds() or 1.0
    hours = next(
        (h for h in (1, 2, 3, 6, 12, 24, 48, 24 * 7, 24 * 14, 24 * 30, 24 * 91, 24 * 365) if whole / 3600 / h <= most),
        24 * 3650,
    )
    found = []
    at = clock.midnight(since)
    while at < until:
        if at >= since:
            is_day = (at.hour, at.minute) == (0, 0)
            label = (
                f"{at:%a} {at.day} {at:%b}" if is_day and hours < 24 else clock.date(at) if is_day else f"{at:%H:%M}"
            )
            x = left + (right - left) * (at - since).total_seconds() / whole
            found.append(Tick(round(x, 1), label, is_day and hours < 24))
        # Days are counted in the reader's calendar: some have 23 hours, some 25.
        at = at + timedelta(days=hours // 24) if hours >= 24 else _next(at, hours)
    return found


def _next(at: datetime, hours: int) -> datetime:
    later = at + timedelta(hours=hours)
    return later.replace(hour=later.hour - later.hour % hours) if hours > 1 else later


@dataclass(slots=True)
class Pin:
    """A numbered pin over the columns of a story."""

    x: float
    row: int
    number: int
    kind: str
    label: str
    is_left: bool
    """Whether the label stands to the left of the pin."""

    @property
    def y(self) -> int:
        return 12 + 23 * self.row


def pins(places: Sequence[tuple[float, str, str]], *, right: float = WIDE) -> list[Pin]:
    """Pins (place, kind, label), in the order of time; where they crowd they stand in rows below one another."""
    free = [-100.0] * PIN_ROWS
    found = []
    for number, (x, kind, label) in enumerate(places, 1):
        width = 26 + LETTER * len(label)
        is_left = x + width > right
        start, end = (x - width, x + 10) if is_left else (x - 10, x + width)
        row = next((n for n in range(PIN_ROWS) if free[n] <= start), None)
        if row is None:  # too many at one time: the pin stays, the label goes
            row, label, end = PIN_ROWS - 1, "", x + 10
        free[row] = end
        found.append(Pin(round(x, 1), row, number, kind, label, is_left))
    return found
