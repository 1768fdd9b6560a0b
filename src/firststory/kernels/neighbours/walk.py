"""Products of one row with all that share its terms: the walk over the posting lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.jit import part_of_kernel
from firststory.kernels.neighbours.layout import Lists
from firststory.kernels.neighbours.prefetch import prefetch

LISTS_AHEAD = 6
"""How many lists ahead to prefetch."""

PREFETCHED_ENTRIES = 256
"""How many entries of each; the processor finds out by itself how a list goes on."""


@part_of_kernel
def is_worth_walking(length: int, value: float, longest: float) -> bool:
    """Whether a list is short for what it tells: what a term adds to a cosine goes with the square of its weight."""
    return length <= longest * value * value


@part_of_kernel
def postings(terms: Ints, values: Floats, length: Ints, longest: float) -> int:
    """How many postings the row's lists that are worth walking hold together."""
    total = 0
    for a in range(len(terms)):
        if terms[a] < len(length) and is_worth_walking(length[terms[a]], values[a], longest):
            total += length[terms[a]]
    return total


@part_of_kernel
def prefetch_list(begin: int, length: int, members: Slots, weights: Floats) -> None:
    """The beginning of a list."""
    for p in range(begin, begin + min(length, PREFETCHED_ENTRIES), 16):
        prefetch(members, p)
        prefetch(weights, p)
        prefetch(weights, p + 8)


@part_of_kernel
def prefetch_ends(terms: Ints, lists: Lists) -> None:
    """The places where these lists will grow."""
    start, length, members, weights = lists.start, lists.length, lists.members, lists.weights
    for v in terms:
        prefetch(members, start[v] + length[v])
        prefetch(weights, start[v] + length[v])


@part_of_kernel
def walk(
    terms: Ints, query: Floats, walked: NDArray[np.bool_], lists: Lists, dots: NDArray[Any], touched: Ints, many: int
) -> int:
    """Add the products with the terms that are `walked` into `dots`; returns how many members were touched.

    They are listed, unless there are so many products that looking at every member is cheaper (`many`, at most the
    members that there are): then -1 is returned. One whose sum was zero in between is listed twice.
    """
    start, length, members, weights = lists.start, lists.length, lists.members, lists.weights
    total = 0
    for a in range(len(terms)):
        if walked[a]:
            total += length[terms[a]]
    n = 0
    for a in range(len(terms)):
        if a + LISTS_AHEAD < len(terms) and walked[a + LISTS_AHEAD]:
            prefetch_list(start[terms[a + LISTS_AHEAD]], length[terms[a + LISTS_AHEAD]], members, weights)
        if not walked[a]:
            continue
        begin, q = start[terms[a]], query[a]
        end = begin + length[terms[a]]
        if total > many:
            for p in range(begin, end):
                dots[np.uint32(members[p])] += q * weights[p]
        else:
            for p in range(begin, end):
                j = np.uint32(members[p])
                before = dots[j]
                touched[n] = j  # stays only if n moves on: no branch to guess
                dots[j] = before + q * weights[p]
                n += (before == 0.0) & (dots[j] != 0.0)
    return -1 if total > many else n
