"""Likelihood and expected counts of single-topic models, in one pass over the words that occur.

Word probabilities are given lazily, u_jv = (scale * counts[v, j] + delta) / totals[j], so that nothing of the size of
the vocabulary is computed for a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.jit import kernel

Ints = NDArray[Any]


@kernel
def add_log_likelihood(
    indptr: Ints, indices: Ints, data: Floats, counts: Floats, scale: float, delta: float, totals: Floats, out: Floats
) -> None:
    """out[t, j] += sum_v c_tv log u_jv."""
    k = counts.shape[1]
    for t in range(out.shape[0]):
        length = 0.0
        for p in range(indptr[t], indptr[t + 1]):
            count = data[p]
            length += count
            for j in range(k):
                out[t, j] += count * np.log(scale * counts[indices[p], j] + delta)
        for j in range(k):
            out[t, j] -= length * np.log(totals[j])


@kernel
def add_expected_counts(
    indptr: Ints, indices: Ints, data: Floats, posterior: Floats, factor: float, counts: Floats, gained: Floats
) -> None:
    """counts[v, j] += factor * sum_t c_tv posterior[t, j], and the same summed over words into gained[j]."""
    k = counts.shape[1]
    for t in range(posterior.shape[0]):
        for p in range(indptr[t], indptr[t + 1]):
            for j in range(k):
                part = factor * data[p] * posterior[t, j]
                counts[indices[p], j] += part
                gained[j] += part
