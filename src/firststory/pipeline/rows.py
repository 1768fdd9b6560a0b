"""Rows of the vectorizer as unit rows: what evidence and stories are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def unit_rows(rows: sp.csr_matrix, vectorizer: Any) -> sp.csr_matrix:
    """Rows of unit length, (1 + ln x) * idf^1.25, whatever the detector's own rows are: evidence and stories do not
    depend on it. Every row has a term; the counts x of tf-idf rows are found again, see `_counts`."""
    n = vectorizer.n_documents_
    frequency = np.minimum(vectorizer.frequency_of(rows.indices), n)
    idf = np.log((1.0 + n) / (1.0 + frequency)) + 1.0
    counts = _counts(rows, idf) if vectorizer.weighting == "tfidf" else rows.data
    # Two roots make the fifth quarter, and are much quicker than a power.
    data = (1.0 + np.log(np.maximum(counts, 1.0))) * (idf * np.sqrt(np.sqrt(idf)))
    squares = np.concatenate([[0.0], np.cumsum(data * data)])
    lengths = np.sqrt(squares[rows.indptr[1:]] - squares[rows.indptr[:-1]])
    lengths[lengths == 0.0] = 1.0
    return sp.csr_matrix((data / np.repeat(lengths, np.diff(rows.indptr)), rows.indices, rows.indptr), shape=rows.shape)


def without_common(rows: sp.csr_matrix, vectorizer: Any) -> sp.csr_matrix:
    """The rows without the stop words that short texts keep: no theme is made of them."""
    common = vectorizer.is_common(rows.indices)
    if not common.any():
        return rows
    kept = rows.copy()
    kept.data[common] = 0.0
    kept.eliminate_zeros()
    return kept


def _counts(rows: sp.csr_matrix, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts from normed tf-idf: without idf the smallest entry of a row stands for a count of one."""
    bare = rows.data / idf
    smallest = np.minimum.reduceat(bare, rows.indptr[:-1])
    counts: NDArray[np.float64] = np.rint(bare / np.repeat(smallest, np.diff(rows.indptr)))
    return counts
