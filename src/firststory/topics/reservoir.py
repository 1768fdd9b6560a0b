"""A bounded pool of documents that stands for the whole stream (uniform) or for its recent part (biased)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Ints
from firststory.solvers.moment_sketch import Documents

ARENA_FACTOR = 2
"""The arena is packed when it holds this many times what is alive."""


class Reservoir:
    """Slots of sparse documents in one arena of flat arrays.

    Document t (from 1) takes the next slot while there is one. After that the uniform pool draws j from 0..t-1 and
    replaces slot j if j < capacity, so that every document so far is held with probability capacity / t. The biased
    pool replaces a random slot with constant probability `bias`: a document's chance of being held halves every
    capacity ln 2 / bias documents, and the pool follows a stream that drifts.
    """

    def __init__(self, capacity: int, bias: float | None = None) -> None:
        self.capacity = capacity
        self.bias = bias
        self.n_offered = 0
        self.n_words = 0.0
        self._begin = np.zeros(0, dtype=np.int64)
        self._end = np.zeros(0, dtype=np.int64)
        self._indices = np.zeros(0, dtype=np.int64)
        self._data = np.zeros(0)
        self._used = 0

    def __len__(self) -> int:
        return len(self._begin)

    @property
    def documents(self) -> Documents:
        """What the pool holds, slot by slot (views: good until the next offer)."""
        return Documents(self._begin, self._end, self._indices, self._data)

    def offer(self, rows: sp.csr_matrix, generator: np.random.Generator) -> tuple[Documents, Documents]:
        """Let each row in turn try for a slot; returns what left the pool and what came in, as copies."""
        slots = self._draw(rows.shape[0], generator)
        self.n_offered += rows.shape[0]
        # Where one batch hits a slot twice, only the last document is still there in the end.
        taken, last = np.unique(slots[::-1], return_index=True)
        source = rows.shape[0] - 1 - last
        source, taken = source[taken >= 0], taken[taken >= 0]
        held = len(self)
        replaced = taken[taken < held]
        gone = _gather(Documents(self._begin[replaced], self._end[replaced], self._indices, self._data))
        came = _gather(Documents(rows.indptr[source], rows.indptr[source + 1], rows.indices, rows.data))
        self._write(taken, came)
        self.n_words += float(came.data.sum() - gone.data.sum())
        return gone, came

    def csr(self, width: int) -> sp.csr_matrix:
        """The pool as rows."""
        packed = _gather(self.documents)
        return sp.csr_matrix((packed.data, packed.indices, np.append([0], packed.end)), (len(self), width))

    def _draw(self, n: int, generator: np.random.Generator) -> Ints:
        """The slot of each of the next n documents, -1 for none."""
        position = self.n_offered + np.arange(n, dtype=np.int64)
        if self.bias is None:
            drawn = generator.integers(position + 1)
        else:
            kept = generator.random(n) < self.bias
            drawn = np.where(kept, generator.integers(self.capacity, size=n), self.capacity)
        full = np.where(drawn < self.capacity, drawn, -1)
        slots: Ints = np.where(position < self.capacity, position, full)
        return slots

    def _write(self, slots: Ints, came: Documents) -> None:
        size = len(came.data)
        if self._used + size > len(self._data):
            alive = int((self._end - self._begin).sum())
            self._pack(ARENA_FACTOR * (alive + size) + 1024)
        at = self._used
        self._indices[at : at + size] = came.indices
        self._data[at : at + size] = came.data
        self._used = at + size
        more = int(slots.max()) + 1 - len(self) if len(slots) else 0
        if more > 0:
            self._begin = np.append(self._begin, np.zeros(more, dtype=np.int64))
            self._end = np.append(self._end, np.zeros(more, dtype=np.int64))
        self._begin[slots], self._end[slots] = came.begin + at, came.end + at

    def _pack(self, room: int) -> None:
        packed = _gather(self.documents)
        self._begin, self._end, self._used = packed.begin, packed.end, len(packed.data)
        self._indices, self._data = np.zeros(room, dtype=np.int64), np.zeros(room)
        self._indices[: self._used], self._data[: self._used] = packed.indices, packed.data

    def get_state(self) -> dict[str, Any]:
        """Slot by slot, without the arena's gaps: they have no influence on anything."""
        packed = _gather(self.documents)
        return {
            "capacity": self.capacity,
            "bias": self.bias,
            "n_offered": self.n_offered,
            "n_words": self.n_words,
            "end": packed.end,
            "indices": packed.indices,
            "data": packed.data,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        pool = cls(int(state["capacity"]), state["bias"])
        pool.n_offered = int(state["n_offered"])
        pool.n_words = float(state["n_words"])
        pool._end = state["end"]
        pool._begin = np.append(np.zeros(1, dtype=np.int64), pool._end)[: len(pool._end)]
        pool._indices, pool._data, pool._used = state["indices"], state["data"], len(state["data"])
        return pool


def _gather(documents: Documents) -> Documents:
    """The same documents in new arrays without gaps, in order."""
    lengths = (documents.end - documents.begin).astype(np.int64)
    end = np.cumsum(lengths)
    begin = end - lengths
    where = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(documents.begin - begin, lengths)
    return Documents(begin, end, documents.indices[where].astype(np.int64), documents.data[where])
