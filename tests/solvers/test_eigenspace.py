"""Leading eigenpairs by value against a dense decomposition."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.solvers.eigenspace import leading_eigenpairs


def indefinite(d, seed=0):
    """Five eigenvalues stand out; the largest in magnitude are negative and must not be taken."""
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    values = np.concatenate([[5, 4, 3, 2, 1.5], rng.uniform(-1, 0.5, size=d - 7), [-8.0, -9.0]])
    return (q * values) @ q.T


@pytest.mark.parametrize("d", [12, 300])
def test_largest_by_value_not_by_magnitude(d):
    matrix = indefinite(d)
    start = np.random.default_rng(1).standard_normal((d, 8))
    found = leading_eigenpairs(lambda block: matrix @ block, start, 5)
    np.testing.assert_allclose(found.values, [5, 4, 3, 2, 1.5], rtol=1e-9)
    assert found.violation <= 1e-9
    np.testing.assert_allclose(matrix @ found.vectors, found.vectors * found.values, atol=1e-7)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(5), atol=1e-12)


def test_warm_start_needs_one_product():
    matrix, calls = indefinite(300), []
    exact = np.linalg.eigh(matrix)[1][:, ::-1][:, :5]

    def apply(block):
        calls.append(block.shape)
        return matrix @ block

    assert leading_eigenpairs(apply, exact, 5).violation < 1e-9
    assert len(calls) == 1


def test_rank_deficient_start_and_matrix():
    d = 300
    one = np.random.default_rng(0).standard_normal((d, 1))
    matrix = one @ one.T
    start = np.hstack([one, one, np.random.default_rng(1).standard_normal((d, 2))])
    found = leading_eigenpairs(lambda block: matrix @ block, start, 4)
    assert found.values[0] == pytest.approx(float((one**2).sum()))
    assert np.isfinite(found.vectors).all() and np.abs(found.values[1:]).max() < 1e-9 * found.values[0]
