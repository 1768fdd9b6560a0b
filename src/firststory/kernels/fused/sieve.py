"""Which rows may come close enough: a bound on their cosines, BLOCK_ROWS at a time and without branches."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Ints, Singles
from firststory.kernels.jit import part_of_kernel

BLOCK_ROWS = 64
"""Rows that are looked at together."""


@part_of_kernel
def any_reaches(
    first: int, dots: Singles, scale: Singles, share: Singles, spare: np.float32, least: np.float32
) -> bool:
    """Whether one of the BLOCK_ROWS rows from slot `first` on has a bound of at least `least`."""
    last, found = first + BLOCK_ROWS, np.uint8(0)
    own_dots, own_scale, own_share = dots[first:last], scale[first:last], share[first:last]
    for j in range(BLOCK_ROWS):
        found |= np.uint8(own_dots[j] * own_scale[j] + spare * own_share[j] >= least)
    return bool(found > 0)


@part_of_kernel
def rows_reaching(
    first: int, dots: Singles, scale: Singles, share: Singles, spare: np.float32, least: np.float32, into: Ints
) -> int:
    """Those rows, newest first; returns how many."""
    n = 0
    if any_reaches(first, dots, scale, share, spare, least):
        for j in range(first + BLOCK_ROWS - 1, first - 1, -1):
            into[n] = j
            n += dots[j] * scale[j] + spare * share[j] >= least
    return n


@part_of_kernel
def touched_reaching(touched: Ints, dots: Singles, scale: Singles, least: np.float32, into: Ints) -> int:
    """Of the slots listed in `touched` those with `dots * scale` of at least `least`, the last first; how many."""
    n = 0
    for t in range(len(touched) - 1, -1, -1):
        j = np.uint64(touched[t])
        into[n] = j
        n += dots[j] * scale[j] >= least
    return n
