"""The pieces of column generation against NumPy: the rebuilt tableau, and what codes and prices are worth."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from firststory.kernels.l1.column_generation import largest, optimality, rebuilt
from firststory.kernels.l1.layout import Basis, ByTerm, Covered, Solution, Survivors, Tableau


def problem(seed, k=6, m=9):
    rng = np.random.default_rng(seed)
    A = rng.random((k, m)) * (rng.random((k, m)) < 0.7)
    p, gain = rng.random(m), rng.random(k)
    by_term = sp.csc_matrix(A)
    atoms = ByTerm(by_term.indptr, by_term.indices, by_term.data)
    covered = Covered(np.arange(m), p, np.arange(m))
    survivors = Survivors(np.arange(k), gain, np.arange(k))
    return rng, A, p, gain, atoms, covered, survivors


@pytest.mark.parametrize("seed", range(10))
def test_the_rebuilt_tableau_is_that_of_its_basis(seed):
    """values, entries and slopes from the linear system x A + slack = p, solved by NumPy."""
    rng, A, p, gain, atoms, covered, survivors = problem(seed)
    k, m = A.shape
    codes, cap = rng.choice(k, 3, replace=False), 1.6
    basis = Basis(k + np.arange(m), p.copy(), np.zeros(m, bool))
    basis.basic[rng.choice(m, 3, replace=False)] = codes
    tableau = Tableau(np.zeros((1, m)), np.zeros(1), np.zeros(1, np.int64))
    scratch = np.full(k, -1, np.int64)
    tableau, n = rebuilt(tableau, basis, covered, m, atoms, survivors, k, cap, scratch, np.zeros(k, bool))
    # Unknowns: k codes, then m slacks; one equation per row.
    system = np.hstack([A.T, np.eye(m)])
    inverse = np.linalg.inv(system[:, basis.basic])
    values = inverse @ p
    code = basis.basic < k
    np.testing.assert_allclose(basis.value, np.where(code, np.maximum(values, 0.0), values), atol=1e-12)
    assert set(basis.basic[code]) <= set(codes.tolist()) and n == 3
    cost = np.where(code, -gain[np.minimum(basis.basic, k - 1)], np.where(values < 0, -cap, 0.0))
    for c in range(n):
        j = tableau.nonbasic[c]
        entries = inverse @ system[:, j]
        np.testing.assert_allclose(tableau.entries[c, :m], entries, rtol=1e-9, atol=1e-12)
        own = -gain[j] if j < k else 0.0
        assert tableau.slope[c] == pytest.approx(own - cost @ entries, rel=1e-9, abs=1e-12)


def test_the_worth_of_codes_and_prices():
    rng, A, p, gain, atoms, covered, survivors = problem(3)
    k, m = A.shape
    x, z = rng.random(k), rng.random(m)
    solution = Solution(z, x, np.zeros(k))
    infeasible, change, promised = optimality(covered, m, atoms, survivors, k, 1.6, solution)
    assert infeasible == pytest.approx(max(0.0, (gain - A @ z).max()))
    assert change == pytest.approx(-gain @ x + 1.6 * np.maximum(x @ A - p, 0.0).sum())
    assert promised == pytest.approx(-p @ z)


def test_the_largest_values_above_a_limit():
    values = np.array([0.3, 0.9, -1.0, 0.9, 0.1, 0.5])
    chosen = np.zeros(3, np.int64)
    count = largest(values, 6, 3, 0.2, chosen)
    assert count == 3 and values[chosen].tolist() == [0.9, 0.9, 0.5]
    assert largest(values, 6, 3, 0.95, chosen) == 0
