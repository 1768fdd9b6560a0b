"""Flat, contiguous posting lists in one arena: append at the tail, evict at the head, compact when the arena is full.

The list of key `v` is `arena[start[v] : start[v] + length[v]]` and may grow to `room[v]` entries where it lies; a list
that is full moves to the end of the arena with half as much again. Documents leave in the order in which they came,
so an eviction is one step of `start[v]`. What moves leave behind is reclaimed by `compact`, so that the arena is
never larger than a small multiple of what is alive.
"""

from __future__ import annotations

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.layout import Lists


@part_of_kernel
def grown(length: int) -> int:
    """The room that a list of this length gets when it moves."""
    return length + (length >> 1) + 4


@part_of_kernel
def room_needed(keys: Ints, lists: Lists) -> int:
    """How much of the arena's end one append to each of these (distinct) keys would take."""
    length, room = lists.length, lists.room
    need = 0
    for v in keys:
        if length[v] == room[v]:
            need += grown(length[v])
    return need


@part_of_kernel
def move_to_end(v: int, lists: Lists, used: int) -> int:
    """List v, which is full, moves to the end of the arena with room to grow; returns the new end."""
    start, length, room, members, weights = lists
    old, n = start[v], length[v]
    for p in range(n):
        members[used + p] = members[old + p]
        weights[used + p] = weights[old + p]
    start[v], room[v] = used, grown(n)
    return int(used + room[v])


@part_of_kernel
def append(v: int, member: int, weight: float, lists: Lists, used: int) -> int:
    """Put (member, weight) at the tail of list v; returns the new end of the arena's used part."""
    start, length, room, members, weights = lists
    if length[v] == room[v]:
        used = move_to_end(v, lists, used)
    p = start[v] + length[v]
    members[p] = member
    weights[p] = weight
    length[v] += 1
    return used


@part_of_kernel
def append_row(terms: Ints, values: Floats, scale: float, member: int, lists: Lists, used: int) -> int:
    """`append` for each term, with `scale * values`. One call per row: a call counts the references of its arrays."""
    start, length, room, members, weights = lists
    for a in range(len(terms)):
        v = terms[a]
        if length[v] == room[v]:
            used = move_to_end(v, lists, used)
        p = start[v] + length[v]
        members[p] = member
        weights[p] = scale * values[a]
        length[v] += 1
    return used


@kernel
def compact(lists: Lists, new_members: Slots, new_weights: Floats) -> int:
    """Copy what is alive into the new arena, each list with room to grow; returns the end of the used part."""
    start, length, room, members, weights = lists
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
