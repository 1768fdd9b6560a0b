"""The yardstick of the fused experiments: TF-IDF of the past, cosine to the nearest earlier document, no times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.detectors.nearest_neighbour import NearestNeighbour


def tfidf_steps(counts: sp.csr_matrix, step: int) -> Iterator[sp.csr_matrix]:
    """(1 + ln x) idf with the idf of the past, `step` documents at a time."""
    rows, seen = counts.copy(), np.zeros(counts.shape[1])
    rows.data = 1.0 + np.log(np.maximum(rows.data, 1.0))
    for begin in range(0, rows.shape[0], step):
        block = rows[begin : begin + step].copy()
        block.data *= (np.log((1.0 + begin) / (1.0 + seen)) + 1.0)[block.indices]
        seen += np.bincount(block.indices, minlength=rows.shape[1])
        yield block


def tfidf_rows(counts: sp.csr_matrix) -> sp.csr_matrix:
    """What `tfidf_steps` gives one document at a time, without a look at every term for each of them."""
    rows, seen = counts.astype(np.float64), np.zeros(counts.shape[1])
    rows.data = 1.0 + np.log(np.maximum(rows.data, 1.0))
    for i in range(rows.shape[0]):
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        terms = rows.indices[own]
        rows.data[own] *= np.log((1.0 + i) / (1.0 + seen[terms])) + 1.0
        seen[terms] += 1.0
    return rows


def plain_neighbour(counts: sp.csr_matrix) -> NDArray[np.float64]:
    """Novelty of each document: one minus its best cosine."""
    scores: NDArray[np.float64] = NearestNeighbour(n_neighbours=1).score_then_learn(tfidf_rows(counts))
    return scores
