"""The sparse OIADMM step against Algorithm 2 as printed, and the two theorems as tests."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from firststory.kernels.l1.project import project_rows
from firststory.solvers import atom_moves
from firststory.solvers.l1_coding import code_exactly
from firststory.solvers.online_admm import (
    fit_rows,
    inner_steps,
    online_step,
    online_step_dense,
    step_size,
    subgradient_step,
)
from firststory.solvers.spectrum import largest_eigenvalue


def random_rows(rng, n, m, density=0.4):
    return rng.random((n, m)) * (rng.random((n, m)) < density)


def padded(dense, n, m):
    out = np.zeros((n, m))
    rows = min(n, dense.shape[0])
    out[:rows, : dense.shape[1]] = dense[:rows]
    return out


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), beta=st.sampled_from([0.5, 5.0, 50.0]), over=st.sampled_from([1.0, 0.4]))
def test_sparse_equals_dense_over_chained_steps(seed, beta, over):
    """Growing vocabulary, changing numbers of documents, carried multipliers: equal to 1e-12 all the way."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(2, 12)), int(rng.integers(1, 7))
    A = random_rows(rng, k, m)
    A /= np.maximum(A.sum(axis=1, keepdims=True), 1.0)
    atoms, Delta, delta = sp.csr_matrix(A), np.zeros((1, m)), None
    for t in range(5):
        n, m = int(rng.integers(1, 8)), m + int(rng.integers(0, 3))
        P, X = random_rows(rng, n, m), random_rows(rng, n, k)
        A, Delta = padded(A, k, m), padded(Delta, n, m)
        tau = step_size(sp.csr_matrix(X))
        A, Delta, Gamma = online_step_dense(P, A, X, Delta, beta, tau, over)
        step = online_step(
            sp.csr_matrix(P),
            sp.csr_matrix((atoms.data, atoms.indices, atoms.indptr), shape=(k, m)),
            sp.csr_matrix(X),
            fit_rows(delta, n, m),
            beta=beta,
            over=over,
            n_jobs=1 + t % 2,
        )
        atoms, delta = step.atoms, step.multipliers
        assert step.tau == tau
        np.testing.assert_allclose(atoms.toarray(), A, atol=1e-12)
        np.testing.assert_allclose(delta.toarray(), Delta, atol=1e-12)
        assert step.violation == pytest.approx(((Gamma - (P - X @ A)) ** 2).sum(), abs=1e-12)
        assert (A >= 0).all() and (A.sum(axis=1) <= 1 + 1e-12).all()


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    beta=st.sampled_from([0.5, 5.0, 50.0]),
    over=st.sampled_from([1.0, 0.4]),
    gram=st.booleans(),
    index=st.sampled_from([np.int32, np.int64]),
)
def test_inner_steps_equal_dense_steps_on_the_same_documents(seed, beta, over, gram, index):
    """Delta is never formed, clipped often (beta = 50) or hardly: the atoms are those of Algorithm 2, to 1e-12."""
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(1, 9)), int(rng.integers(2, 14)), int(rng.integers(1, 7))
    P, X, A = random_rows(rng, n, m), random_rows(rng, n, k), random_rows(rng, k, m)
    A /= np.maximum(A.sum(axis=1, keepdims=True), 1.0)
    rows = [sp.csr_matrix(part) for part in (P, A, X)]
    for part in rows:
        part.indptr, part.indices = part.indptr.astype(index), part.indices.astype(index)
    tau = step_size(rows[2])
    with pytest.MonkeyPatch.context() as patch:
        if not gram:
            patch.setattr(atom_moves, "GRAM_ATOMS", 0)
        learnt = [inner_steps(*rows, steps, beta=beta, tau=tau, over=over, n_jobs=1 + steps % 2) for steps in range(6)]
    Delta = np.zeros((n, m))
    for atoms in learnt:
        np.testing.assert_allclose(atoms.toarray(), A, atol=1e-12)
        A, Delta, _ = online_step_dense(P, A, X, Delta, beta, tau, over)


@pytest.mark.parametrize("gram", [True, False])
def test_many_terms_and_atoms_take_every_path_of_the_term_kernel(gram, monkeypatch):
    """Rare and frequent terms, held and not, many blocks: still the dense letter, whatever the threads."""
    rng = np.random.default_rng(5)
    n, m, k = 40, 700, 60
    monkeypatch.setattr(atom_moves, "GRAM_ATOMS", 1024 if gram else 0)
    monkeypatch.setattr(atom_moves, "FREQUENT_TERMS", 20)
    monkeypatch.setattr(atom_moves, "BLOCK_TERMS", 64)
    P = random_rows(rng, n, m, 0.05) + np.pad(random_rows(rng, n, 30, 0.8), ((0, 0), (0, m - 30)))
    P /= P.sum(axis=1, keepdims=True)
    X = 0.3 * random_rows(rng, n, k, 0.1)
    X[:, -1] = 0.0  # no document uses the last atom: it stays
    A = random_rows(rng, k, m, 0.01) + 0.01 * np.pad(np.eye(k), ((0, 0), (0, m - k)))
    A /= np.maximum(A.sum(axis=1, keepdims=True), 1.0)
    rows, atoms, codes = sp.csr_matrix(P), sp.csr_matrix(A), sp.csr_matrix(X)
    tau, last = step_size(codes), atoms[-1].toarray()
    one, two = (online_step(rows, atoms, codes, tau=tau, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert (one.atoms != two.atoms).nnz == 0 and (one.multipliers != two.multipliers).nnz == 0
    dense, Delta, _ = online_step_dense(P, A, X, np.zeros((n, m)), tau=tau)
    np.testing.assert_allclose(one.atoms.toarray(), dense, atol=1e-12)
    np.testing.assert_allclose(one.multipliers.toarray(), Delta, atol=1e-12)
    for _ in range(4):
        dense, Delta, _ = online_step_dense(P, dense, X, Delta, tau=tau)
    inner = inner_steps(rows, atoms, codes, 5, tau=tau)
    np.testing.assert_allclose(inner.toarray(), dense, atol=1e-12)
    np.testing.assert_array_equal(inner[-1].toarray(), last)


def best_in_hindsight(P, X, k, m):
    """min_{A in C} sum_t |P_t - X_t A|_1 by HiGHS, and the A that reaches it."""
    P, X = np.vstack(P), np.vstack(X)
    n = P.shape[0]
    # Variables A (k*m, row by row), U and V (n*m): X A + U - V = P.
    fit = sp.kron(sp.csr_matrix(X), sp.eye(m))
    equal = sp.hstack([fit, sp.eye(n * m), -sp.eye(n * m)]).tocsr()
    cost = np.concatenate([np.zeros(k * m), np.ones(2 * n * m)])
    mass = sp.hstack([sp.kron(sp.eye(k), np.ones((1, m))), sp.csr_matrix((k, 2 * n * m))]).tocsr()
    solved = linprog(cost, A_ub=mass, b_ub=np.ones(k), A_eq=equal, b_eq=P.ravel(), method="highs")
    return solved.fun, solved.x[: k * m].reshape(k, m)


def adversary(rng, A, n, k, m):
    """Documents on the terms that the present atoms hold least, alternating: whatever was learnt is wrong."""
    P = np.zeros((n, m))
    P[np.arange(n), np.argsort(A.sum(axis=0) + 1e-9 * rng.random(m))[np.arange(n) % m]] = 1.0
    return P


@pytest.mark.parametrize("stream", ["random", "adversarial", "alternating"])
@pytest.mark.parametrize("seed", [0, 1])
def test_regret_and_violation_stay_within_the_theorem(stream, seed):
    """With the constant of the derivation: the telescoped sum is Phi^2 T / (2 beta) + D^2 beta / (2 tau).

    At beta = (Phi / D) sqrt(tau T) that is Phi D sqrt(T) / sqrt(tau); the printed bound has half of it.
    """
    rng = np.random.default_rng(seed)
    n, m, k, T = 3, 6, 2, 25
    X = [random_rows(rng, n, k, 0.8) + 0.1 * (stream != "random") for _ in range(T)]
    tau = min(1.0 / (2 * largest_eigenvalue(sp.csr_matrix(x))) for x in X)
    # |Lam| <= 1 entry by entry, so a subgradient of the l1 norm has Frobenius norm at most sqrt(n m) = Phi;
    # |A|_F <= |A|_1 row by row <= 1, so D = sqrt(k).
    Phi, D = np.sqrt(n * m), np.sqrt(k)
    beta = Phi / D * np.sqrt(tau * T)
    A, Delta = np.zeros((k, m)), np.zeros((n, m))
    P, loss, violation = [], 0.0, 0.0
    for t in range(T):
        if stream == "random":
            P.append(rng.dirichlet(np.full(m, 0.3), size=n))
        elif stream == "adversarial":
            P.append(adversary(rng, A, n, k, m))
        else:
            P.append(np.eye(m)[[(t % 2) * 3 + i for i in range(n)]])
        loss += np.abs(P[t] - X[t] @ A).sum()
        step = online_step(
            sp.csr_matrix(P[t]), sp.csr_matrix(A), sp.csr_matrix(X[t]), sp.csr_matrix(Delta), beta=beta, tau=tau
        )
        A, Delta = step.atoms.toarray(), step.multipliers.toarray()
        violation += step.violation
    least, best = best_in_hindsight(P, X, k, m)
    assert np.linalg.norm(best) <= D + 1e-9
    regret = loss - least
    assert regret <= Phi**2 * T / (2 * beta) + D**2 * beta / (2 * tau) + 1e-9
    assert regret <= Phi * D * np.sqrt(T / tau) + 1e-9
    upsilon = max(np.abs(p - x @ best).sum() for p, x in zip(P, X, strict=True))
    assert violation <= 2 * D**2 / tau + 4 * upsilon * D / (Phi * np.sqrt(tau)) * np.sqrt(T) + 1e-9


def test_subgradient_step_follows_the_gradient_of_the_whole_objective():
    """A subgradient for fixed codes, the derivative with codes re-optimised; and the sparse step is the dense one."""
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.full(15, 0.2), size=6) * (rng.random((6, 15)) < 0.7)
    A = rng.dirichlet(np.full(15, 0.3), size=4)
    rows, atoms = sp.csr_matrix(P), sp.csr_matrix(A)
    for over in (1.0, 0.4):
        coding = code_exactly(rows, atoms, 0.05, over=over, duals=True)
        X = coding.codes.toarray()
        Lam = np.where(P > 0, 1.0 - coding.duals.toarray(), -over)
        assert (X.sum(axis=0) > 0).any()
        loss = lambda R, over=over: np.maximum(R, 0).sum() + over * np.maximum(-R, 0).sum()  # noqa: E731
        for _ in range(20):
            B = rng.dirichlet(np.full(15, 0.3), size=4)
            assert loss(P - X @ B) >= loss(P - X @ A) - (Lam * (X @ (B - A))).sum() - 1e-9
            nearby = sp.csr_matrix(A + 1e-7 * (B - A))
            change = code_exactly(rows, nearby, 0.05, over=over).objective.sum() - coding.objective.sum()
            assert change / 1e-7 == pytest.approx(-(Lam * (X @ (B - A))).sum(), abs=1e-5)
        moved = sp.csr_matrix(np.maximum(A + 0.3 * X.T @ Lam, 0.0))
        project_rows(moved.indptr, moved.data, 1.0)
        step = subgradient_step(rows, atoms, coding.codes, coding.duals, step=0.3, over=over)
        np.testing.assert_allclose(step.toarray(), moved.toarray(), atol=1e-12)


def test_most_keeps_the_largest_multipliers():
    rng = np.random.default_rng(3)
    P, X, A = random_rows(rng, 4, 30), random_rows(rng, 4, 3), random_rows(rng, 3, 30) / 30
    args = sp.csr_matrix(P), sp.csr_matrix(A), sp.csr_matrix(X)
    whole, cut = online_step(*args).multipliers.toarray(), online_step(*args, most=5).multipliers.toarray()
    for row, kept in zip(whole, cut, strict=True):
        assert np.count_nonzero(kept) == 5
        np.testing.assert_array_equal(np.sort(np.abs(kept))[-5:], np.sort(np.abs(row))[-5:])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_largest_eigenvalue_is_an_upper_bound_and_tight(seed):
    rng = np.random.default_rng(seed)
    Z = random_rows(rng, int(rng.integers(1, 9)), int(rng.integers(1, 9)), 0.5)
    true = np.linalg.norm(Z, 2) ** 2
    bound = largest_eigenvalue(sp.csr_matrix(Z))
    assert true * (1 - 1e-12) <= bound <= 1.02 * true + 1e-12
