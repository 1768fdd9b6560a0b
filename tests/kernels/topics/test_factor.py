"""The kernels of non-negative factorisation against plain NumPy and against an exact solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from firststory.kernels.topics.factor import add_outer, nonnegative_quadratic, row_products


def sweep_twin(gram, linear, solution, sweeps):
    """Cyclic coordinate descent, one coordinate of all rows at a time."""
    x = solution.copy()
    for _ in range(sweeps):
        for j in range(gram.shape[0]):
            if gram[j, j] > 0:
                x[:, j] = np.maximum(0.0, x[:, j] + (linear[:, j] - x @ gram[:, j]) / gram[j, j])
    return x


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), n=st.integers(0, 6), k=st.integers(1, 6), sweeps=st.integers(0, 4))
def test_sweeps_equal_the_plain_twin(seed, n, k, sweeps):
    rng = np.random.default_rng(seed)
    basis = rng.random((k, 8)) * (rng.random((k, 1)) > 0.2)  # some rows are empty: zero on the diagonal
    gram, linear, start = basis @ basis.T, rng.normal(size=(n, k)), rng.random((n, k))
    expected = sweep_twin(gram, linear, start, sweeps)
    nonnegative_quadratic(gram, linear, start, sweeps, 0.0)
    np.testing.assert_allclose(start, expected, rtol=1e-9, atol=1e-12)


def test_converges_to_the_exact_nonnegative_least_squares():
    rng = np.random.default_rng(0)
    basis, targets = rng.random((5, 12)), rng.normal(size=(20, 12))
    found = np.zeros((20, 5))
    nonnegative_quadratic(basis @ basis.T, targets @ basis.T, found, 5000, 1e-14)
    exact = np.array([nnls(basis.T, target)[0] for target in targets])
    np.testing.assert_allclose(found, exact, atol=1e-8)


def test_not_a_number_stays_visible():
    linear = np.array([[np.nan, 1.0], [1.0, 1.0]])
    found = np.zeros((2, 2))
    nonnegative_quadratic(np.eye(2), linear, found, 3, 1e-9)
    assert np.isnan(found[0, 0])
    np.testing.assert_array_equal(found[1], [1.0, 1.0])


@pytest.mark.parametrize("index", [np.int32, np.int64])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31), n=st.integers(0, 5), width=st.integers(1, 9))
def test_sparse_products_equal_dense_ones(index, seed, n, width):
    rng = np.random.default_rng(seed)
    rows = sp.random(n, width, density=0.4, format="csr", random_state=np.random.RandomState(seed % 2**32))
    indptr, indices = rows.indptr.astype(index), rows.indices.astype(index)
    codes, topics, cross = rng.random((n, 3)), rng.random((width, 3)), rng.random((width, 3))
    out = np.full((n, 3), np.nan)
    row_products(indptr, indices, rows.data, topics, out)
    np.testing.assert_allclose(out, rows.toarray() @ topics, atol=1e-12)
    expected = cross + rows.toarray().T @ codes
    add_outer(indptr, indices, rows.data, codes, cross)
    np.testing.assert_allclose(cross, expected, atol=1e-12)


def test_terms_beyond_the_topics_count_for_nothing():
    out = np.empty((1, 2))
    row_products(np.array([0, 2]), np.array([1, 3_000_000_000]), np.array([2.0, 5.0]), np.ones((2, 2)), out)
    np.testing.assert_array_equal(out, [[2.0, 2.0]])
