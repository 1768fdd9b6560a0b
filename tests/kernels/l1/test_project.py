"""Projections against the sorting formula and against a quadratic programme solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from firststory.kernels.l1.project import project_rows, simplex_threshold


def by_sorting(v, radius=1.0):
    v = np.maximum(v, 0.0)
    if v.sum() <= radius:
        return v
    u = np.sort(v)[::-1]
    excess = (np.cumsum(u) - radius) / np.arange(1, v.size + 1)
    return np.maximum(v - excess[np.flatnonzero(u > excess)[-1]], 0.0)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(-2, 5, allow_nan=False) | st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=30),
    st.sampled_from([0.3, 1.0, 4.0]),
)
def test_equals_the_sorting_formula(values, radius):
    row = np.array([values])
    matrix = sp.csr_matrix(row)
    project_rows(matrix.indptr, matrix.data, radius)
    np.testing.assert_allclose(matrix.toarray()[0], by_sorting(row[0], radius), atol=1e-12)


def test_equals_a_quadratic_programme():
    rng = np.random.default_rng(0)
    for _ in range(5):
        v = rng.normal(0.3, 1.0, size=6)
        solved = minimize(
            lambda a, v=v: ((a - v) ** 2).sum(),
            np.full(6, 0.1),
            jac=lambda a, v=v: 2 * (a - v),
            bounds=[(0, None)] * 6,
            constraints=[{"type": "ineq", "fun": lambda a: 1 - a.sum(), "jac": lambda a: -np.ones(6)}],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        matrix = sp.csr_matrix(v[None])
        project_rows(matrix.indptr, matrix.data, 1.0)
        np.testing.assert_allclose(matrix.toarray()[0], solved.x, atol=1e-6)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_index_types_and_empty_rows(index):
    data = np.array([0.9, 0.9, 0.2])
    project_rows(np.array([0, 2, 2, 3], dtype=index), data, 1.0)
    np.testing.assert_allclose(data, [0.5, 0.5, 0.2])


def test_huge_values_keep_the_radius():
    v = np.array([1e12, 1e12, 1.0])
    t = simplex_threshold(v, 3, 1.0, np.empty(3))
    assert np.maximum(v - t, 0).sum() == pytest.approx(1.0, abs=1e-3)
