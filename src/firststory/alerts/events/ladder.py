"""The ladder: the price of the next alert, and the ceiling that is never exceeded.

The ladder counts how many events reached each score in the last week. The price is the lowest score that at most N
events per day reached; it rises as the day's alerts are spent, so that small events do not use up what a large one
needs. The ceiling is hard: never more than N in any 24 hours, or one in 1/N days where N is below one.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import takewhile
from typing import Any, Self

from firststory.units import DAY_SECONDS

PRICE_DAYS = 7.0
REMEMBERED_DAYS = 2.0
"""The last alert is remembered for ever, the others for a day or two."""
MOST_SCORE = 60.0
MOST_CLIMBS = 50_000
"""Where more than these are noted in a week, the price is that of the shorter time which they reach back."""
MOST_FIRED = 20_000
"""Alerts that are remembered at most, which no ceiling exceeds."""
LEAST_SHARE = 0.15
"""Of the ceiling, however much of it is spent."""


class Ceiling:
    """At most `per_day` in any 24 hours; None: no ceiling.

    Examples
    --------
    >>> ceiling = Ceiling()
    >>> ceiling.spend(0.0)
    >>> ceiling.has_room(3600.0, per_day=1.0), ceiling.has_room(86400.0, per_day=1.0)
    (False, True)
    """

    def __init__(self) -> None:
        self.fired: deque[float] = deque(maxlen=MOST_FIRED)

    def spent(self, now: float, per_day: float | None) -> int:
        """How many fired in the last day; where less than one per day may fire, in that time."""
        seconds = DAY_SECONDS * (max(1.0, 1.0 / per_day) if per_day else 1.0)
        return sum([now - at < seconds for at in self.fired])

    def has_room(self, now: float, per_day: float | None) -> bool:
        """Whether one more may fire."""
        return per_day is None or self.spent(now, per_day) < max(1, math.floor(min(per_day, MOST_FIRED)))

    def spend(self, now: float) -> None:
        """One more fires; what fired long ago is forgotten."""
        self.fired.append(now)
        while now - self.fired[0] > REMEMBERED_DAYS * DAY_SECONDS and len(self.fired) > 1:
            self.fired.popleft()


class Ladder:
    """Events per day that reached each score, by `step`."""

    def __init__(self, step: float = 0.5, least: float = 1.0) -> None:
        self.step = step
        self.least = int(least / step)
        """Rungs up to this one are not counted: nothing is alerted that low."""
        self.begun: float | None = None
        self._climbs: deque[tuple[float, int, int]] = deque()
        self._changes = [0] * (int(MOST_SCORE / step) + 2)
        """From one rung to the next, how many more events reached it: a climb changes two of these."""

    def note(self, now: float, before: float, after: float) -> None:
        """An event's best score rose from `before` to `after`."""
        if self.begun is None:
            self.begun = now
        low, high = max(self.least, int(before / self.step)), int(min(after, MOST_SCORE) / self.step)
        if high > low:
            self._climb(now, low, high)
        climbs, changes = self._climbs, self._changes
        while climbs and (now - climbs[0][0] > PRICE_DAYS * DAY_SECONDS or len(climbs) > MOST_CLIMBS):
            _forget(climbs.popleft(), changes)

    def _climb(self, now: float, low: int, high: int) -> None:
        self._climbs.append((now, low, high))
        self._changes[low + 1] += 1
        self._changes[high + 1] -= 1

    def price(self, now: float, per_day: float | None, spent: int = 0) -> float:
        """The lowest score that at most `per_day` events per day reached; 0 where all may fire."""
        if self.begun is None or per_day is None:
            return 0.0
        days = self._days(now)
        most = max(1.0, per_day * max(LEAST_SHARE, 1.0 - spent / per_day) * days)
        rung, changes = self.least, self._changes_at(now)
        reached = changes[rung + 1]  # up to the least rung nothing is counted
        # The last rung is never reached.
        while reached > most:
            rung += 1
            reached += changes[rung + 1]
        return (rung + 1) * self.step if rung > self.least else 0.0

    def _days(self, now: float) -> float:
        """The days that the counts are of."""
        if len(self._climbs) == MOST_CLIMBS:
            return min(PRICE_DAYS, (now - self._climbs[0][0]) / DAY_SECONDS)
        return max(1.0, min(PRICE_DAYS, (now - (self.begun or 0.0)) / DAY_SECONDS))

    def _changes_at(self, now: float) -> list[int]:
        """The changes without what is over by then, should that be later than what was noted last."""
        if not self._climbs or now - self._climbs[0][0] <= PRICE_DAYS * DAY_SECONDS:
            return self._changes
        changes = self._changes.copy()
        for climb in takewhile(lambda climb: now - climb[0] > PRICE_DAYS * DAY_SECONDS, self._climbs):
            _forget(climb, changes)
        return changes

    def get_state(self) -> dict[str, Any]:
        return {"step": self.step, "least": self.least, "begun": self.begun, "climbs": [list(c) for c in self._climbs]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        ladder = cls(state["step"])
        ladder.least, ladder.begun = state["least"], state["begun"]
        for now, low, high in state["climbs"]:
            ladder._climb(now, low, high)
        return ladder


def _forget(climb: tuple[float, int, int], changes: list[int]) -> None:
    _, low, high = climb
    changes[low + 1] -= 1
    changes[high + 1] += 1
