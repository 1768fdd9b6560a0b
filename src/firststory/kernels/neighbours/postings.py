"""Flat, contiguous posting lists in one arena: append at the tail, evict at the head, compact when the arena is full.

The list of key `v` is `arena[start[v] : start[v] + length[v]]` and may grow to `room[v]` entries where it lies; a list
that is full moves to the end of the arena with half as much again. Documents leave in the order in which they came,
so an eviction is one step of `start[v]`. What moves leave behind is reclaimed by `compact`, so that the arena is
never larger than a small multiple of what is alive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.jit import kernel


@kernel
def grown(length: int) -> int:
    """The room that a list of this length gets when it moves."""
    return length + (length >> 1) + 4


@kernel
def room_needed(keys: Ints, length: Ints, room: Ints) -> int:
    """How much of the arena's end one append to each of these (distinct) keys would take."""
    need = 0
    for v in keys:
        if length[v] == room[v]:
            need += grown(length[v])
    return need


@kernel
def append(
    v: int,
    member: int,
    weight: float,
    start: Ints,
    length: Ints,
    room: Ints,
    members: NDArray[np.int32],
    weights: Floats,
    used: int,
) -> int:
    """Put (member, weight) at the tail of list v; returns the new end of the arena's used part."""
    if length[v] == room[v]:
        old, n = start[v], length[v]
        for p in range(n):
            members[used + p] = members[old + p]
            weights[used + p] = weights[old + p]
        start[v] = used
        room[v] = grown(n)
        used += room[v]
    p = start[v] + length[v]
    members[p] = member
    weights[p] = weight
    length[v] += 1
    return used


@kernel
def compact(
    start: Ints,
    length: Ints,
    room: Ints,
    members: NDArray[np.int32],
    weights: Floats,
    new_members: NDArray[np.int32],
    new_weights: Floats,
) -> int:
    """Copy what is alive into the new arena, each list with room to grow; returns the end of the used part."""
    used = 0
    for v in range(len(start)):
        old, n = start[v], length[v]
        for p in range(n):
            new_members[used + p] = members[old + p]
            new_weights[used + p] = weights[old + p]
        start[v] = used
        # An empty list gives its room back.
        room[v] = grown(n) if n else 0
        used += room[v]
    return used
