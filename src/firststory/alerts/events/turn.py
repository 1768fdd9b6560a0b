"""Turn: something happens inside a running story, told by terms that several voices use together within hours.

A term counts where at least three voices of the core use it within half of the watch, against a binomial with its share
in the story's past and in the stream. A word that turns one story after another ("rally", "live", "results") names a
format, or happens every day: its probability is multiplied by how many stories it turned within a month.
"""

from __future__ import annotations

import math
from typing import Any, Self

from firststory.arrays import Ints
from firststory.units import DAY_SECONDS

CHOICE_COST = 1.0
"""Of choosing the best of about ten terms."""
FALSE_TURNS = 0.05
"""The part of the expected false alerts that turns may take."""
LEAST_BACKGROUND = 2.0
"""Links to earlier days, one per source and day, from which on a story is a running one."""
SILENT_WATCH_SHARE = 0.5
"""The part of the watch for which a story is silent after an alert."""
FORMAT_DAYS = 30.0
"""How long it is remembered that a term turned a story."""
NOTED_SCORE = 2.0
"""Turning a story this much is remembered of a term, whether an alert came of it or not."""
MAX_FORMAT_TERMS = 5000


class FormatTerms:
    """The stories that each term turned, or nearly turned, lately, those longest ago first.

    Examples
    --------
    >>> terms = FormatTerms()
    >>> for story in ("s1", "s2"):
    ...     terms.note(7, story, 0.0)
    >>> terms.cost(7, "s3", 0.0), terms.cost(7, "s1", 0.0), terms.cost(8, "s1", 0.0)
    (0.47712125471966244, 0.3010299956639812, 0.0)
    """

    def __init__(self) -> None:
        self._stories: dict[int, dict[str, float]] = {}

    def note(self, column: int, story: str, now: float) -> None:
        """A term turns a story."""
        stories = self._stories.pop(column, {})
        stories.pop(story, None)
        stories[story] = now
        self._stories[column] = stories
        if len(self._stories) > MAX_FORMAT_TERMS:
            del self._stories[next(iter(self._stories))]

    def cost(self, column: int, story: str, now: float) -> float:
        """What the other stories that it turned cost."""
        stories = self._stories.get(column)
        if not stories:
            return 0.0
        while stories and now - stories[oldest := next(iter(stories))] > FORMAT_DAYS * DAY_SECONDS:
            del stories[oldest]
        return math.log10(1 + len(stories) - (story in stories))

    def merge(self, story: str, into: str) -> None:
        """A story went into another."""
        for stories in self._stories.values():
            if story in stories:
                stories.setdefault(into, stories[story])
                del stories[story]

    def columns(self) -> list[int]:
        return list(self._stories)

    def renumber(self, new: Ints) -> None:
        self._stories = {int(new[c]): s for c, s in self._stories.items() if c < len(new) and new[c] >= 0}

    def get_state(self) -> list[list[Any]]:
        return [[column, list(map(list, stories.items()))] for column, stories in self._stories.items()]

    @classmethod
    def from_state(cls, state: list[list[Any]]) -> Self:
        terms = cls()
        terms._stories = {column: dict(stories) for column, stories in state}
        return terms
