"""The stream's themes beside its stories: a topic model that learns whenever enough documents have gathered."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.records import Topic, TopicEvent
from firststory.topics.online_nmf import OnlineNMF

GATHER = 200
"""Documents that make a timestep of the topic model: fewer say too little about themes."""

MOST_SURFACES = 100_000
"""Terms whose reading is remembered."""


MANY = 500
"""Terms of a batch from which on numpy is quicker than a set."""


class Themes:
    """Online NMF over the stream's unit rows.

    Parameters
    ----------
    model : OnlineNMF
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._pending: list[sp.csr_matrix] = []
        self._has_news = False
        self._surfaces: dict[int, str] = {}
        self._born: dict[str, int] = {}
        self._unread: set[int] = set()
        """Columns that were shown as stems, since nobody knew how they read."""

    def listen(self, tokens: Sequence[Any]) -> None:
        """Learn how terms read in the text, so that people see words and not stems."""
        for token in tokens:
            known = self._surfaces.get(token.column)
            is_new = known is None and token.column >= 0 and len(self._surfaces) < MOST_SURFACES
            # Of the forms of a stem the shortest reads best: strike, not strikingly.
            if is_new or (known is not None and len(token.surface) < len(known)):
                self._surfaces[token.column] = token.surface

    def look(self, rows: sp.csr_matrix, readings: Callable[[], Sequence[Mapping[int, str]]], places: list[int]) -> None:
        """Read what was shown as a stem, where one of these documents has it.

        `readings` tells how the terms of the batch's texts read, `places` which of the texts each row is.
        """
        if not self._unread:
            return
        if rows.indices.size > MANY and not np.isin(rows.indices, list(self._unread)).any():
            return  # the quick way for many documents at once
        columns = rows.indices.tolist()
        if self._unread.isdisjoint(columns):
            return
        texts = readings()
        for n, column in enumerate(columns):
            if column in self._unread:
                self._unread.discard(column)
                row = bisect_right(rows.indptr, n) - 1
                surface = texts[places[row]].get(column)
                if surface is not None and len(self._surfaces) < MOST_SURFACES:
                    self._surfaces[column] = surface

    def learn(self, rows: sp.csr_matrix) -> None:
        """Gather rows; learn them when there are enough."""
        self._pending.append(rows)
        if sum(block.shape[0] for block in self._pending) < GATHER:
            return
        self.model.partial_fit(_stack(self._pending))
        self._pending = []
        self._has_news = True

    def report(
        self, vectorizer: Any, step: int, n_terms: int = 10, read: Callable[[int], str | None] = lambda column: None
    ) -> tuple[tuple[Topic, ...], tuple[TopicEvent, ...]]:
        """The themes and what happened to them, where they were learnt anew since the last call; nothing otherwise.

        `step` is the step of the stream: births and events are told in it, not in steps of the topic model. `read` is
        asked how a column reads that no novel document had, and its answer is remembered.
        """
        if not self._has_news:
            return (), ()
        self._has_news = False
        terms = _Readings(vectorizer.vocabulary_.terms, self._surfaces, read)
        found = self.model.snapshot(terms, n_terms)
        self._unread = terms.unread
        self._born = {topic.id: self._born.get(topic.id, step) for topic in found}
        lineage = self.model.lineage_
        topics = tuple(replace(topic, born=self._born[topic.id]) for topic in found)
        return topics, tuple(replace(event, step=step) for event in lineage.events_at(lineage.step))

    def columns_in_use(self) -> NDArray[np.int64]:
        """The columns of the rows that wait to be learnt."""
        return np.unique(np.concatenate([block.indices for block in self._pending] or [np.empty(0)])).astype(np.int64)

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; what is -1 is forgotten."""
        if hasattr(self.model, "components_"):
            self.model.renumber(new)
        shape = int((new >= 0).sum())
        self._pending = [
            sp.csr_matrix((block.data, new[block.indices], block.indptr), shape=(block.shape[0], shape))
            for block in self._pending
        ]
        self._surfaces = {int(new[c]): surface for c, surface in self._surfaces.items() if new[c] >= 0}
        self._unread = {int(new[c]) for c in self._unread if new[c] >= 0}

    def get_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {f"model/{key}": value for key, value in self.model.get_state().items()}
        state["columns"] = np.fromiter(self._surfaces, dtype=np.int64, count=len(self._surfaces))
        state["surfaces"] = list(self._surfaces.values())
        state["unread"] = sorted(self._unread)
        state["born"] = [[name, step] for name, step in self._born.items()]
        if self._pending:
            rows = _stack(self._pending)
            state |= {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "width": int(rows.shape[1])}
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        held = {key.partition("/")[2]: value for key, value in state.items() if key.startswith("model/")}
        themes = cls(OnlineNMF().set_state(held))
        themes._surfaces = dict(zip(state["columns"].tolist(), state["surfaces"], strict=True))
        themes._born = {str(name): int(step) for name, step in state["born"]}
        themes._unread = set(state.get("unread", ()))
        if "data" in state:
            shape = (len(state["indptr"]) - 1, int(state["width"]))
            themes._pending = [sp.csr_matrix((state["data"], state["indices"], state["indptr"]), shape=shape)]
        return themes


class _Readings(Sequence[str]):
    """The terms by column, each as it reads in the texts where that is known; looked up when asked for."""

    def __init__(
        self, terms: Sequence[str], surfaces: dict[int, str], read: Callable[[int], str | None] = lambda column: None
    ) -> None:
        self._terms, self._surfaces, self._read = terms, surfaces, read
        self.unread: set[int] = set()

    def __len__(self) -> int:
        return len(self._terms)

    def __getitem__(self, column: Any) -> Any:
        place = int(column)
        known = self._surfaces.get(place)
        if known is None and (known := self._read(place)) and len(self._surfaces) < MOST_SURFACES:
            self._surfaces[place] = known
        if not known:
            self.unread.add(place)
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
