"""Sparse rows as kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats, Ints


class Csr(NamedTuple):
    """The three arrays of a CSR matrix: row i has the terms `indices[indptr[i] : indptr[i + 1]]`."""

    indptr: Ints
    indices: Ints
    data: Floats


def csr_of(rows: sp.csr_matrix) -> Csr:
    """The arrays of `rows`, with 64-bit indices: a kernel is then compiled once and not once per index type."""
    return Csr(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)
