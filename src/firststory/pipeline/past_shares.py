"""Earlier shares of storylines: the trend of the last looks, and what was a month ago."""

from __future__ import annotations

from typing import NamedTuple, Self

from firststory.state import State
from firststory.units import DAY_SECONDS

TREND = 30
"""Looks whose shares are told with a topic."""
MONTH_SECONDS = 30 * DAY_SECONDS


class Shares(NamedTuple):
    """The storylines of the latest documents, as they were counted at some time."""

    seconds: float | None
    """Since 1970; None in a stream without times."""
    n_documents: int
    counts: dict[str, int]

    def of(self, storyline: str) -> float:
        """The part of the documents that belonged to it."""
        return self.counts.get(storyline, 0) / self.n_documents

    def order(self, storyline: str) -> tuple[int, str]:
        """To sort by: the largest first."""
        return -self.counts.get(storyline, 0), storyline


class PastShares:
    """The last `TREND` looks; of the month before these one a day, and one that is older; or the first of all.

    Examples
    --------
    >>> past = PastShares()
    >>> for day in range(50):
    ...     past.add(Shares(day * 86_400.0, 100, {"l1": day}))
    >>> past.trend("l1")[-2:], past.a_month_ago().of("l1")
    ((0.48, 0.49), 0.19)
    """

    def __init__(self) -> None:
        self._looks: list[Shares] = []

    def __len__(self) -> int:
        return len(self._looks)

    def add(self, now: Shares) -> None:
        """Remember what was counted last."""
        self._looks.append(now)
        last = len(self._looks) - TREND
        if last <= 1:
            return
        kept = [self._looks[0]]
        for look in self._looks[1:last]:
            if _seconds(look) - _seconds(kept[-1]) >= DAY_SECONDS:
                kept.append(look)
        while len(kept) > 1 and _seconds(kept[1]) <= _seconds(now) - MONTH_SECONDS:
            del kept[0]
        self._looks = kept + self._looks[last:]

    def merge(self, gone: str, into: str) -> None:
        """What was counted for one storyline counts for another."""
        for look in self._looks:
            if gone in look.counts:
                look.counts[into] = look.counts.get(into, 0) + look.counts.pop(gone)

    def trend(self, storyline: str) -> tuple[float, ...]:
        """The shares of the last looks, oldest first."""
        return tuple([look.of(storyline) for look in self._looks[-TREND:]])

    def a_month_ago(self) -> Shares | None:
        """The latest look that is a month old, or the first of a stream that is younger; None at the first look."""
        now = _seconds(self._looks[-1])
        old = (look for look in reversed(self._looks) if _seconds(look) <= now - MONTH_SECONDS)
        first = self._looks[0] if len(self._looks) > 1 else None
        return next(old, first)

    def get_state(self) -> State:
        """Every look."""
        return {"looks": [[look.seconds, look.n_documents, list(look.counts.items())] for look in self._looks]}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        past = cls()
        past._looks = [Shares(seconds, n, dict(counts)) for seconds, n, counts in state["looks"]]
        return past


def _seconds(look: Shares) -> float:
    """Without times all is now: the first look stays."""
    return 0.0 if look.seconds is None else look.seconds
