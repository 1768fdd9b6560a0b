"""What a row's judgement reads of each earlier row and cluster, side by side: one line of cache each, not five.

`lanes[slot]` and `c_lanes[cluster]` repeat what the arrays of the index say; their first entries are the scratch in
which dot products and sums grow, zero before and after every row. They follow from the index and are no state.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.jit import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]

DOT, INVERSE, BORN, CLUSTER = 0, 1, 2, 3
SUM, SQUARE, MEAN = 0, 1, 2
"""Of a cluster: the sum of cosines, the square of its length, and what an average row of it adds by common terms."""


@kernel
def accumulate_lanes(
    terms: Ints,
    values: Floats,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    lanes: Floats,
    touched: Ints,
    many: int,
) -> int:
    """Add every product of shared terms into the rows' lanes; returns how many rows were touched.

    The touched ones are listed, unless there are so many products that looking at every slot is cheaper (`many`):
    then -1 is returned.
    """
    total = 0
    for a in range(len(terms)):
        if terms[a] < len(start):
            total += length[terms[a]]
    n = 0
    for a in range(len(terms)):
        v, q = terms[a], values[a]
        if v >= len(start):
            continue  # a term that the past never had
        begin = start[v]
        end = begin + length[v]
        if total > many:
            for p in range(begin, end):
                lanes[members[p], DOT] += q * weights[p]
        else:
            for p in range(begin, end):
                j, product = members[p], q * weights[p]
                before = lanes[j, DOT]
                touched[n] = j  # stays only if n moves on: no branch to guess
                n += before == 0.0 and product > 0.0
                lanes[j, DOT] = before + product
    return -1 if total > many else n
