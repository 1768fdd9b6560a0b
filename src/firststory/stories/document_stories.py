"""Which story each recent document belongs to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Self

import numpy as np

from firststory.arrays import Ints
from firststory.state import State

MAX_MERGED = 1000
"""Merged stories that are followed one by one before every document is pointed at its story again."""


class DocumentStories:
    """The story's key of each of the latest `window` documents, by the document's id and by its ordinal.

    Examples
    --------
    >>> documents = DocumentStories(window=2)
    >>> for ordinal, name in enumerate("abc"):
    ...     documents.add(name, ordinal, key=10 + ordinal)
    >>> documents.merge(12, into=11)
    >>> documents.key_of("a"), documents.key_of("c"), documents.look_up(np.array([0, 1, 2, -1]), list).tolist()
    (-1, 11, [-1, 11, 11, -1])
    """

    def __init__(self, window: int) -> None:
        self._by_id: dict[str, int] = {}
        self._ids: deque[str] = deque()
        """The same ids, those that came last at the end. An OrderedDict takes twice the room."""
        self._ordinals = np.full(window, -1, dtype=np.int64)
        self._keys = np.full(window, -1, dtype=np.int64)
        """The key of each ordinal, in the place `ordinal % window`."""
        self._merged: dict[int, int] = {}
        """Stories that were merged into another, which documents may still point at."""

    def add(self, document_id: str, ordinal: int, key: int) -> None:
        """A document (without ordinal: -1) belongs to a story."""
        self._add_ids([document_id], [key])
        if ordinal >= 0:
            place = ordinal % len(self._keys)
            self._ordinals[place], self._keys[place] = ordinal, key

    def add_all(self, document_ids: Sequence[str], ordinals: Ints, keys: Ints) -> None:
        """`add` of many, one after the other."""
        self._add_ids(document_ids, keys.tolist())
        known = ordinals >= 0
        ordinals, keys = ordinals[known], keys[known]
        places = ordinals % len(self._keys)
        if len(ordinals) and np.ptp(ordinals) < len(self._keys):
            self._ordinals[places], self._keys[places] = ordinals, keys
            return
        for place, ordinal, key in zip(places, ordinals, keys, strict=True):  # places come again: the last counts
            self._ordinals[place], self._keys[place] = ordinal, key

    def _add_ids(self, document_ids: Sequence[str], keys: Sequence[int]) -> None:
        by_id, ids = self._by_id, self._ids
        for document_id, key in zip(document_ids, keys, strict=True):
            if document_id in by_id:  # seldom: an id comes once
                ids.remove(document_id)
            ids.append(document_id)
            by_id[document_id] = key
        while len(ids) > len(self._keys):
            del by_id[ids.popleft()]

    def merge(self, key: int, into: int) -> None:
        """The documents of a story belong to another from now on."""
        self._merged[key] = into
        if len(self._merged) > MAX_MERGED:
            self._follow_merged()

    def key_of(self, document_id: str) -> int:
        """The story of a document; -1 where it is not remembered."""
        return self._current(self._by_id.get(document_id, -1))

    def look_up(self, ordinals: Ints, values_of: Callable[[Iterable[int]], Sequence[int]]) -> Ints:
        """The value of each document's story, given those of stories by their keys; key -1 for no document."""
        places = ordinals % len(self._keys)
        keys = np.where((self._ordinals[places] == ordinals) & (ordinals >= 0), self._keys[places], -1)
        distinct, where = np.unique(keys, return_inverse=True)
        current = distinct.tolist()
        if self._merged:
            current = [self._current(key) if key in self._merged else key for key in current]
        values = np.array(values_of(current), dtype=np.int64)
        return values[where.reshape(ordinals.shape)]

    def _current(self, key: int) -> int:
        """The story that this one was merged into, and so on."""
        while key in self._merged:
            key = self._merged[key]
        return key

    def _follow_merged(self) -> None:
        """Point every document at the story that its own was merged into."""
        for document_id, key in self._by_id.items():
            self._by_id[document_id] = self._current(key)
        distinct, where = np.unique(self._keys, return_inverse=True)
        self._keys = np.array([self._current(key) for key in distinct.tolist()], dtype=np.int64)[where]
        self._merged = {}

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """Ids and ordinals with their stories, in the order of the stream."""
        if self._merged:
            self._follow_merged()
        order = np.argsort(self._ordinals, kind="stable")
        order = order[self._ordinals[order] >= 0]
        return {
            "window": len(self._keys),
            "ids": list(self._ids),
            "id_keys": np.array([self._by_id[document_id] for document_id in self._ids], dtype=np.int64),
            "ordinals": self._ordinals[order],
            "ordinal_keys": self._keys[order],
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        documents = cls(state["window"])
        documents._by_id = dict(zip(state["ids"], state["id_keys"].tolist(), strict=True))
        documents._ids = deque(documents._by_id)
        places = state["ordinals"] % len(documents._keys)
        documents._ordinals[places], documents._keys[places] = state["ordinals"], state["ordinal_keys"]
        return documents
