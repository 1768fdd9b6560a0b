"""Exact coding against HiGHS on the full, unreduced linear programme; the papers' ADMM against both."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from firststory.solvers.l1_coding import TermMajor, code_by_admm, code_exactly, objective_of


def full_programme(p, atoms, alpha, over=1.0):
    """min alpha 1'x + 1'u + over 1'v  subject to  A x + u - v = p, over every term, nothing screened."""
    k, m = atoms.shape
    cost = np.concatenate([np.full(k, alpha), np.ones(m), np.full(m, over)])
    equal = sp.hstack([sp.csr_matrix(atoms.T), sp.eye(m), -sp.eye(m)]).tocsr()
    return linprog(cost, A_eq=equal, b_eq=p, method="highs", options={"primal_feasibility_tolerance": 1e-10})


def problem(kind, seed):
    rng = np.random.default_rng(seed)
    m, k, n = int(rng.integers(1, 25)), int(rng.integers(1, 30)), 3
    density = {"sparse": 0.15, "dense": 1.0}.get(kind, 0.5)
    P = rng.random((n, m)) * (rng.random((n, m)) < density)
    A = rng.random((k, m)) * (rng.random((k, m)) < density)
    if kind == "degenerate":  # few distinct values: many vertices coincide
        P, A = np.round(2 * P) / 2, np.round(2 * A) / 2
    if kind == "tied":  # every atom twice, and documents that are atoms
        A[k // 2 :] = A[: k - k // 2]
        P[0] = A[0]
    if kind == "adversarial":  # nested supports on very different scales
        A = np.tril(np.ones((k, m))) * 10.0 ** rng.integers(-4, 1, size=(k, 1))
        P *= 10.0 ** rng.integers(-6, 3, size=(n, 1))
    if kind != "adversarial":
        A /= np.maximum(A.sum(axis=1, keepdims=True), 1.0)
    return P, A


KINDS = ["random", "sparse", "dense", "degenerate", "tied", "adversarial"]


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 10_000),
    alpha=st.sampled_from([0.0, 0.01, 0.1, 0.5]),
    over=st.sampled_from([1.0, 0.3]),
    tableau_atoms=st.sampled_from([1, 96]),
)
def test_objective_equals_the_full_programme(kind, seed, alpha, over, tableau_atoms):
    P, A = problem(kind, seed)
    rows, atoms = sp.csr_matrix(P), sp.csr_matrix(A)
    # `tableau_atoms` = 1 sends every document with more than one survivor through column generation.
    coding = code_exactly(rows, atoms, alpha, over=over, duals=True, tableau_atoms=tableau_atoms)
    exact = [full_programme(p, A, alpha, over) for p in P]
    scale = np.maximum(P.sum(axis=1), 1.0)
    np.testing.assert_array_less(np.abs(coding.objective - [e.fun for e in exact]) / scale, 1e-9)
    assert (coding.violation <= 1e-9).all()
    # The codes themselves reach it, and so does the dual: KKT, in one number.
    reached = objective_of(rows, atoms, coding.codes, alpha, over)
    np.testing.assert_array_less(np.abs(reached - coding.objective) / scale, 1e-9)
    assert (coding.codes.data >= 0).all()
    z = coding.duals.toarray()
    assert (z >= 0).all() and (z <= 1 + over + 1e-12).all()
    np.testing.assert_array_less(np.abs(P.sum(axis=1) - (P * z).sum(axis=1) - coding.objective) / scale, 1e-9)
    gain = (1 + over) * (P > 0).astype(float) @ A.T - over * A.sum(axis=1) - alpha
    assert (z @ A.T >= gain - 1e-8).all(), "the dual point is not feasible"
    # Screening never removes an atom that the programme uses.
    for i, solved in enumerate(exact):
        unused = full_programme(P[i], A[gain[i] > 0], alpha, over) if (gain[i] > 0).any() else None
        kept = unused.fun if unused is not None else P[i].sum()
        assert abs(kept - solved.fun) <= 1e-9 * scale[i]


def test_complementary_slackness():
    P, A = problem("random", 3)
    coding = code_exactly(sp.csr_matrix(P), sp.csr_matrix(A), 0.05, duals=True)
    residual = P - coding.codes.toarray() @ A
    z = coding.duals.toarray()
    own = P > 0
    assert (z[own & (residual > 1e-9)] == 0).all() and (z[own & (residual < -1e-9)] == 2).all()
    slack = z @ A.T - (2 * own.astype(float) @ A.T - A.sum(axis=1) - 0.05)
    assert np.abs(slack[coding.codes.toarray() > 0]).max() < 1e-9


def test_five_thousand_exemplar_atoms():
    """Documents as atoms: thousands survive, and the optimum is still HiGHS's."""
    rng = np.random.default_rng(0)
    m, k = 120, 5000
    topics = rng.dirichlet(np.full(m, 0.2), size=4)
    draw = lambda n: np.stack([rng.multinomial(40, topics[t]) for t in rng.integers(4, size=n)]) / 40.0  # noqa: E731
    atoms, P = draw(k), draw(4)
    coding = code_exactly(sp.csr_matrix(P), sp.csr_matrix(atoms), 0.1, duals=True)
    assert coding.survivors.max() > 300
    for i, p in enumerate(P):
        exact = full_programme(p, atoms, 0.1).fun
        assert abs(coding.objective[i] - exact) < 1e-9
        assert abs(p.sum() - p @ coding.duals[i].toarray().ravel() - exact) < 1e-9


def exemplars(seed):
    """Atoms of unit mass over most terms, and documents that are atoms: every vertex near the optimum is degenerate."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(15, 60)), int(rng.integers(30, 60))
    A = rng.dirichlet(np.full(m, 0.5), size=k) * (rng.random((k, m)) < 0.7)
    A /= A.sum(axis=1, keepdims=True)
    return A[rng.integers(k, size=4)], A


def worst_dual_error(P, A, alpha, over, coding):
    """The largest infeasibility of the duals, and gap to the objective."""
    z = coding.duals.toarray()
    gain = (1 + over) * (P > 0).astype(float) @ A.T - over * A.sum(axis=1) - alpha
    infeasible = float((gain - z @ A.T).max())
    return max(infeasible, float(np.abs(P.sum(axis=1) - (P * z).sum(axis=1) - coding.objective).max()))


@pytest.mark.parametrize("tableau_atoms", [1, 96])
@pytest.mark.parametrize("seed", [99, 342, 347, 349, 354, 359, 360, 365, 373, 381, 395, 399])
def test_duals_are_exact_where_a_document_equals_an_atom(seed, tableau_atoms):
    """Seeds for which a drifting tableau once gave duals that were infeasible by 1e-5 to 0.4, and reported 0."""
    P, A = exemplars(seed)
    for alpha, over in ((0.0, 1.0), (0.0, 0.3), (0.1, 1.0), (0.1, 0.3)):
        coding = code_exactly(
            sp.csr_matrix(P), sp.csr_matrix(A), alpha, over=over, duals=True, tableau_atoms=tableau_atoms
        )
        assert coding.survivors.max() >= 20
        assert worst_dual_error(P, A, alpha, over, coding) < 1e-8
        assert (coding.violation < 1e-8).all()
        exact = [full_programme(p, A, alpha, over).fun for p in P]
        np.testing.assert_allclose(coding.objective, exact, atol=1e-9)


def test_duals_are_exact_on_many_exemplar_streams():
    for seed in range(400, 500):
        P, A = exemplars(seed)
        coding = code_exactly(sp.csr_matrix(P), sp.csr_matrix(A), 0.05, over=0.3, duals=True)
        assert worst_dual_error(P, A, 0.05, 0.3, coding) < 1e-8, seed


def test_badly_scaled_atoms_are_solved_or_reported():
    """Atom masses from 1e-5 to 1e6: a document that is not at its optimum says so in `violation`."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        k, m = 20, 15
        A = rng.random((k, m)) * (rng.random((k, m)) < 0.6) * 10.0 ** rng.uniform(-5, 6, size=(k, 1))
        P = rng.random((2, m)) * 5e-5
        coding = code_exactly(sp.csr_matrix(P), sp.csr_matrix(A), 0.1)
        mass = P.sum(axis=1)
        reached = objective_of(sp.csr_matrix(P), sp.csr_matrix(A), coding.codes, 0.1)
        # HiGHS needs help with the scale: documents of unit mass, atoms of at most unit mass with their own price.
        scale = np.maximum(A.sum(axis=1), 1e-300)
        for i in range(2):
            cost = np.concatenate([0.1 / scale, np.ones(2 * m)])
            equal = sp.hstack([sp.csr_matrix((A / scale[:, None]).T), sp.eye(m), -sp.eye(m)]).tocsr()
            exact = linprog(cost, A_eq=equal, b_eq=P[i] / mass[i], method="highs").fun
            off = max(abs(coding.objective[i] / mass[i] - exact), reached[i] / mass[i] - exact)
            assert off < 1e-6 or coding.violation[i] > 1e-9, (seed, i, off)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_index_types_and_threads_give_the_same_bits(index):
    rng = np.random.default_rng(1)
    P = sp.random(700, 60, 0.2, "csr", random_state=rng)
    A = sp.random(30, 60, 0.1, "csr", random_state=rng)
    A = sp.csr_matrix(A.multiply(1 / np.maximum(np.asarray(A.sum(axis=1)), 1.0)))
    base = code_exactly(P, A)
    for matrix in (P, A):
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    again = code_exactly(P, TermMajor.of(A), n_jobs=3)
    np.testing.assert_array_equal(base.objective, again.objective)
    np.testing.assert_array_equal(base.codes.toarray(), again.codes.toarray())


def test_empty_documents_empty_atoms_and_unknown_terms():
    P = sp.csr_matrix([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0]])
    A = sp.csr_matrix([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])  # narrower than the documents
    coding = code_exactly(P, A, 0.1)
    np.testing.assert_allclose(coding.objective, [0.0, 0.55, 1.0])
    assert coding.codes[0].nnz == coding.codes[2].nnz == 0
    nothing = code_exactly(sp.csr_matrix((0, 4)), A)
    assert nothing.objective.shape == (0,) and nothing.codes.shape == (0, 2)


def test_admm_reference_converges_to_the_exact_optimum():
    rng = np.random.default_rng(5)
    P = rng.dirichlet(np.full(20, 0.3), size=6) * (rng.random((6, 20)) < 0.6)
    A = rng.dirichlet(np.full(20, 0.3), size=8)
    exact = code_exactly(sp.csr_matrix(P), sp.csr_matrix(A), 0.1)
    admm = code_by_admm(sp.csr_matrix(P), sp.csr_matrix(A), 0.1, tolerance=1e-6, max_iterations=20_000)
    assert admm.violation.max() <= 1e-6
    assert (admm.objective >= exact.objective - 1e-9).all()
    np.testing.assert_allclose(admm.objective, exact.objective, atol=1e-4)
