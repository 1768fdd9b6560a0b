"""The index of links: the documents of the last eight days, what each is linked to, and how its story goes on.

A link is a cosine above the link threshold. Rows are the pipeline's unit rows; of a long text only the heaviest sixty
terms, those of the title raised (`firststory.kernels.alerts.rows`). Memory is bounded by days and by a count.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from firststory.arrays import Flags, Floats, Ints
from firststory.kernels.alerts.evidence import MAX_MEMBERS, members_of
from firststory.kernels.alerts.follow import follow, merge_chains
from firststory.kernels.alerts.kinship import proof_of
from firststory.kernels.alerts.layout import N_TURN_TERMS, Facts, Found, Learnt, Links, Rule, Scratch, StepRows
from firststory.kernels.alerts.links import MAX_CANDIDATES
from firststory.kernels.alerts.rows import link_row
from firststory.kernels.neighbours.window import NEXT, OLDEST, WindowIndex

_FACTS: dict[str, Any] = {
    "born": np.float64,
    "source": np.int64,
    "previous": np.int64,
    "background": np.float64,
    "has_voice": np.bool_,
    "strongest": np.float64,
    "is_echoed": np.bool_,
    "n_named": np.int64,
    "link_start": np.int64,
    "link_count": np.int64,
}


MAX_LOOKED_BACK = 300
"""Documents of a story, the latest, among which its first report is looked for."""


class Proof(NamedTuple):
    """What a document proves of its story, as it stood when it came."""

    core: list[int]
    """The documents of the story that are linked to a good part of the others, latest first."""
    kin: list[tuple[int, int, bool]]
    """Links of the core to documents outside of it: a place in the core, an ordinal, whether it is from before the
    watch."""
    members: Ints
    """The documents of the story from which on it is told, latest first."""
    means: list[float]
    """Each member's mean similarity to the core."""


class LinkIndex(WindowIndex):
    """Documents by ordinal, the first of the stream is 0; each lies in `slot = ordinal % capacity`."""

    per_slot: ClassVar[dict[str, Any]] = _FACTS

    born: Floats
    source: Ints
    previous: Ints
    is_echoed: Flags
    n_named: Ints
    link_start: Ints
    link_count: Ints

    def __init__(self, capacity: int = 64) -> None:
        super().__init__(capacity)
        self.links = Links(np.zeros(4096, np.int64), np.zeros(4096, np.float32), np.zeros(1, np.int64))
        self.rate_begun = np.zeros(1, np.int64)
        """The first document of the last two days, from which documents per day are counted."""
        self._facts: Facts | None = None
        nothing = np.zeros(0, np.int32)
        self._work = Scratch(np.zeros(0), np.zeros(0, np.int64), nothing, nothing, nothing)

    @property
    def oldest(self) -> int:
        """The first ordinal that is remembered."""
        return int(self.meta[OLDEST])

    @property
    def next(self) -> int:
        """The ordinal of the next document."""
        return int(self.meta[NEXT])

    @property
    def facts(self) -> Facts:
        """What is known of each document, as kernels take it."""
        if self._facts is None or self._facts.born is not self.born:
            self._facts = Facts(*(getattr(self, name) for name in _FACTS))
        return self._facts

    def follow(self, rows: StepRows, first: int, rule: Rule, learnt: Learnt, found: Found) -> int:
        """Documents `first ..` of a step; returns the first that was not done.

        It ends where a document would be forgotten that an alert of those done may tell of.
        """
        if len(rows.columns):
            self.widen(int(rows.columns.max()) + 1)
        while True:
            done = follow(
                rows, first, rule, self.meta, self.rate_begun, self.lists, self.log, self.facts, self.links, learnt,
                self._scratch(), found,
            )  # fmt: skip
            if done > first or done == len(rows.clock):
                return done
            self._make_room_for(rows, done, rule)

    def _scratch(self) -> Scratch:
        """Room to work in, as large as the ring and the vocabulary are now."""
        capacity, width = len(self.born), len(self.start)
        if len(self._work.dots) != capacity or len(self._work.place) < width:
            self._work = Scratch(
                dots=np.zeros(capacity),
                touched=np.empty(capacity + 1, np.int64),
                mark=np.zeros(capacity, np.int32),
                past=np.zeros(capacity, np.int32),
                place=np.zeros(2 * width, np.int32),
            )
        return self._work

    def _make_room_for(self, rows: StepRows, i: int, rule: Rule) -> None:
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        self.make_room(link_row(rows.columns[own], rows.weights[own], rows.in_title[own])[0], rule.max_documents)
        tail = int(self.links.tail[0])
        if tail + MAX_CANDIDATES > len(self.links.ordinals):
            head = int(self.link_start[self.oldest % len(self.born)]) if len(self) else tail
            size = max(4096, 2 * (tail - head + MAX_CANDIDATES))
            self._move_links(head, tail, size)

    def _move_links(self, head: int, tail: int, size: int) -> None:
        """The living links to the front of arrays of this size."""
        ordinals, similarities = np.zeros(size, np.int64), np.zeros(size, np.float32)
        ordinals[: tail - head] = self.links.ordinals[head:tail]
        similarities[: tail - head] = self.links.similarities[head:tail]
        self.link_start -= head  # in place: the kernels' view of it stays valid
        self.links = Links(ordinals, similarities, np.array([tail - head]))

    # -- what is linked ------------------------------------------------------------------------------------

    def story_members(self, ordinal: int, since: float, most: int = MAX_MEMBERS) -> Ints:
        """The documents of a story up to this one that came since some moment, latest first."""
        return members_of(ordinal, since, most, self.meta, self.facts)

    def proof(
        self, ordinal: int, watch_seconds: float, told_seconds: float, kin_seconds: float, kin_strength: float
    ) -> Proof:
        """What a document proves of its story; its first report is looked for within `told_seconds`.

        Of the core's links to other documents of the last `kin_seconds` those within the watch count that are
        `kin_strength` times as strong as the mean link within the core, and all to earlier ones.
        """
        core, *kin, members, means = proof_of(
            ordinal, watch_seconds, told_seconds, MAX_LOOKED_BACK, kin_seconds, kin_strength, self.meta, self.facts,
            self.links, self.log, self._scratch().mark,
        )  # fmt: skip
        own = zip(*(part.tolist() for part in kin), strict=True)
        return Proof(core.tolist(), list(own), members, means.tolist())

    def sources(self, first: int, end: int) -> Ints:
        """The sources of the documents from `first` to before `end`, all of which are remembered."""
        return self.source[np.arange(first, end) % len(self.born)]

    def links_of(self, ordinal: int) -> tuple[Ints, Any]:
        """The remembered earlier documents that a document is linked to, and how similar they are."""
        slot = ordinal % len(self.born)
        own = slice(self.link_start[slot], self.link_start[slot] + self.link_count[slot])
        alive = self.links.ordinals[own] >= self.oldest
        return self.links.ordinals[own][alive], self.links.similarities[own][alive]

    def row(self, ordinal: int) -> tuple[Any, Floats]:
        """The terms of a document and their weights."""
        slot = ordinal % len(self.born)
        own = slice(self.log_start[slot], self.log_start[slot] + self.log_length[slot])
        return self.log_terms[own], self.log_weights[own]

    def named(self, ordinal: int) -> list[int]:
        """The terms of a document that name it."""
        slot = ordinal % len(self.born)
        start = self.log_start[slot]
        terms: list[int] = self.log_terms[start : start + self.n_named[slot]].tolist()
        return terms

    def merge(self, last: int, other_last: int) -> int:
        """Two stories, by the ordinals of their latest documents, as one; returns its latest document."""
        return int(merge_chains(last, other_last, self.oldest, self.previous))

    def columns_in_use(self) -> Ints:
        """The columns that a remembered document has."""
        return np.flatnonzero(self.length > 0).astype(np.int64)

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """The living documents with their links."""
        state = super().get_state()
        head = int(state["link_start"][0]) if len(self) else 0
        tail = int(self.links.tail[0]) if len(self) else 0
        return state | {
            "link_start": state["link_start"] - head,
            "link_ordinals": self.links.ordinals[head:tail].copy(),
            "link_similarities": self.links.similarities[head:tail].copy(),
            "rate_begun": int(self.rate_begun[0]),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        index = super().from_state(state)
        n = len(state["link_ordinals"])
        index.links = Links(
            state["link_ordinals"].astype(np.int64), state["link_similarities"].astype(np.float32), np.array([n])
        )
        index.rate_begun[0] = state["rate_begun"]
        return index


def nothing_found(n: int) -> Found:
    """Room for what n documents bring."""
    return Found(
        score=np.zeros(n),
        voices=np.zeros(n, np.int64),
        nearest=np.zeros(n),
        is_opener=np.zeros(n, np.bool_),
        per_day=np.zeros(n),
        opened_per_day=np.zeros(n),
        background=np.zeros(n),
        turn_score=np.zeros((n, N_TURN_TERMS)),
        turn_terms=np.full((n, N_TURN_TERMS), -1, np.int64),
        turn_voices=np.zeros((n, N_TURN_TERMS), np.int64),
    )
