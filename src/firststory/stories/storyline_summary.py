"""What people see of a storyline: the title of its largest story, key terms, first and last report, sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple, Self

import numpy as np

from firststory.ragged import counts, joined, parted, parts
from firststory.records import Story, Storyline, StoryStatus
from firststory.state import State

MIN_STORIES, MIN_DOCUMENTS = 2, 3
"""A storyline is shown from so many stories on, or from so many documents on: a lone document is none."""
MAX_SOURCES = 50
N_CARDS = 8
"""The largest stories of a storyline, which say what it is called and what its terms are."""
N_KEY_TERMS = 8


def storyline_id(key: int) -> str:
    """The id that people see."""
    return f"l{key}"


class Card(NamedTuple):
    """What a storyline keeps of one of its largest stories."""

    size: int
    title: str
    key_terms: tuple[str, ...]


class StorylineSummary:
    """The figures and the names of one storyline.

    Examples
    --------
    >>> summary = StorylineSummary(7)
    >>> summary.enter(n_documents=2)
    >>> summary.enter(n_documents=4)
    >>> summary.describe(1, Story("s1", "Flood", None, None, 2, "a", key_terms=("flood", "rain")))
    >>> summary.describe(2, Story("s2", "Dam breaks", None, None, 4, "b", key_terms=("dam", "flood")))
    >>> record = summary.record()
    >>> record.id, record.title, record.size, record.n_stories, record.key_terms
    ('l7', 'Dam breaks', 6, 2, ('flood', 'dam', 'rain'))
    """

    __slots__ = (
        "cards", "first_seen", "id", "key", "last_seen", "merged_into", "n_stories", "reason", "shown", "size",
        "sources", "status", "title",
    )  # fmt: skip

    def __init__(self, key: int) -> None:
        self.key = key
        self.id = storyline_id(key)
        self.n_stories = 0
        self.size = 0
        self.shown = False
        """Whether it has ever been large enough to be a storyline: an id that was told stays."""
        self.title = ""
        self.first_seen: datetime | None = None
        self.last_seen: datetime | None = None
        self.sources: dict[str, None] = {}
        self.cards: dict[int, Card] = {}
        self.status: StoryStatus = "open"
        self.merged_into: str | None = None
        self.reason = ""

    def enter(self, n_documents: int, n_stories: int = 1) -> None:
        """A story comes with its documents; the numbers are negative where it leaves."""
        self.size += n_documents
        self.n_stories += n_stories
        self.shown |= self.n_stories >= MIN_STORIES or self.size >= MIN_DOCUMENTS

    def describe(self, key: int, story: Story) -> None:
        """One of its stories was opened or has changed."""
        self._include(story.first_seen, story.last_seen, story.sources)
        self.cards[key] = Card(story.size, story.title, story.key_terms)
        if len(self.cards) > N_CARDS:
            self._keep_largest()

    def forget(self, key: int) -> None:
        """One of its stories has left, or is part of another now."""
        self.cards.pop(key, None)

    def absorb(self, other: Self) -> None:
        """Another storyline has come with all its stories."""
        self.enter(other.size, other.n_stories)
        self._include(other.first_seen, other.last_seen, other.sources)
        self.cards |= other.cards
        self._keep_largest()

    def end(self, status: StoryStatus, reason: str = "", merged_into: str | None = None) -> None:
        """It leaves the memory."""
        self.status, self.reason, self.merged_into = status, reason, merged_into

    def _include(self, first_seen: datetime | None, last_seen: datetime | None, sources: Iterable[str]) -> None:
        if first_seen is not None and (self.first_seen is None or first_seen < self.first_seen):
            self.first_seen = first_seen
        if last_seen is not None and (self.last_seen is None or last_seen > self.last_seen):
            self.last_seen = last_seen
        known = self.sources
        for source in sources:
            if source not in known and len(known) < MAX_SOURCES:
                known[source] = None

    def _keep_largest(self) -> None:
        while len(self.cards) > N_CARDS:
            del self.cards[max(self.cards.items(), key=_largest_first)[0]]

    def record(self) -> Storyline:
        """As it is now."""
        largest = list(self.cards.values())
        if len(largest) > 1:
            largest = [card for _, card in sorted(self.cards.items(), key=_largest_first)]
        if largest:
            self.title = largest[0].title
        return Storyline(  # in order: names take long
            self.id,
            self.title,
            self.first_seen,
            self.last_seen,
            self.size,
            self.n_stories,
            tuple(self.sources),
            tuple(_heaviest_terms(largest)[:N_KEY_TERMS]),
            self.status,
            self.merged_into,
            self.reason,
        )


def saved_summaries(summaries: Sequence[StorylineSummary]) -> State:
    """As columns. Only open storylines are saved."""
    cards = [list(one.cards.items()) for one in summaries]
    every = list(chain.from_iterable(cards))
    return {
        "keys": [one.key for one in summaries],
        "n_stories": [one.n_stories for one in summaries],
        "sizes": [one.size for one in summaries],
        "shown": np.array([one.shown for one in summaries], dtype=np.bool_),
        "titles": [one.title for one in summaries],
        "first_seen": [_text(one.first_seen) for one in summaries],
        "last_seen": [_text(one.last_seen) for one in summaries],
        "sources": joined([one.sources for one in summaries]),
        "cards": {
            "counts": counts(cards),
            "keys": [key for key, _ in every],
            "sizes": [card.size for _, card in every],
            "titles": [card.title for _, card in every],
            "key_terms": joined([card.key_terms for _, card in every]),
        },
    }


def restored_summaries(state: State) -> Iterator[StorylineSummary]:
    """Undo `saved_summaries`."""
    saved = state["cards"]
    cards = map(Card, saved["sizes"], saved["titles"], map(tuple, parted(saved["key_terms"])))
    columns = (
        state["keys"],
        state["n_stories"],
        state["sizes"],
        state["shown"].tolist(),
        state["titles"],
        map(_moment, state["first_seen"]),
        map(_moment, state["last_seen"]),
        parted(state["sources"]),
        parts(saved["counts"], zip(saved["keys"], cards, strict=True)),
    )
    for key, n_stories, size, shown, title, first_seen, last_seen, sources, own in zip(*columns, strict=True):
        summary = StorylineSummary(key)
        summary.n_stories, summary.size, summary.shown, summary.title = n_stories, size, shown, title
        summary.first_seen, summary.last_seen = first_seen, last_seen
        summary.sources, summary.cards = dict.fromkeys(sources), dict(own)
        yield summary


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _largest_first(item: tuple[int, Card]) -> tuple[int, int]:
    """The order of cards by their keys; of equal ones the older story comes first."""
    key, card = item
    return -card.size, key


def _heaviest_terms(cards: Sequence[Card]) -> list[str]:
    """The terms of cards, those first that the largest stories share."""
    if len(cards) == 1 and len(set(cards[0].key_terms)) == len(cards[0].key_terms):  # most storylines
        return list(cards[0].key_terms)
    weight: dict[str, int] = {}
    so_far = weight.get
    for size, _, terms in cards:
        for term in terms:
            weight[term] = so_far(term, 0) + size
    return sorted(weight, key=weight.__getitem__, reverse=True)
