"""Which story each recent document belongs to, by the document's number in the stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from firststory.arrays import Ints


class RecentKeys:
    """A number for each of the latest `window` ordinals, looked up many at once; -1 where there is none.

    Examples
    --------
    >>> keys = RecentKeys(window=2)
    >>> for ordinal in range(3):
    ...     keys.set(ordinal, 10 + ordinal)
    >>> keys.get(np.array([0, 1, 2, -1])).tolist()
    [-1, 11, 12, -1]
    """

    def __init__(self, window: int) -> None:
        self._ordinals = np.full(window, -1, dtype=np.int64)
        self._keys = np.full(window, -1, dtype=np.int64)

    def set(self, ordinal: int, key: int) -> None:
        """A document without ordinal (-1) is not kept."""
        if ordinal >= 0:
            place = ordinal % len(self._keys)
            self._ordinals[place], self._keys[place] = ordinal, key

    def replace(self, ordinal: int, key: int) -> None:
        """Another key, where the ordinal is still known."""
        if ordinal >= 0 and self._ordinals[ordinal % len(self._keys)] == ordinal:
            self._keys[ordinal % len(self._keys)] = key

    def get(self, ordinals: Ints) -> Ints:
        """The keys of many."""
        places = ordinals % len(self._keys)
        keys: Ints = np.where((self._ordinals[places] == ordinals) & (ordinals >= 0), self._keys[places], -1)
        return keys

    def rename(self, now: Callable[[int], int]) -> None:
        """Let every key be what it is called now."""
        names, where = np.unique(self._keys, return_inverse=True)
        self._keys = np.array([now(name) for name in names.tolist()], dtype=np.int64)[where]

    def get_state(self) -> dict[str, Any]:
        """Two arrays, in the order of the stream."""
        order = np.argsort(self._ordinals, kind="stable")
        order = order[self._ordinals[order] >= 0]
        return {"ordinals": self._ordinals[order], "ordinal_stories": self._keys[order]}

    def set_state(self, state: dict[str, Any]) -> None:
        """Undo `get_state`."""
        ordinals = np.asarray(state["ordinals"], dtype=np.int64)
        self._ordinals[ordinals % len(self._keys)] = ordinals
        self._keys[ordinals % len(self._keys)] = state["ordinal_stories"]
