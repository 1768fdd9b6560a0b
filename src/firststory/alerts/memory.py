"""What is remembered of earlier documents so that a verdict can name them: bounded, oldest forgotten first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from firststory.harmless import display_title
from firststory.records import Document


class Remembered(NamedTuple):
    """An earlier document: enough to name it and to say which terms it shares."""

    id: str
    title: str
    time: datetime | None
    columns: NDArray[np.int32]


_remembered: Callable[[tuple[str, str, datetime | None, NDArray[np.int32]]], Remembered]
_remembered = partial(tuple.__new__, Remembered)
"""`Remembered._make` in a third of the time."""


class DocumentMemory:
    """The latest `capacity` documents by ordinal: the first document of the stream is 0.

    Examples
    --------
    >>> memory = DocumentMemory(capacity=2)
    >>> for name in "abc":
    ...     _ = memory.add(Document(id=name, text=name), np.array([0]))
    >>> memory.get(0) is None, memory.get(2).id, len(memory)
    (True, 'c', 2)
    """

    def __init__(self, capacity: int = 20_000) -> None:
        self.capacity = int(capacity)
        self._ring: list[Remembered] = []
        self._seen = 0
        self._origin = 0
        """The ordinal that stands at the ring's first place in its first round."""

    def __len__(self) -> int:
        return len(self._ring)

    @property
    def seen(self) -> int:
        """The ordinal of the next document."""
        return self._seen

    def add(self, document: Document, columns: NDArray[Any]) -> Remembered:
        """Remember the next document of the stream; its columns are in order."""
        if columns.dtype != np.int32:
            columns = columns.astype(np.int32)
        one = _remembered((document.id, display_title(document), document.time, columns))
        if len(self._ring) < self.capacity:
            self._ring.append(one)
        elif self.capacity:
            self._ring[(self._seen - self._origin) % self.capacity] = one
        self._seen += 1
        return one

    def get(self, ordinal: int) -> Remembered | None:
        """The document with this ordinal, or None where it was forgotten or never was."""
        if not 0 < self._seen - ordinal <= len(self._ring):
            return None
        return self._ring[(ordinal - self._origin) % self.capacity]

    def recall(self, found: Iterable[tuple[int, float]]) -> list[tuple[Remembered, float]]:
        """Documents by ordinal, each with a number that goes with it; the forgotten are left out."""
        ring, capacity, latest, shift = self._ring, self.capacity, self._seen, self._origin
        oldest = latest - len(ring)
        return [(ring[(n - shift) % capacity], number) for n, number in found if n >= 0 and oldest <= n < latest]

    def columns_in_use(self) -> NDArray[np.int64]:
        """The columns that a remembered document has."""
        return np.unique(np.concatenate([columns for *_, columns in self._ring] or [np.empty(0, np.int32)])).astype(
            np.int64
        )

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order."""
        self._ring = [one._replace(columns=new[one.columns].astype(np.int32)) for one in self._ring]

    def _in_order(self) -> list[Remembered]:
        is_full = 0 < self.capacity == len(self._ring)
        head = (self._seen - self._origin) % self.capacity if is_full else 0
        return self._ring[head:] + self._ring[:head]

    def get_state(self) -> dict[str, Any]:
        """Everything, as a flat dict of arrays and JSON values; NaN for no time."""
        kept = self._in_order()
        ids, titles, times, columns = map(list, zip(*kept, strict=True)) if kept else ([], [], [], [])
        sizes = list(map(len, columns))
        return {
            "capacity": self.capacity,
            "seen": self._seen,
            "ids": ids,
            "titles": titles,
            "times": np.array([np.nan if time is None else time.timestamp() for time in times]),
            "offsets": np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
            "columns": np.concatenate(columns or [np.empty(0, np.int32)]),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        memory = cls(int(state["capacity"]))
        memory._seen = int(state["seen"])
        offsets = state["offsets"]
        texts = zip(state["ids"], state["titles"], state["times"].tolist(), strict=True)
        for i, (name, title, time) in enumerate(texts):
            when = None if np.isnan(time) else datetime.fromtimestamp(time, tz=UTC)
            columns = np.asarray(state["columns"][offsets[i] : offsets[i + 1]], dtype=np.int32)
            memory._ring.append(Remembered(name, title, when, columns))
        memory._origin = memory._seen - len(memory._ring)
        return memory
