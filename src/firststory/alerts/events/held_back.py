"""What would have been an alert in the last day, and why it was not."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

from firststory.units import DAY_SECONDS

WARMING_UP = "warm-up"
BELOW_PRICE = "below the price"
CEILING_SPENT = "the ceiling is spent"
ALREADY_ALERTED = "part of an event already alerted"
MOST_STORIES = 20_000
"""Stories that are remembered at most, the latest."""
REASONS = (WARMING_UP, BELOW_PRICE, CEILING_SPENT, ALREADY_ALERTED)


class HeldBack:
    """The stories whose alert was held back in the last day, each with the latest reason.

    Examples
    --------
    >>> held = HeldBack()
    >>> held.add("s1", 0.0, BELOW_PRICE)
    >>> held.add("s2", 10.0, CEILING_SPENT)
    >>> held.forget(DAY_SECONDS + 1.0)
    >>> held.counts()
    {'the ceiling is spent': 1}
    """

    def __init__(self) -> None:
        self._stories: dict[str, tuple[float, str]] = {}
        """When and why, those held back longest ago first."""

    def add(self, story: str, now: float, reason: str) -> None:
        self._stories.pop(story, None)
        self._stories[story] = now, reason
        if len(self._stories) > MOST_STORIES:
            del self._stories[next(iter(self._stories))]

    def remove(self, story: str) -> None:
        """It was alerted after all, or has become part of another."""
        self._stories.pop(story, None)

    def forget(self, now: float) -> None:
        """Those of more than a day ago."""
        while self._stories and now - self._stories[story := next(iter(self._stories))][0] > DAY_SECONDS:
            del self._stories[story]

    def counts(self) -> dict[str, int]:
        """How many stories were held back for each reason."""
        found = Counter(reason for _, reason in self._stories.values())
        return {reason: found[reason] for reason in REASONS if found[reason]}

    def get_state(self) -> list[list[Any]]:
        return [[story, *why] for story, why in self._stories.items()]

    @classmethod
    def from_state(cls, state: list[list[Any]]) -> Self:
        held = cls()
        held._stories = {story: (at, reason) for story, at, reason in state}
        return held
