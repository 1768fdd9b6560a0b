"""The non-negative lasso against its optimality conditions and scikit-learn; its dictionary never rises."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import Lasso

from firststory.solvers.l2_coding import atoms_l2, code_l2, learn_dictionary_l2


def problem(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 15)), int(rng.integers(1, 10))
    P = rng.random((3, m)) * (rng.random((3, m)) < 0.6)
    A = rng.random((k, m)) * (rng.random((k, m)) < 0.6)
    A /= np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1.0)
    return P, A


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), squared=st.booleans(), alpha=st.sampled_from([0.05, 0.3]))
def test_codes_satisfy_kkt(seed, squared, alpha):
    P, A = problem(seed)
    coding = code_l2(sp.csr_matrix(P), A, alpha, squared=squared, tolerance=1e-9, max_sweeps=50_000)
    R = P - coding.codes @ A
    norms = np.linalg.norm(R, axis=1)
    loss = norms**2 if squared else norms
    np.testing.assert_allclose(coding.objective, loss + alpha * coding.codes.sum(axis=1), atol=1e-7)
    threshold = np.full(3, alpha / 2) if squared else alpha * norms
    slope = R @ A.T - threshold[:, None]
    assert (coding.codes >= 0).all() and (slope <= 1e-7).all()
    assert np.abs(slope[coding.codes > 0]).max(initial=0.0) <= 1e-7


def test_squared_form_equals_scikit_learn():
    P, A = problem(11)
    m = A.shape[1]
    for p, x in zip(P, code_l2(sp.csr_matrix(P), A, 0.1, tolerance=1e-10).codes, strict=True):
        lasso = Lasso(alpha=0.1 / (2 * m), positive=True, fit_intercept=False, tol=1e-12, max_iter=100_000)
        np.testing.assert_allclose(p - x @ A, p - lasso.fit(A.T, p).coef_ @ A, atol=1e-6)


def test_norm_form_equals_a_general_minimiser():
    P, A = problem(4)
    for p, value in zip(P, code_l2(sp.csr_matrix(P), A, 0.1, squared=False).objective, strict=True):
        solved = minimize(
            lambda x, p=p: np.linalg.norm(p - x @ A) + 0.1 * x.sum(),
            np.full(A.shape[0], 0.05),
            bounds=[(0, None)] * A.shape[0],
            method="L-BFGS-B",
        )
        assert value <= solved.fun + 1e-6


@pytest.mark.parametrize("squared", [True, False])
def test_objective_never_rises_and_atoms_stay_in_the_ball(squared):
    rng = np.random.default_rng(0)
    P = sp.csr_matrix(rng.dirichlet(np.full(20, 0.2), size=30))
    A = np.maximum(rng.random((5, 20)) - 0.5, 0.0)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    coding = code_l2(P, A, 0.02, squared=squared)
    power = 2 if squared else 1
    before = (np.linalg.norm(P.toarray() - coding.codes @ A, axis=1) ** power).sum()
    moved = atoms_l2(P, A, coding.codes, squared=squared)
    assert (np.linalg.norm(P.toarray() - coding.codes @ moved, axis=1) ** power).sum() <= before + 1e-12
    learnt = learn_dictionary_l2(P, A, 0.02, squared=squared)
    assert len(learnt.history) > 2 and (np.diff(learnt.history) <= 0).all()
    assert (learnt.atoms >= 0).all() and (np.linalg.norm(learnt.atoms, axis=1) <= 1 + 1e-12).all()
