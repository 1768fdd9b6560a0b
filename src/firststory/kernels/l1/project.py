"""Projections onto the sets that constrain an atom: the l1 ball's non-negative part, and the l2 ball's."""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.kernels.jit import kernel

Array = np.ndarray[Any, Any]


@kernel
def simplex_threshold(values: Array, n: int, radius: float, work: Array) -> float:
    """The t for which max(values[:n] - t, 0) sums to `radius`; needs values >= 0 that sum to more than that.

    Condat (2016), Fast projection onto the simplex and the l1 ball, Figure 2. `work` is scratch of length >= n: the
    candidates are work[first:last], and those set aside for a second look stand to their left.
    """
    work[0] = values[0]
    first = 0
    last = 1
    threshold = values[0] - radius
    for i in range(1, n):
        v = values[i]
        if v > threshold:
            threshold += (v - threshold) / (last - first + 1)
            if threshold <= v - radius:
                first = last
                threshold = v - radius
            work[last] = v
            last += 1
    for i in range(first - 1, -1, -1):
        if work[i] > threshold:
            first -= 1
            work[first] = work[i]
            threshold += (work[first] - threshold) / (last - first)
    while True:
        before = last - first
        kept = first
        size = before
        for i in range(first, last):
            v = work[i]
            if v > threshold or size == 1:
                work[kept] = v
                kept += 1
            else:
                size -= 1
                threshold += (threshold - v) / size
        last = kept
        if last - first == before:
            return float(threshold)


@kernel
def project_rows(indptr: Array, data: Array, radius: float) -> None:
    """Each CSR row becomes its nearest point of {v >= 0, sum v <= radius}, in place (zeros are not removed)."""
    widest = 0
    for row in range(indptr.shape[0] - 1):
        widest = max(widest, indptr[row + 1] - indptr[row])
    work = np.empty(widest)
    for row in range(indptr.shape[0] - 1):
        total = 0.0
        for q in range(indptr[row], indptr[row + 1]):
            if data[q] < 0.0:
                data[q] = 0.0
            total += data[q]
        if total > radius:
            values = data[indptr[row] : indptr[row + 1]]
            threshold = simplex_threshold(values, values.shape[0], radius, work)
            for q in range(values.shape[0]):
                values[q] = max(values[q] - threshold, 0.0)
