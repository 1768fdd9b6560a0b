"""What every cluster of a window holds of each common term, gathered by a counting sort."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.jit import kernel
from firststory.kernels.window import NEXT, OLDEST

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]


@kernel
def by_cluster(meta: Ints, cluster: Slots, n_slots: int) -> Ints:
    """The slots of the window ordered by cluster (counting sort; within a cluster by age)."""
    begin = np.zeros(n_slots + 1, np.int64)
    for ordinal in range(meta[OLDEST], meta[NEXT]):
        begin[cluster[ordinal % n_slots] + 1] += 1
    for c in range(n_slots):
        begin[c + 1] += begin[c]
    order = np.empty(meta[NEXT] - meta[OLDEST], np.int64)
    for ordinal in range(meta[OLDEST], meta[NEXT]):
        slot = ordinal % n_slots
        order[begin[cluster[slot]]] = slot
        begin[cluster[slot]] += 1
    return order


@kernel
def count_common(
    order: Ints, cluster: Slots, log_start: Ints, log_length: Ints, log_terms: Slots, common: Slots, n_common: int
) -> Ints:
    """How many clusters hold each common term, as the beginnings of their lists."""
    begin, last = np.zeros(n_common + 1, np.int64), np.full(n_common, -1, np.int64)
    for slot in order:
        for a in range(log_start[slot], log_start[slot] + log_length[slot]):
            g = common[log_terms[a]]
            if g >= 0 and last[g] != cluster[slot]:
                last[g] = cluster[slot]
                begin[g + 1] += 1
    for g in range(n_common):
        begin[g + 1] += begin[g]
    return begin


@kernel
def sum_common(
    order: Ints,
    cluster: Slots,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    inverse: Floats,
    common: Slots,
    begin: Ints,
    holders: Slots,
    held: Floats,
) -> None:
    """For each common term the clusters that hold it and the sum of their rows' weights / norms."""
    place, last = begin[:-1] - 1, np.full(len(begin) - 1, -1, np.int64)
    for slot in order:
        c = cluster[slot]
        for a in range(log_start[slot], log_start[slot] + log_length[slot]):
            g = common[log_terms[a]]
            if g >= 0:
                if last[g] != c:
                    last[g] = c
                    place[g] += 1
                    holders[place[g]], held[place[g]] = c, 0.0
                held[place[g]] += log_weights[a] * inverse[slot]
