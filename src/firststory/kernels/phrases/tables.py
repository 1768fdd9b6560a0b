"""Fading counts in bounded memory: a table of buckets, in each of which the lightest entry makes way for a new one.

A count fades by half in `half_life` documents. Instead of shrinking all counts with every document, the unit by which
they are counted grows; `rescale` brings it back to one.
"""

from __future__ import annotations

import numpy as np

from firststory.kernels.jit import part_of_kernel
from firststory.kernels.neighbours.prefetch import prefetch
from firststory.kernels.phrases.layout import Keys, Marks, Table

WAYS = 8
"""Entries of a bucket: their keys fill one line of a processor's cache."""


@part_of_kernel
def find_key(keys: Keys, key: np.uint64) -> int:
    """The slot of a key, or -1."""
    base = np.int64(key & np.uint64(keys.shape[0] // WAYS - 1)) * WAYS
    for slot in range(base, base + WAYS):
        if keys[slot] == key:
            return slot
        if keys[slot] == 0:
            return -1
    return -1


@part_of_kernel
def find(table: Table, key: np.uint64) -> int:
    """The slot of a key, or -1."""
    return find_key(table.keys, key)


@part_of_kernel
def claim(table: Table, key: np.uint64) -> int:
    """The slot of a key; a new one takes a free slot of its bucket, or that of the lightest entry."""
    keys, counts = table.keys, table.counts
    base = np.int64(key & np.uint64(keys.shape[0] // WAYS - 1)) * WAYS
    lightest = int(base)
    for slot in range(base, base + WAYS):
        if keys[slot] == key:
            return slot
        if keys[slot] == 0:
            keys[slot] = key
            return slot
        if counts[slot, 0] < counts[lightest, 0]:
            lightest = slot
    keys[lightest] = key
    counts[lightest, :] = 0.0
    table.last[lightest] = 0
    return lightest


@part_of_kernel
def expect(table: Table, key: np.uint64) -> None:
    """Start to load the bucket of a key that is asked for soon: tables are larger than a processor's cache."""
    base = np.int64(key & np.uint64(table.keys.shape[0] // WAYS - 1)) * WAYS
    prefetch(table.keys, base)
    prefetch(table.counts, base * table.counts.shape[1])
    prefetch(table.last, base)


@part_of_kernel
def count_of(table: Table, key: np.uint64) -> float:
    """The first count of a key, 0 where it is not known."""
    slot = find(table, key)
    return 0.0 if slot < 0 else np.float64(table.counts[slot, 0])


@part_of_kernel
def add(table: Table, key: np.uint64, unit: float) -> None:
    table.counts[claim(table, key), 0] += unit


@part_of_kernel
def add_once(table: Table, key: np.uint64, unit: float, number: int) -> float:
    """Count a key once in each document; returns what was counted in those before."""
    slot = claim(table, key)
    if table.last[slot] == number:
        return np.float64(table.counts[slot, 0]) - unit
    table.last[slot] = number
    before = np.float64(table.counts[slot, 0])
    table.counts[slot, 0] = before + unit
    return before


@part_of_kernel
def rescale(table: Table, unit: float) -> None:
    """Counts in units of one again."""
    counts = table.counts
    for slot in range(counts.shape[0]):
        for column in range(counts.shape[1]):
            counts[slot, column] /= unit


@part_of_kernel
def marks_of(keys: Keys, marks: Marks, key: np.uint64) -> int:
    """The marks of a word of the lists; open addressing, at most half full."""
    mask = np.uint64(keys.shape[0] - 1)
    slot = key & mask
    while keys[slot] != 0:
        if keys[slot] == key:
            return int(marks[slot])
        slot = (slot + np.uint64(1)) & mask
    return 0


@part_of_kernel
def put_marks(keys: Keys, marks: Marks, words: Keys, mark: int) -> None:
    """Add a mark to some words of the lists."""
    mask = np.uint64(keys.shape[0] - 1)
    for key in words:
        slot = key & mask
        while keys[slot] != 0 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        keys[slot] = key
        marks[slot] |= np.uint32(mark)
