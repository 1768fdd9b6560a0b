"""Turn: something happens inside a running story, told by terms that several voices use together within hours.

A term counts where at least three voices of the core use it within half of the watch, against a binomial with its share
in the story's past and in the stream. A word that turns one story after another ("rally", "live", "results") names a
format, or happens every day: its probability is multiplied by how many stories it turned within a month.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from firststory.alerts.events.ladder import Ceiling, Ladder
from firststory.alerts.events.running import RunningStory
from firststory.arrays import Ints
from firststory.kernels.alerts.layout import Found
from firststory.units import DAY_SECONDS

CHOICE_COST = 1.0
"""Of choosing the best of about ten terms."""
FALSE_TURNS = 0.05
"""The part of the expected false alerts that turns may take."""
FORMAT_DAYS = 30.0
"""How long it is remembered that a term turned a story."""
NOTED_SCORE = 2.0
"""Turning a story this much is remembered of a term, whether an alert came of it or not."""
MAX_FORMAT_TERMS = 5000
MAX_FORMAT_STORIES = 200
"""Of one term: with so many it costs 2.3."""
TURN_SHARE, LEAST_TURNS = 0.25, 2.0
"""The part of the ceiling that turns may take, and turns per day that it may always take."""


class TurnTerm(NamedTuple):
    """A term that turns a story; the larger the score, the surer."""

    score: float
    column: int
    voices: int


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
        self._terms: dict[str, list[int]] = {}
        """The other way round: the terms that turned each story."""

    def note(self, column: int, story: str, now: float) -> None:
        """A term turns a story."""
        stories = self._stories.pop(column, {})
        if stories.pop(story, None) is None:
            self._terms.setdefault(story, []).append(column)
        stories[story] = now
        if len(stories) > MAX_FORMAT_STORIES:
            self._forget_first(column, stories)
        self._stories[column] = stories
        if len(self._stories) > MAX_FORMAT_TERMS:
            first, stories = next(iter(self._stories.items()))
            while stories:
                self._forget_first(first, stories)
            del self._stories[first]

    def cost(self, column: int, story: str, now: float) -> float:
        """What the other stories that it turned cost."""
        stories = self._stories.get(column)
        if not stories:
            return 0.0
        while stories and now - next(iter(stories.values())) > FORMAT_DAYS * DAY_SECONDS:
            self._forget_first(column, stories)
        return math.log10(1 + len(stories) - (story in stories))

    def _forget_first(self, column: int, stories: dict[str, float]) -> None:
        """The story that a term turned longest ago."""
        story = next(iter(stories))
        del stories[story]
        self._terms[story].remove(column)
        if not self._terms[story]:
            del self._terms[story]

    def merge(self, merged: Mapping[str, str]) -> None:
        """Stories by the one that each went into."""
        for story, into in merged.items():
            for column in self._terms.pop(story, ()):
                stories = self._stories[column]
                then = stories.pop(story)
                if into not in stories:
                    stories[into] = then
                    self._terms.setdefault(into, []).append(column)

    def columns(self) -> list[int]:
        return list(self._stories)

    def renumber(self, new: Ints) -> None:
        self._stories = {int(new[c]): s for c, s in self._stories.items() if c < len(new) and new[c] >= 0}
        self._list_terms()

    def _list_terms(self) -> None:
        self._terms = {}
        for column, stories in self._stories.items():
            for story in stories:
                self._terms.setdefault(story, []).append(column)

    def get_state(self) -> list[list[Any]]:
        return [[column, list(map(list, stories.items()))] for column, stories in self._stories.items()]

    @classmethod
    def from_state(cls, state: list[list[Any]]) -> Self:
        terms = cls()
        terms._stories = {column: dict(stories) for column, stories in state}
        terms._list_terms()
        return terms


class Turns:
    """The terms that turn stories, with a ladder and a ceiling of their own."""

    def __init__(self) -> None:
        self.formats = FormatTerms()
        self.ladder = Ladder()
        self.ceiling = Ceiling()

    @staticmethod
    def per_day(ceiling: float | None) -> float | None:
        """Turns per day, of a ceiling on all alerts.

        Examples
        --------
        >>> Turns.per_day(20.0), Turns.per_day(4.0), Turns.per_day(1.0)
        (5.0, 2.0, 1.0)
        """
        return None if ceiling is None else max(min(LEAST_TURNS, ceiling), TURN_SHARE * ceiling)

    def price(self, now: float, ceiling: float | None) -> float:
        """The score that the ladder asks for, choice of the term included; infinite where the ceiling is spent."""
        per_day = self.per_day(ceiling)
        return self.ladder.price(now, per_day) + CHOICE_COST if self.ceiling.has_room(now, per_day) else math.inf

    def consider(
        self, i: int, found: Found, name: str, story: RunningStory, now: float, least: float, ceiling: float | None
    ) -> list[TurnTerm]:
        """The terms of a document that turn its story, strongest first; `least` is the score that the test asks for."""
        terms = zip(
            found.turn_score[i].tolist(), found.turn_terms[i].tolist(), found.turn_voices[i].tolist(), strict=True
        )
        cost = self.formats.cost
        scored = [
            (score - CHOICE_COST - cost(column, name, now), column, voices)
            for score, column, voices in terms
            if column >= 0
        ]
        scored.sort(reverse=True)
        for score, column, _ in scored:
            if score >= NOTED_SCORE:
                self.formats.note(column, name, now)
        best = scored[0][0]
        if best <= 0.0:
            return []
        self.ladder.note(now, story.turn_best, best)
        story.turn_best = max(story.turn_best, best)
        if best < least:
            return []
        level = max(least, self.price(now, ceiling) - CHOICE_COST)
        return [TurnTerm(*term) for term in scored if term[0] >= level and term[1] not in story.turn_terms]

    def get_state(self) -> dict[str, Any]:
        return {
            "formats": self.formats.get_state(),
            "ladder": self.ladder.get_state(),
            "fired": list(self.ceiling.fired),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        turns = cls()
        turns.formats = FormatTerms.from_state(state["formats"])
        turns.ladder = Ladder.from_state(state["ladder"])
        turns.ceiling.fired.extend(state["fired"])
        return turns
