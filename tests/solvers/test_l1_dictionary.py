"""Learning a dictionary lowers the objective at every step, and ADMM for A finds the linear programme's optimum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from firststory.solvers.initial_atoms import cluster_centres, heavy_words, missing_words, random_documents
from firststory.solvers.l1_coding import code_exactly, objective_of
from firststory.solvers.l1_dictionary import atoms_by_admm, learn_dictionary, start_dictionary


def planted(n=60, m=30, k=4, seed=0):
    rng = np.random.default_rng(seed)
    topics = np.kron(np.eye(k), np.ones(m // k + 1))[:, :m]
    P = np.stack([rng.multinomial(25, topics[t] / topics[t].sum()) for t in rng.integers(k, size=n)])
    return sp.csr_matrix(P / P.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("method", ["subgradient", "admm"])
@pytest.mark.parametrize("over", [1.0, 0.4])
def test_objective_never_rises(method, over):
    P = planted()
    atoms = random_documents(P, 6, np.random.default_rng(1))
    learnt = learn_dictionary(P, atoms, 0.1, over=over, method=method, max_inner=20, max_rounds=8)
    assert len(learnt.history) > 1 and (np.diff(learnt.history) < 0).all()
    # The history is the true objective at both ends.
    codes = code_exactly(P, atoms, 0.1, over=over).codes
    assert learnt.history[0] == pytest.approx(objective_of(P, atoms, codes, 0.1, over).sum())
    final = objective_of(P, learnt.atoms, learnt.coding.codes, 0.1, over).sum()
    assert learnt.history[-1] == pytest.approx(final)
    assert (learnt.atoms.data > 0).all() and (np.asarray(learnt.atoms.sum(axis=1)) <= 1 + 1e-12).all()


def test_admm_for_atoms_reaches_the_linear_programme():
    rng = np.random.default_rng(3)
    P, X = rng.dirichlet(np.full(6, 0.4), size=8), rng.random((8, 2))
    k, m, n = 2, 6, 8
    equal = sp.hstack([sp.kron(sp.csr_matrix(X), sp.eye(m)), sp.eye(n * m), -sp.eye(n * m)]).tocsr()
    mass = sp.hstack([sp.kron(sp.eye(k), np.ones((1, m))), sp.csr_matrix((k, 2 * n * m))]).tocsr()
    cost = np.concatenate([np.zeros(k * m), np.ones(2 * n * m)])
    best = linprog(cost, A_ub=mass, b_ub=np.ones(k), A_eq=equal, b_eq=P.ravel(), method="highs").fun
    update = atoms_by_admm(
        sp.csr_matrix(P), sp.csr_matrix((k, m)), sp.csr_matrix(X), tolerance=1e-6, max_iterations=4000
    )
    assert best - 1e-9 <= update.objective <= best + 1e-3
    assert update.violation <= 1e-6 or update.iterations == 4000


def test_single_words_do_not_move_under_exact_minimisation_but_do_at_the_start():
    P = planted()
    words = heavy_words(P, 8)
    codes = code_exactly(P, words, 0.1).codes
    update = atoms_by_admm(P, words, codes, max_iterations=50)
    np.testing.assert_allclose(update.atoms.toarray(), words.toarray(), atol=1e-9)
    assert start_dictionary(P, words, 0.1, rounds=2).nnz > words.nnz


def test_initial_atoms():
    P = planted()
    assert (heavy_words(P, 100).getnnz(axis=1) <= 1).all() and heavy_words(P, 100).shape == (100, 30)
    drawn = random_documents(P, 100, np.random.default_rng(0))
    assert drawn.shape == (100, 30) and drawn[60:].nnz == 0
    centres = cluster_centres(P, 4, np.random.default_rng(0))
    np.testing.assert_allclose(np.asarray(centres.sum(axis=1)).ravel(), 1.0)
    left = sp.csr_matrix([[0.1, -5.0, 0.4, 0.2]])
    assert missing_words(left, sp.csr_matrix([[0.0, 0.0, 1.0, 0.0]]), 3).tolist() == [3, 0]
