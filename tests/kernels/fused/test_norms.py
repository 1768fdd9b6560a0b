"""Norms of all rows, two at a time, are those that one row after the other would have."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from firststory.kernels.fused.index import FusedIndex
from firststory.kernels.fused.layout import Batch
from firststory.kernels.fused.norms import weigh_rows
from firststory.kernels.fused.rule import Rule
from firststory.kernels.neighbours.window import NEXT, OLDEST

RULE = Rule()


@pytest.mark.parametrize(("n", "window"), [(1, 50), (2, 50), (37, 50), (180, 50), (181, 51)])
def test_norms_are_to_the_bit_those_of_each_row_alone(n, window):
    rng = np.random.default_rng(n)
    dense = np.where(rng.random((n, 30)) < np.linspace(0.9, 0.02, 30), 1.0 + rng.random((n, 30)), 0.0)
    dense[:, 0] = 1.0
    rows = sp.csr_matrix(dense)
    index = FusedIndex()
    batch = Batch(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)
    index.follow(batch, None, width=30, k=3, window=window, max_age=math.inf, max_postings=10**6, rule=RULE)
    index.idf2[:] = 0.5 + rng.random(30)
    index.common[:] = rng.random(30) < 0.4
    weigh_rows(index.past(RULE).window, index.idf2)
    for ordinal in range(index.meta[OLDEST], index.meta[NEXT]):
        total, frequent, slot = 0.0, 0.0, ordinal % len(index.born)
        for v in np.flatnonzero(dense[ordinal]):
            square = dense[ordinal, v] * dense[ordinal, v] * index.idf2[v]
            total += square
            frequent += square if index.common[v] else 0.0
        assert index.inverse[slot] == 1.0 / math.sqrt(total + 1e-30)
        assert index.scale[slot] == np.float32(index.inverse[slot])
        assert math.sqrt(frequent / total) <= index.share[slot] <= 1.00001 * math.sqrt(frequent / total)
