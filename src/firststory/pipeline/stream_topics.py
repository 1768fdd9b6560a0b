"""The stream's topics beside its stories: a topic model that learns whenever enough documents have gathered."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Ints
from firststory.pipeline.protocols import TopicModel
from firststory.records import Topic, TopicEvent
from firststory.state import State
from firststory.topics.online_nmf import OnlineNMF

if TYPE_CHECKING:
    from firststory.text.records import Token
    from firststory.text.surfaces import SurfaceForms

N_LABEL = 3
"""Terms that name a topic."""

MAX_SURFACES = 100_000
"""Terms whose surface form is remembered."""

NUMPY_TERMS = 500
"""Terms of a batch from which on numpy is quicker than a set."""


class StreamTopics:
    """A topic model over the stream's unit rows.

    Parameters
    ----------
    model : TopicModel
    timestep : int, default=200
        Documents that make a timestep of the model: fewer say too little about topics.
    """

    def __init__(self, model: TopicModel, timestep: int = 200) -> None:
        self.model = model
        self.timestep = timestep
        self._pending: list[sp.csr_matrix] = []
        self._has_news = False
        self._surfaces: dict[int, str] = {}
        self._born: dict[str, tuple[int, float | None]] = {}
        """For each topic the step in which it appeared, and when that was."""
        self._missing: set[int] = set()
        """Columns that were shown as stems, for want of a surface form."""

    def learn_surfaces(self, tokens: Sequence[Token]) -> None:
        """Learn how terms read in a text, so that people see words and not stems."""
        for token in tokens:
            known = self._surfaces.get(token.column)
            is_new = known is None and token.column >= 0 and len(self._surfaces) < MAX_SURFACES
            # Of the forms of a stem the shortest reads best: strike, not strikingly.
            if is_new or (known is not None and len(token.surface) < len(known)):
                self._surfaces[token.column] = token.surface

    def learn_missing_surfaces(
        self, rows: sp.csr_matrix, surface_forms: Callable[[], SurfaceForms], places: list[int]
    ) -> None:
        """Learn how terms read that were shown as stems, where one of these documents has them.

        `surface_forms` tells how the terms of the batch's texts read, `places` which of the texts each row is.
        """
        if not self._missing:
            return
        if rows.indices.size > NUMPY_TERMS and not np.isin(rows.indices, list(self._missing)).any():
            return  # the quick way for many documents at once
        columns = rows.indices.tolist()
        if self._missing.isdisjoint(columns):
            return
        texts = surface_forms()
        for n, column in enumerate(columns):
            if column in self._missing:
                self._missing.discard(column)
                row = bisect_right(rows.indptr, n) - 1
                surface = texts[places[row]].get(column)
                if surface is not None and len(self._surfaces) < MAX_SURFACES:
                    self._surfaces[column] = surface

    def learn(self, rows: sp.csr_matrix) -> None:
        """Gather rows; learn them when there are enough."""
        self._pending.append(rows)
        if sum(block.shape[0] for block in self._pending) < self.timestep:
            return
        self.model.partial_fit(_stack(self._pending))
        self._pending = []
        self._has_news = True

    def report(
        self,
        terms: Sequence[str],
        step: int,
        seconds: float | None = None,
        n_terms: int = 10,
        surface_of: Callable[[int], str | None] = lambda column: None,
    ) -> tuple[tuple[Topic, ...], tuple[TopicEvent, ...]]:
        """The topics and what happened to them, if they were learnt since the last call; nothing otherwise.

        `step` is the step of the stream and `seconds` its time: births and events are dated by them, not by timesteps
        of the model.
        `surface_of` says how a column reads that no alert had, and its answer is remembered. Where it had none, the
        next document with the column will tell: it is not asked again.
        """
        if not self._has_news:
            return (), ()
        self._has_news = False
        names = _TermNames(terms, self._surfaces, surface_of, asked=self._missing)
        found = self.model.snapshot(names, n_terms)
        self._missing = names.missing
        self._born = {topic.id: self._born.get(topic.id, (step, seconds)) for topic in found}
        topics = tuple([self._dated(topic) for topic in found])
        now = None if seconds is None else datetime.fromtimestamp(seconds, tz=UTC)
        return topics, tuple([replace(event, step=step, time=now) for event in self.model.last_events()])

    def _dated(self, topic: Topic) -> Topic:
        born, seconds = self._born[topic.id]
        since = None if seconds is None else datetime.fromtimestamp(seconds, tz=UTC)
        return replace(topic, born=born, since=since, label=tuple(term for term, _ in topic.terms[:N_LABEL]))

    def columns_in_use(self) -> Ints:
        """The columns of the rows that wait to be learnt."""
        return np.unique(np.concatenate([block.indices for block in self._pending] or [np.empty(0)])).astype(np.int64)

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; what is -1 is forgotten."""
        if hasattr(self.model, "components_"):
            self.model.renumber(new)
        shape = int((new >= 0).sum())
        self._pending = [
            sp.csr_matrix((block.data, new[block.indices], block.indptr), shape=(block.shape[0], shape))
            for block in self._pending
        ]
        self._surfaces = {int(new[c]): surface for c, surface in self._surfaces.items() if new[c] >= 0}
        self._missing = {int(new[c]) for c in self._missing if new[c] >= 0}

    def get_state(self) -> State:
        """All of it; the model is an OnlineNMF."""
        return {
            "model": self.model.get_state(),
            "timestep": self.timestep,
            "has_news": self._has_news,
            "columns": np.fromiter(self._surfaces, dtype=np.int64, count=len(self._surfaces)),
            "surfaces": list(self._surfaces.values()),
            "missing": sorted(self._missing),
            "born": [[topic, *born] for topic, born in self._born.items()],
            "pending": _stack(self._pending) if self._pending else None,
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        topics = cls(OnlineNMF.from_state(state["model"]), state["timestep"])
        topics._has_news = state["has_news"]
        topics._surfaces = dict(zip(state["columns"].tolist(), state["surfaces"], strict=True))
        topics._missing = set(state["missing"])
        topics._born = {topic: (step, seconds) for topic, step, seconds in state["born"]}
        topics._pending = [] if state["pending"] is None else [state["pending"]]
        return topics


class _TermNames(Sequence[str]):
    """The terms by column, each as it reads in the texts where that is known; looked up on demand."""

    def __init__(
        self,
        terms: Sequence[str],
        surfaces: dict[int, str],
        surface_of: Callable[[int], str | None],
        asked: Collection[int],
    ) -> None:
        self._terms, self._surfaces, self._surface_of, self._asked = terms, surfaces, surface_of, asked
        self.missing: set[int] = set()

    def __len__(self) -> int:
        return len(self._terms)

    def __getitem__(self, column: Any) -> Any:
        place = int(column)
        known = self._surfaces.get(place)
        if known is None and place not in self._asked:
            known = self._surface_of(place)
            if known and len(self._surfaces) < MAX_SURFACES:
                self._surfaces[place] = known
        if not known:
            self.missing.add(place)
        return known or self._terms[place]


def _stack(blocks: list[sp.csr_matrix]) -> sp.csr_matrix:
    """One block of them all, as wide as the widest."""
    width = max(block.shape[1] for block in blocks)
    wide = []
    for block in blocks:
        copy = block.copy()
        copy.resize(block.shape[0], width)
        wide.append(copy)
    return sp.vstack(wide, format="csr")
