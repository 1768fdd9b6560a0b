"""The sums of the stories' unit rows, all in one buffer: what new documents are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Columns, Floats
from firststory.kernels.stories.placing import MAX_TERMS, compact, place_rows
from firststory.kernels.stories.sparse_sums import added, heaviest_of, in_order, product, square

SLOTS = ("start", "length", "room", "norm2", "joined", "closeness", "last", "key")


def sorted_row(columns: NDArray[Any], weights: NDArray[Any]) -> tuple[Columns, Floats]:
    """A sparse row as the kernels want it: columns in order, of one type."""
    columns = np.ascontiguousarray(columns, dtype=np.int32)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if not in_order(columns):
        order = np.argsort(columns, kind="stable")
        columns, weights = columns[order], weights[order]
    return columns, weights


def sorted_rows(rows: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> list[tuple[Columns, Floats]]:
    """Many rows as the kernels want them; they are looked at one by one only where some are not."""
    every = np.concatenate([columns for columns, _ in rows] or [np.empty(0, np.int32)])
    steps = every[1:] > every[:-1]
    ends = np.cumsum([len(columns) for columns, _ in rows], dtype=np.int64)
    steps[ends[(ends > 0) & (ends < len(every))] - 1] = True  # from one row to the next
    are_right = all(columns.dtype == np.int32 and weights.dtype == np.float64 for columns, weights in rows)
    return list(rows) if are_right and steps.all() else [sorted_row(*row) for row in rows]


class Centroids:
    """Sums S of sparse rows, each in a slot: columns in order, the square of its length, and how close rows were.

    Attributes
    ----------
    norm2 : ndarray
        |S|^2 of each slot.
    joined, closeness : ndarray
        How many rows joined after the first, and the sum of the cosines that they had with S before.
    last : ndarray
        The latest time in seconds; NaN where none has come.
    key : ndarray
        The number of the story whose slot it is.

    Examples
    --------
    >>> centroids = Centroids()
    >>> slot = centroids.begin(key=1)
    >>> centroids.put(slot, *sorted_row(np.array([3, 1]), np.array([0.6, 0.8])))
    >>> centroids.row(slot)[0].tolist(), centroids.heaviest([slot], 1)
    ([1, 3], [[1]])
    """

    def __init__(self) -> None:
        self.columns, self.weights, self.tail = np.empty(0, np.int32), np.empty(0), 0
        self.start, self.length, self.room, self.joined, self.key = (np.zeros(0, np.int64) for _ in range(5))
        self.norm2, self.closeness, self.last = (np.zeros(0) for _ in range(3))
        self._free: list[int] = []

    # -- slots ---------------------------------------------------------------------------------------------

    def begin(self, key: int) -> int:
        """An empty slot."""
        self._reserve(1, 0)
        slot = self._free.pop()
        self.key[slot] = key
        return slot

    def end(self, slot: int) -> None:
        """Nobody needs the slot any more."""
        self.length[slot] = self.room[slot] = self.joined[slot] = 0
        self.norm2[slot] = self.closeness[slot] = 0.0
        self.last[slot] = np.nan
        self._free.append(slot)

    def _reserve(self, slots: int, terms: int) -> None:
        """Free slots, and so much room at the buffer's tail."""
        if len(self._free) < slots:
            old = len(self.start)
            more = max(64, old, slots)
            for name in SLOTS:
                array = getattr(self, name)
                grown = np.concatenate([array, np.zeros(more, dtype=array.dtype)])
                setattr(self, name, grown)
            self.last[old:] = np.nan
            self._free = [*range(old + more - 1, old - 1, -1), *self._free]
        if self.tail + terms > len(self.columns):
            # Twice what is in use: moving everything is paid for by as many terms that came.
            size = terms + 2 * int(self.room.sum())
            columns, weights = np.empty(size, np.int32), np.empty(size)
            self.tail = compact(self.columns, self.weights, self.start, self.length, self.room, columns, weights)
            self.columns, self.weights = columns, weights

    def _places(self) -> NDArray[np.int64]:
        """Where in the buffer the entries of all sums lie."""
        before = np.repeat(self.start - np.cumsum(self.length) + self.length, self.length)
        places: NDArray[np.int64] = before + np.arange(self.length.sum())
        return places

    def columns_in_use(self) -> NDArray[np.int32]:
        """The columns of all sums, each as often as it comes."""
        return self.columns[self._places()]

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order."""
        places = self._places()
        self.columns[places] = new[self.columns[places]]

    # -- many rows -----------------------------------------------------------------------------------------

    def place(
        self, rows: list[tuple[Columns, Floats]], near: NDArray[np.int64], times: Floats, knobs: Floats,
        opening: float, next_key: int,
    ) -> tuple[list[int], list[int], list[float], list[float], float]:  # fmt: skip
        """Let rows join or begin sums, see `kernels.placing.place_rows`: slots, runners-up, ranks, cosines; opening."""
        sizes = np.array([len(columns) for columns, _ in rows])
        longest = min(int(self.length.max(initial=0) + sizes.sum()), 2 * MAX_TERMS) + int(sizes.max(initial=0))
        self._reserve(len(rows), len(rows) * (longest + longest // 2))
        fresh = np.array(self._free[: -len(rows) - 1 : -1], dtype=np.int64)
        went, second, rank, cosines, opening, begun, self.tail = place_rows(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([columns for columns, _ in rows]), np.concatenate([weights for _, weights in rows]),
            near, times, fresh, knobs, opening, self.columns, self.weights, self.start, self.length, self.room,
            self.tail, self.norm2, self.joined, self.closeness, self.last, self.key, next_key,
        )  # fmt: skip
        del self._free[len(self._free) - begun :]
        return went.tolist(), second.tolist(), rank.tolist(), cosines.tolist(), float(opening)

    # -- one sum -------------------------------------------------------------------------------------------

    def row(self, slot: int) -> tuple[Columns, Floats]:
        """S: a view that is good until the next change."""
        at = slice(self.start[slot], self.start[slot] + self.length[slot])
        return self.columns[at], self.weights[at]

    def put(self, slot: int, columns: Columns, weights: Floats) -> None:
        """Make S this row, and its length what the row's is."""
        if len(columns) > self.room[slot]:
            self._reserve(0, len(columns))
            self.start[slot], self.room[slot] = self.tail, len(columns)
            self.tail += len(columns)
        self.length[slot] = len(columns)
        self.row(slot)[0][:], self.row(slot)[1][:] = columns, weights
        self.norm2[slot] = square(weights)

    def dot(self, slot: int, other: int) -> float:
        """S . S' of two slots."""
        return float(product(*self.row(slot), *self.row(other)))

    def absorb(self, slot: int, other: int) -> None:
        """S + S', and how close its rows were."""
        norm2 = self.norm2[slot] + (self.norm2[other] + 2.0 * self.dot(slot, other))
        self.put(slot, *added(*self.row(slot), *self.row(other), 1.0))
        self.norm2[slot] = norm2
        self.joined[slot] += self.joined[other]
        self.closeness[slot] += self.closeness[other]
        self.last[slot] = np.fmax(self.last[slot], self.last[other])

    def move(self, columns: Columns, weights: Floats, slot: int, to: int) -> None:
        """Take a row out of one sum and put it into another."""
        self.put(slot, *added(*self.row(slot), columns, weights, -1.0))
        self.put(to, *added(*self.row(to), columns, weights, 1.0))

    def heaviest(self, slots: list[int], n: int) -> list[list[int]]:
        """Of each sum the columns that weigh most, heaviest first, among equals the older; -1 where there is none."""
        found: list[list[int]] = heaviest_of(
            np.array(slots, dtype=np.int64), self.start, self.length, self.columns, self.weights, n
        ).tolist()
        return found
