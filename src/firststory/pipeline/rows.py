"""Counts of the vectorizer as unit rows: what evidence, stories and topics are made of."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from firststory.pipeline.protocols import Vectorizer


def unit_rows(counts: sp.csr_matrix, vectorizer: Vectorizer) -> sp.csr_matrix:
    """Counts x as rows of unit length, (1 + ln x) * idf^1.25: evidence and stories do not depend on the detector's
    own rows. Every row has a term."""
    n = vectorizer.n_documents_
    frequency = np.minimum(vectorizer.frequency_of(counts.indices), n)
    idf = np.log((1.0 + n) / (1.0 + frequency)) + 1.0
    # Two roots make the fifth quarter, and are much quicker than a power.
    data = (1.0 + np.log(np.maximum(counts.data, 1.0))) * (idf * np.sqrt(np.sqrt(idf)))
    squares = np.concatenate([[0.0], np.cumsum(data * data)])
    lengths = np.sqrt(squares[counts.indptr[1:]] - squares[counts.indptr[:-1]])
    lengths[lengths == 0.0] = 1.0
    data /= np.repeat(lengths, np.diff(counts.indptr))
    return sp.csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape)


def without_common(rows: sp.csr_matrix, vectorizer: Vectorizer) -> sp.csr_matrix:
    """The rows without the stop words that short texts keep: no topic is made of them."""
    common = vectorizer.is_common(rows.indices)
    if not common.any():
        return rows
    kept = rows.copy()
    kept.data[common] = 0.0
    kept.eliminate_zeros()
    return kept
