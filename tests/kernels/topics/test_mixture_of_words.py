"""The likelihood kernels against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from firststory.kernels.topics.mixture_of_words import add_expected_counts, add_log_likelihood


def rows_of(dtype):
    rows = sp.csr_matrix(np.random.default_rng(0).poisson(0.7, size=(9, 12)).astype(float))
    rows.indices, rows.indptr = rows.indices.astype(dtype), rows.indptr.astype(dtype)
    return rows


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_log_likelihood(dtype):
    rows, rng = rows_of(dtype), np.random.default_rng(1)
    counts, totals = rng.random((12, 3)), rng.random(3) + 1
    out = rng.random((9, 3))
    expected = out + rows @ np.log((0.5 * counts + 0.1) / totals)
    add_log_likelihood(rows.indptr, rows.indices, rows.data, counts, 0.5, 0.1, totals, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_expected_counts(dtype):
    rows, rng = rows_of(dtype), np.random.default_rng(2)
    posterior, counts, gained = rng.random((9, 3)), rng.random((12, 3)), np.zeros(3)
    added = 0.25 * (rows.T @ posterior)
    expected = counts + added
    add_expected_counts(rows.indptr, rows.indices, rows.data, posterior, 0.25, counts, gained)
    np.testing.assert_allclose(counts, expected, rtol=1e-12)
    np.testing.assert_allclose(gained, added.sum(axis=0), rtol=1e-12)


def test_empty_rows_and_impossible_words():
    out = np.zeros((2, 1))
    rows = sp.csr_matrix([[0.0, 0.0], [1.0, 0.0]])
    add_log_likelihood(rows.indptr, rows.indices, rows.data, np.zeros((2, 1)), 1.0, 0.0, np.ones(1), out)
    assert out[0, 0] == 0.0 and out[1, 0] == -np.inf
