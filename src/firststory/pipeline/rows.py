"""Rows of the vectoriser as unit rows: what evidence and stories are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def unit_rows(rows: sp.csr_matrix, vectoriser: Any) -> sp.csr_matrix:
    """Rows of unit length; counts are weighted as (1 + ln x) * idf^1.25 first, weights are taken as they are."""
    data = rows.data
    if vectoriser.weighting == "count" and data.size:
        columns, where = np.unique(rows.indices, return_inverse=True)
        n = vectoriser.n_documents_
        frequency = np.minimum(vectoriser.document_frequency_[columns], n)
        idf = np.log((1.0 + n) / (1.0 + frequency)) + 1.0
        data = (1.0 + np.log(np.maximum(data, 1.0))) * (idf**1.25)[where]
    squares = np.concatenate([[0.0], np.cumsum(data * data)])
    lengths = np.sqrt(squares[rows.indptr[1:]] - squares[rows.indptr[:-1]])
    lengths[lengths == 0.0] = 1.0
    return sp.csr_matrix((data / np.repeat(lengths, np.diff(rows.indptr)), rows.indices, rows.indptr), shape=rows.shape)
