"""What every cluster of a window holds of each common term, gathered from the posting lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.jit import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]


@kernel
def gather_common(
    terms: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    cluster: Slots,
    inverse: Floats,
    n_clusters: int,
    begin: Ints,
    holders: Slots,
    held: Floats,
) -> None:
    """For each of the terms the clusters that hold it, in order, and the sum of their rows' weights / norms.

    `cluster` numbers the clusters from 0 to `n_clusters`; term g has entries begin[g] .. begin[g + 1] of `holders` and
    `held`, which have room for the shorter of the term's list and all of the clusters.
    """
    sums, used = np.zeros(n_clusters), 0
    for g in range(len(terms)):
        v = terms[g]
        for p in range(start[v], start[v] + length[v]):
            j = members[p]
            sums[cluster[j]] += weights[p] * inverse[j]
        begin[g] = used
        for c in range(n_clusters):
            if sums[c] > 0.0:
                holders[used], held[used] = c, sums[c]
                sums[c] = 0.0
                used += 1
    begin[len(terms)] = used
