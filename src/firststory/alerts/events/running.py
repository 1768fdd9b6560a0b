"""What is remembered of each story that came near an alert, so that nothing is alerted twice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from firststory.arrays import Ints
from firststory.units import DAY_SECONDS

KEPT_DAYS = 30.0
"""A story that was alerted and has been silent for longer is forgotten."""
MAX_TURN_TERMS = 200
"""Of one story that are remembered."""


@dataclass(slots=True)
class RunningStory:
    """Scores and alerts of one story."""

    last: float
    """When it was last told."""
    best: float = 0.0
    turn_best: float = 0.0
    fired: float | None = None
    """When it was first alerted."""
    turned: float | None = None
    """When its last turn was alerted."""
    turn_terms: list[int] = field(default_factory=list)
    """The columns of the terms that turned it, the latest."""

    @property
    def last_alert(self) -> float:
        """When it was last alerted, or turned; -inf where it never was."""
        fired, turned = self.fired, self.turned
        if turned is None:
            return -math.inf if fired is None else fired
        return turned if fired is None else max(fired, turned)

    def take_in(self, other: RunningStory) -> None:
        """Another story was merged into this one: what was alerted stays alerted."""
        self.last, self.best = max(self.last, other.last), max(self.best, other.best)
        self.turn_best = max(self.turn_best, other.turn_best)
        self.fired = min((t for t in (self.fired, other.fired) if t is not None), default=None)
        self.turned = max((t for t in (self.turned, other.turned) if t is not None), default=None)
        self.note_turn(sorted({*other.turn_terms} - {*self.turn_terms}))

    def told(self) -> dict[str, Any]:
        """All of it; quicker than `asdict`, which every save would pay for thousands of times."""
        return {name: getattr(self, name) for name in self.__slots__} | {"turn_terms": self.turn_terms.copy()}

    def note_turn(self, terms: Sequence[int]) -> None:
        """These have turned it too."""
        self.turn_terms = [*self.turn_terms, *terms][-MAX_TURN_TERMS:]


class RunningStories(dict[str, RunningStory]):
    """By story id, those told longest ago first."""

    def touch(self, story: str, now: float) -> RunningStory:
        """The record of a story that is told now."""
        found = self.pop(story, None) or RunningStory(now)
        found.last = now
        self[story] = found
        return found

    def merge(self, merged: Mapping[str, str]) -> None:
        """Stories by the one that each went into."""
        for story, into in merged.items():
            if gone := self.pop(story, None):
                if into in self:
                    self[into].take_in(gone)
                else:
                    self[into] = gone

    def forget(self, now: float, most: int) -> None:
        """The silent ones."""
        while self:
            story = next(iter(self))
            if len(self) <= most and now - self[story].last <= KEPT_DAYS * DAY_SECONDS:
                return
            del self[story]

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers; -1 for one that is not in use."""
        for one in self.values():
            one.turn_terms = [int(new[c]) for c in one.turn_terms if c < len(new) and new[c] >= 0]

    def get_state(self) -> list[list[Any]]:
        return [[story, one.told()] for story, one in self.items()]

    @classmethod
    def from_state(cls, state: list[list[Any]]) -> Self:
        return cls((story, RunningStory(**one)) for story, one in state)
