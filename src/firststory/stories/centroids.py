"""The sums of the stories' unit rows, all in one buffer: what new documents are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from firststory.arrays import Array, Columns, Floats, Ints
from firststory.kernels.stories.layout import JoinRule, Rows, SlotStatistics, Sums
from firststory.kernels.stories.placing import MAX_TERMS, compact, place_rows
from firststory.kernels.stories.sparse_sums import added, heaviest_of, in_order, product, square
from firststory.state import State

MIN_SLOTS = 64

Row = tuple[Columns, Floats]
"""A sparse row: columns in order, and their weights."""


class Placements(NamedTuple):
    """Where rows went, one entry per row, and the share of recent rows that began a sum."""

    keys: list[int]
    slots: list[int]
    runners_up: list[int]
    """The key of the sum that the row could have joined as well; -1 where there is none."""
    closeness: list[float]
    cosines: list[float]
    opening_share: float


def sorted_row(columns: Array, weights: Array) -> Row:
    """A sparse row as the kernels want it: columns in order, of one type."""
    columns = np.ascontiguousarray(columns, dtype=np.int32)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if not in_order(columns):
        order = np.argsort(columns, kind="stable")
        columns, weights = columns[order], weights[order]
    return columns, weights


def sorted_rows(rows: Sequence[tuple[Array, Array]]) -> list[Row]:
    """Many rows as the kernels want them; they are checked one by one only where some are not."""
    every = np.concatenate([columns for columns, _ in rows] or [np.empty(0, np.int32)])
    ascends = every[1:] > every[:-1]
    ends = np.cumsum([len(columns) for columns, _ in rows], dtype=np.int64)
    ascends[ends[(ends > 0) & (ends < len(every))] - 1] = True  # from one row to the next
    are_right = all(columns.dtype == np.int32 and weights.dtype == np.float64 for columns, weights in rows)
    return list(rows) if are_right and ascends.all() else [sorted_row(*row) for row in rows]


class Centroids:
    """Sums S of sparse rows, each in a slot: its entries, |S|^2, how close rows were that joined, the latest time.

    Examples
    --------
    >>> centroids = Centroids()
    >>> slot = centroids.open(key=1)
    >>> centroids.put(slot, *sorted_row(np.array([3, 1]), np.array([0.6, 0.8])))
    >>> centroids.row(slot)[0].tolist(), centroids.heaviest([slot], 1)
    ([1, 3], [[1]])
    """

    def __init__(self) -> None:
        self._sums = Sums(np.empty(0, np.int32), np.empty(0), *(np.zeros(0, np.int64) for _ in range(3)))
        self._tail = 0
        """Where the free end of the buffer begins."""
        self._statistics = SlotStatistics(
            squared_norm=np.zeros(0),
            n_joined=np.zeros(0, np.int64),
            cosine_sum=np.zeros(0),
            last=np.zeros(0),
            key=np.zeros(0, np.int64),
        )
        self._free: list[int] = []

    # -- slots ---------------------------------------------------------------------------------------------

    def open(self, key: int) -> int:
        """An empty slot for the story of this number."""
        self._reserve(1, 0)
        slot = self._free.pop()
        self._statistics.key[slot] = key
        return slot

    def release(self, slot: int) -> None:
        """Empty a slot for others to use."""
        sums, statistics = self._sums, self._statistics
        sums.length[slot] = sums.room[slot] = statistics.n_joined[slot] = 0
        statistics.squared_norm[slot] = statistics.cosine_sum[slot] = 0.0
        statistics.last[slot] = np.nan
        self._free.append(slot)

    def _reserve(self, slots: int, entries: int) -> None:
        """Make sure of that many free slots, and of that many free entries at the end of the buffer."""
        if len(self._free) < slots:
            old = len(self._sums.start)
            more = max(MIN_SLOTS, old, slots)
            columns, weights, *places = self._sums
            self._sums = Sums(columns, weights, *(_longer(array, more) for array in places))
            self._statistics = SlotStatistics(*(_longer(array, more) for array in self._statistics))
            self._statistics.last[old:] = np.nan
            self._free = [*range(old + more - 1, old - 1, -1), *self._free]
        if self._tail + entries > len(self._sums.columns):
            # Twice what is in use: moving everything is paid for by as many entries that came.
            size = entries + 2 * int(self._sums.room.sum())
            columns, weights = np.empty(size, np.int32), np.empty(size)
            self._tail = compact(self._sums, columns, weights)
            self._sums = self._sums._replace(columns=columns, weights=weights)

    def _places(self) -> Ints:
        """Where in the buffer the entries of all sums are."""
        start, length = self._sums.start, self._sums.length
        places: Ints = np.repeat(start - np.cumsum(length) + length, length) + np.arange(length.sum())
        return places

    def columns_in_use(self) -> Columns:
        """The columns of all sums, with repetitions."""
        return self._sums.columns[self._places()]

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order."""
        places = self._places()
        self._sums.columns[places] = new[self._sums.columns[places]]

    # -- many rows -----------------------------------------------------------------------------------------

    def place(
        self, rows: list[Row], candidates: Ints, times: Floats, rule: JoinRule, opening_share: float, next_key: int
    ) -> Placements:
        """Let each row join a sum or begin one, see `kernels.stories.placing.place_rows`."""
        sizes = np.array([len(columns) for columns, _ in rows])
        longest_sum = min(int(self._sums.length.max(initial=0) + sizes.sum()), 2 * MAX_TERMS)
        longest = longest_sum + int(sizes.max(initial=0))
        self._reserve(len(rows), len(rows) * (longest + longest // 2))
        free = np.array(self._free[: -len(rows) - 1 : -1], dtype=np.int64)
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        columns, weights = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        placed, opening_share, begun, self._tail = place_rows(
            Rows(indptr, columns, weights, times, candidates), self._sums, self._statistics, free, rule,
            opening_share, self._tail, next_key,
        )  # fmt: skip
        del self._free[len(self._free) - begun :]
        key = self._statistics.key
        return Placements(
            key[placed.slot].tolist(),
            placed.slot.tolist(),
            np.where(placed.runner_up >= 0, key[placed.runner_up], -1).tolist(),
            placed.closeness.tolist(),
            placed.cosine.tolist(),
            float(opening_share),
        )

    def heaviest(self, slots: list[int], n: int) -> list[list[int]]:
        """Of each sum the columns that weigh most, heaviest first, among equals the older; -1 where there is none."""
        found: list[list[int]] = heaviest_of(self._sums, np.array(slots, dtype=np.int64), n).tolist()
        return found

    # -- one sum -------------------------------------------------------------------------------------------

    def row(self, slot: int) -> Row:
        """S: a view that is valid until the next change."""
        start = self._sums.start[slot]
        entries = slice(start, start + self._sums.length[slot])
        return self._sums.columns[entries], self._sums.weights[entries]

    def last(self, slot: int) -> float | None:
        """The latest time in seconds; None where no row had one."""
        time = float(self._statistics.last[slot])
        return None if math.isnan(time) else time

    def add_time(self, slot: int, seconds: float | None) -> None:
        """Something happened at this time, without a row."""
        if seconds is not None:
            self._statistics.last[slot] = np.fmax(self._statistics.last[slot], seconds)

    def put(self, slot: int, columns: Columns, weights: Floats) -> None:
        """Replace S, and |S|^2 by that of the row."""
        if len(columns) > self._sums.room[slot]:
            self._reserve(0, len(columns))
            self._sums.start[slot], self._sums.room[slot] = self._tail, len(columns)
            self._tail += len(columns)
        self._sums.length[slot] = len(columns)
        self.row(slot)[0][:], self.row(slot)[1][:] = columns, weights
        self._statistics.squared_norm[slot] = square(weights)

    def dot(self, slot: int, other: int) -> float:
        """S . S' of two slots."""
        return float(product(*self.row(slot), *self.row(other)))

    def squared_norm(self, slot: int) -> float:
        """|S|^2, also of the entries that S had no room for."""
        return float(self._statistics.squared_norm[slot])

    def absorb(self, slot: int, other: int) -> None:
        """Add S' to S, and what is known of it."""
        norm, n_joined, cosine_sum, last, _ = self._statistics
        squared_norm = norm[slot] + (norm[other] + 2.0 * self.dot(slot, other))
        self.put(slot, *added(*self.row(slot), *self.row(other), 1.0))
        norm[slot] = squared_norm
        n_joined[slot] += n_joined[other]
        cosine_sum[slot] += cosine_sum[other]
        last[slot] = np.fmax(last[slot], last[other])

    def move(self, columns: Columns, weights: Floats, slot: int, to: int) -> None:
        """Take a row out of one sum and add it to another."""
        self.put(slot, *added(*self.row(slot), columns, weights, -1.0))
        self.put(to, *added(*self.row(to), columns, weights, 1.0))

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """The sums that are in use, in the order of their keys."""
        free = set(self._free)
        used = [slot for slot in np.argsort(self._statistics.key, kind="stable").tolist() if slot not in free]
        rows = [self.row(slot) for slot in used]
        return {
            **{name: array[used] for name, array in self._statistics._asdict().items()},
            "length": self._sums.length[used],
            "columns": np.concatenate([columns for columns, _ in rows] or [np.empty(0, np.int32)]),
            "weights": np.concatenate([weights for _, weights in rows] or [np.empty(0)]),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`; the slots are then 0, 1, ... in the order of the keys."""
        centroids = cls()
        ends = np.cumsum(state["length"])
        slots = [centroids.open(int(key)) for key in state["key"]]
        for slot, start, end in zip(slots, ends - state["length"], ends, strict=True):
            centroids.put(slot, state["columns"][start:end], state["weights"][start:end])
        for name, array in centroids._statistics._asdict().items():
            array[slots] = state[name]
        return centroids

    def slot_of_key(self) -> dict[int, int]:
        """The slots that are in use by their keys."""
        free = set(self._free)
        return {key: slot for slot, key in enumerate(self._statistics.key.tolist()) if slot not in free}


def _longer(array: Array, more: int) -> Array:
    return np.concatenate([array, np.zeros(more, dtype=array.dtype)])
