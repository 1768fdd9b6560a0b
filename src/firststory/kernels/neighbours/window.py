"""A window of rows that remembers and forgets: posting lists, a log of the rows themselves, a ring of slots.

The window is the ordinals `oldest .. next - 1`; a row lives in `slot = ordinal % capacity`. Each row's own terms are
kept in a log (`log_*`), so that it can be taken out of the posting lists again.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from firststory.arrays import Floats, Ints
from firststory.kernels.jit import part_of_kernel
from firststory.kernels.neighbours.layout import Lists, Log
from firststory.kernels.neighbours.postings import append_row, compact, room_needed
from firststory.kernels.neighbours.widening import widened

OLDEST, NEXT, USED, TAIL = 0, 1, 2, 3
"""What `meta` holds: first ordinal alive, next ordinal, end of the arena's and of the log's used parts."""


@part_of_kernel
def evict(meta: Ints, lists: Lists, log: Log) -> None:
    """Take the oldest member out: it stands at the head of each of its lists."""
    start, length, room, terms = lists.start, lists.length, lists.room, log.terms
    slot = meta[OLDEST] % len(log.start)
    for a in range(log.start[slot], log.start[slot] + log.length[slot]):
        v = terms[a]
        start[v] += 1
        length[v] -= 1
        room[v] -= 1
    meta[OLDEST] += 1


@part_of_kernel
def has_room(terms: Ints, window: int, meta: Ints, lists: Lists, log: Log) -> bool:
    """Whether one more row fits into the ring, the log and the arena as they are."""
    alive = meta[NEXT] - meta[OLDEST]
    fits_ring = alive < len(log.start) or alive >= window
    fits_log = meta[TAIL] + len(terms) <= len(log.terms)
    return bool(fits_ring and fits_log and meta[USED] + room_needed(terms, lists) <= len(lists.members))


@part_of_kernel
def remember(terms: Ints, values: Floats, meta: Ints, lists: Lists, log: Log) -> int:
    """Put a row into the lists and the log; returns its slot."""
    slot = meta[NEXT] % len(log.start)
    tail, log_terms, log_weights = meta[TAIL], log.terms, log.weights
    log.start[slot], log.length[slot] = tail, len(terms)
    for a in range(len(terms)):
        log_terms[tail + a] = terms[a]
        log_weights[tail + a] = values[a]
    meta[USED] = append_row(terms, values, 1.0, slot, lists, meta[USED])
    meta[TAIL] += len(terms)
    meta[NEXT] += 1
    return int(slot)


class WindowIndex:
    """The arrays of one window, their growth, and their state (the living rows only: the lists follow from them)."""

    per_slot: ClassVar[dict[str, Any]] = {"born": np.float64}
    """What is known of each row: name of the array and its type."""

    def __init__(self, capacity: int = 64) -> None:
        self.meta = np.zeros(4, dtype=np.int64)
        self.start, self.length, self.room = (np.zeros(0, dtype=np.int64) for _ in range(3))
        self.members, self.weights = np.zeros(1024, dtype=np.int32), np.zeros(1024)
        self.log_start, self.log_length = np.zeros(capacity, dtype=np.int64), np.zeros(capacity, dtype=np.int64)
        self.log_terms, self.log_weights = np.zeros(1024, dtype=np.int32), np.zeros(1024)
        for name, kind in self.per_slot.items():
            setattr(self, name, np.zeros(capacity, dtype=kind))

    def __len__(self) -> int:
        """How many rows are alive."""
        return int(self.meta[NEXT] - self.meta[OLDEST])

    @property
    def lists(self) -> Lists:
        """The posting lists, as kernels take them."""
        return Lists(self.start, self.length, self.room, self.members, self.weights)

    @property
    def log(self) -> Log:
        """The rows, as kernels take them."""
        return Log(self.log_start, self.log_length, self.log_terms, self.log_weights)

    def widen(self, width: int) -> None:
        """Lists for terms that are new."""
        if width > len(self.start):
            self.start, self.length, self.room = (widened(part, width) for part in (self.start, self.length, self.room))

    def renumber(self, new: Ints) -> None:
        """Give every term the number `new[term]`, in the same order; -1 for a term that no living row has: it goes."""
        self.widen(len(new))
        kept = np.flatnonzero(new >= 0)
        self.start, self.length, self.room = self.start[kept], self.length[kept], self.room[kept]
        # The log still holds terms of rows that left; they are never read.
        self.log_terms = new[self.log_terms].astype(np.int32)

    def make_room(self, terms: Ints, window: int) -> None:
        """Room for one more row of these terms in the ring, the log and the arena."""
        if len(self) == len(self.log_start) and len(self) < window:
            self._widen_ring()
        if self.meta[TAIL] + len(terms) > len(self.log_terms):
            self._shift_log(len(terms))
        if self.meta[USED] + room_needed(terms, self.lists) > len(self.members):
            self._compact(len(terms))

    def _widen_ring(self) -> None:
        old, new = len(self.log_start), 2 * len(self.log_start)
        ordinals = np.arange(self.meta[OLDEST], self.meta[NEXT])
        moved = np.zeros(old, dtype=np.int32)
        moved[ordinals % old] = ordinals % new
        for name in ("log_start", "log_length", *self.per_slot):
            part = getattr(self, name)
            wider = np.zeros(new, dtype=part.dtype)
            wider[ordinals % new] = part[ordinals % old]
            setattr(self, name, wider)
        # Entries outside of a list's living part hold slots too; they are never read.
        self.members = moved[self.members]

    def _shift_log(self, extra: int) -> None:
        """Forget the rows that left, and have room for half as much again: memory is dearer than moving them."""
        head = int(self.log_start[self.meta[OLDEST] % len(self.log_start)]) if len(self) else int(self.meta[TAIL])
        alive = int(self.meta[TAIL]) - head
        size = max(1024, (alive + extra) * 3 // 2)
        for name in ("log_terms", "log_weights"):
            part = getattr(self, name)
            fresh = np.zeros(size, dtype=part.dtype)
            fresh[:alive] = part[head : head + alive]
            setattr(self, name, fresh)
        self.log_start -= head
        self.meta[TAIL] = alive

    def _compact(self, extra: int) -> None:
        need = int((self.length + (self.length >> 1) + 4)[self.length > 0].sum()) + 8 * extra
        size = max(1024, need + (need >> 2))
        members, weights = np.zeros(size, dtype=np.int32), np.zeros(size)
        self.meta[USED] = compact(self.lists, members, weights)
        self.members, self.weights = members, weights

    def get_state(self) -> dict[str, Any]:
        """The living rows in order, and the count of those that left."""
        ordinals = np.arange(self.meta[OLDEST], self.meta[NEXT])
        slots = ordinals % len(self.log_start)
        head = int(self.log_start[slots[0]]) if len(slots) else 0
        tail = int(self.meta[TAIL]) if len(slots) else 0
        return {
            "oldest": int(self.meta[OLDEST]),
            "width": len(self.start),
            "capacity": len(self.log_start),
            **{name: getattr(self, name)[slots] for name in self.per_slot},
            "lengths": self.log_length[slots],
            "terms": self.log_terms[head:tail].copy(),
            "weights": self.log_weights[head:tail].copy(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Build the lists again from the living rows."""
        lengths, terms = state["lengths"], state["terms"].astype(np.int32)
        n = len(lengths)
        index = cls(capacity=int(state["capacity"]))
        index.meta[:] = state["oldest"], state["oldest"] + n, 0, len(terms)
        slots = np.arange(state["oldest"], state["oldest"] + n) % len(index.log_start)
        begin = np.concatenate([[0], np.cumsum(lengths)])
        index.log_start[slots], index.log_length[slots] = begin[:-1], lengths
        for name in cls.per_slot:
            getattr(index, name)[slots] = state[name]
        size = max(1024, 2 * len(terms))
        index.log_terms, index.log_weights = np.zeros(size, dtype=np.int32), np.zeros(size)
        index.log_terms[: len(terms)], index.log_weights[: len(terms)] = terms, state["weights"]
        # A stable sort by term keeps each list in the order of arrival.
        order = np.argsort(terms, kind="stable")
        index.members = np.repeat(slots, lengths).astype(np.int32)[order]
        index.weights = state["weights"][order]
        index.length = np.bincount(terms, minlength=state["width"]).astype(np.int64)
        index.room = index.length.copy()
        index.start = np.concatenate([[0], np.cumsum(index.length)[:-1]]).astype(np.int64)[: state["width"]]
        index.meta[USED] = len(terms)
        return index
