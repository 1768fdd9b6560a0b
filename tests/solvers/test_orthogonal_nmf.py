"""Orthogonal NMF against its theorems: KKT, monotone descent, the full-rank theorem, and materialised twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.decomposition._nmf import _initialize_nmf

from firststory.datasets.bars import make_bars, mix_bars
from firststory.solvers.gram_nmf import Statistics, stream_step, topic_step
from firststory.solvers.orthogonal_nmf import (
    Coding,
    Stack,
    code_step,
    encode,
    from_documents,
    multiplicative,
    nndsvd,
    objective,
    relate_products,
    relative_residuals,
    sweeps_to_reach,
    violation,
)
from firststory.topics.lineage import match_topics


@pytest.fixture
def stack():
    rng = np.random.default_rng(3)
    rows = sp.random(15, 20, density=0.3, format="csr", random_state=np.random.RandomState(0))
    return Stack(rng.random((20, 4)), rng.random(4), rows)


def materialised(stack: Stack) -> np.ndarray:
    return np.vstack([stack.weights[:, None] * stack.topics.T, stack.rows.toarray()])


def test_the_stack_equals_its_materialised_twin(stack):
    rng = np.random.default_rng(0)
    whole, topics, codes = materialised(stack), rng.random((20, 3)), rng.random((19, 3))
    np.testing.assert_allclose(stack.times(topics), whole @ topics, atol=1e-12)
    np.testing.assert_allclose(stack.transposed_times(codes), whole.T @ codes, atol=1e-12)
    assert stack.squared_norm() == pytest.approx(np.sum(whole**2))
    twin = Stack.of(sp.csr_matrix(whole))
    found = multiplicative(stack, codes, topics, orthogonality=0.03, sweeps=40)
    again = multiplicative(twin, codes, topics, orthogonality=0.03, sweeps=40)
    np.testing.assert_allclose(found.topics, again.topics, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(found.codes, again.codes, rtol=1e-7, atol=1e-10)
    assert found.objective == pytest.approx(again.objective)


def test_objective_and_violation_equal_the_definitions(stack):
    rng = np.random.default_rng(1)
    whole, topics, codes, alpha = materialised(stack), rng.random((20, 3)), rng.random((19, 3)), 0.7
    gamma = 1.0 - np.eye(3)
    direct = np.sum((whole - codes @ topics.T) ** 2) + alpha * np.sum(gamma * (topics.T @ topics))
    assert objective(stack, codes, topics, alpha) == pytest.approx(direct)
    gradient = 2 * (topics @ codes.T @ codes - whole.T @ codes) + 2 * alpha * topics @ gamma
    step = 1e-6
    for place in [(0, 0), (7, 2), (19, 1)]:
        bumped = topics.copy()
        bumped[place] += step
        slope = (objective(stack, codes, bumped, alpha) - objective(stack, codes, topics, alpha)) / step
        assert slope == pytest.approx(gradient[place], rel=1e-3, abs=1e-3)
    assert violation(stack, codes, topics, alpha) > 0.01


def test_multiplicative_updates_never_go_uphill_and_end_at_a_stationary_point():
    rng = np.random.default_rng(2)
    stack = Stack.of(sp.csr_matrix(rng.random((12, 3)) @ rng.random((3, 10))))
    codes, topics = rng.random((12, 3)) + 0.1, rng.random((10, 3)) + 0.1
    fixed = {"start": 0.5, "orthogonality": 0.5, "normalise": False, "relative": False}
    values = [objective(stack, codes, topics, 0.5)]
    for _ in range(60):
        found = multiplicative(stack, codes, topics, sweeps=1, **fixed)
        codes, topics = found.codes, found.topics
        values.append(found.objective)
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    plain = multiplicative(stack, codes, topics, orthogonality=0.0, sweeps=20_000)
    assert plain.violation < 1e-4


@pytest.mark.parametrize("orthogonality", [0.0, 0.0005, 0.001, 0.03, 0.2, 1.0, 10.0])
@pytest.mark.parametrize("growth", [1.02, 1.05, 3.0])
def test_annealing_reaches_the_penalty_in_as_many_sweeps_as_it_says(orthogonality, growth):
    rows = sp.csr_matrix(mix_bars(make_bars(), 8, 0.0, np.random.default_rng(0)))
    start = from_documents(rows, 6, np.random.default_rng(1))
    needed = sweeps_to_reach(orthogonality, growth)
    options = {"orthogonality": orthogonality, "growth": growth}
    assert multiplicative(Stack.of(rows), *start, sweeps=needed, **options).orthogonality == orthogonality
    if needed > 1:
        assert multiplicative(Stack.of(rows), *start, sweeps=needed - 1, **options).orthogonality < orthogonality


def test_full_rank_theorem():
    """Two exact factorisations of one matrix differ by an invertible P, and P is what `relate_products` returns."""
    rng = np.random.default_rng(4)
    old = np.zeros((9, 3))
    for j in range(3):
        old[3 * j : 3 * j + 3, j] = rng.uniform(0.5, 1.0, 3)
    mixing = np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.3], [0.2, 0.0, 1.0]])
    new = old @ np.linalg.inv(mixing).T  # H_old = P H_new, so H_new = P^-1 H_old
    relation = relate_products(old.T @ new, new.T @ new)
    np.testing.assert_allclose(relation, mixing, atol=1e-6)
    codes = rng.random((6, 3))
    np.testing.assert_allclose((codes @ relation) @ new.T, codes @ old.T, atol=1e-6)


def test_short_factorisation_recovers_the_long_one():
    """Exact data: factorising [H; U] gives topics that also factorise the past, W* = [W P; W2]."""
    rng = np.random.default_rng(5)
    topics = np.zeros((12, 3))
    for j in range(3):
        topics[4 * j : 4 * j + 4, j] = rng.uniform(0.5, 1.0, 4)
    topics /= np.linalg.norm(topics, axis=0)
    past, new = rng.random((30, 3)), rng.random((20, 3))
    stack = Stack(topics, np.ones(3), sp.csr_matrix(new @ topics.T))
    start = np.vstack([np.eye(3) + 0.05, new + 0.05])
    found = multiplicative(stack, start, topics + 0.02, orthogonality=0.01, sweeps=3000)
    relation = found.codes[:3]
    rebuilt = np.vstack([past @ relation, found.codes[3:]]) @ found.topics.T
    whole = np.vstack([past, new]) @ topics.T
    assert np.linalg.norm(rebuilt - whole) / np.linalg.norm(whole) < 0.01


def test_codes_satisfy_the_optimality_conditions():
    rng = np.random.default_rng(6)
    topics = rng.random((30, 5))
    rows = sp.random(12, 30, density=0.3, format="csr", random_state=np.random.RandomState(1))
    exact = np.array([nnls(topics, row)[0] for row in rows.toarray()])
    codes = encode(rows, topics)
    np.testing.assert_allclose(codes, exact, atol=1e-6)
    coding = Coding(codes, rows @ topics, topics.T @ topics)
    direct = np.linalg.norm(rows.toarray() - codes @ topics.T, axis=1) / np.linalg.norm(rows.toarray(), axis=1)
    np.testing.assert_allclose(relative_residuals(rows, coding), direct, atol=1e-9)


def test_topic_step_is_the_published_formula():
    """One sweep of (B7), topic by topic, equals the kernel's sweep term by term."""
    rng = np.random.default_rng(7)
    codes, documents = rng.random((25, 4)), rng.random((25, 9))
    statistics = Statistics.empty(9, 4).plus(sp.csr_matrix(documents), codes)
    topics = rng.random((9, 4))
    expected, alpha = topics.copy(), 0.2 * np.trace(statistics.gram) / 4
    for j in range(4):
        others = [other for other in range(4) if other != j]
        pull = statistics.cross[:, j] - expected[:, others] @ (statistics.gram[others, j] + alpha)
        expected[:, j] = np.maximum(0.0, pull / statistics.gram[j, j])
    topic_step(statistics, topics, orthogonality=0.2, sweeps=1)
    np.testing.assert_allclose(topics, expected, atol=1e-10)


def test_statistics_scale_with_the_topics():
    """Unit topics are a matter of bookkeeping: rescaling leaves the reconstruction alone."""
    rng = np.random.default_rng(8)
    rows = sp.csr_matrix(rng.random((20, 10)))
    topics = rng.random((10, 3))
    codes, fitted, now = stream_step(
        rows, topics, Statistics.empty(10, 3), code_step(rows, topics).codes, orthogonality=0.0, rounds=3
    )
    np.testing.assert_allclose(np.linalg.norm(fitted, axis=0), 1.0)
    np.testing.assert_allclose(now.gram, codes.T @ codes, atol=1e-9)
    np.testing.assert_allclose(now.cross, rows.T @ codes, atol=1e-9)


def test_nndsvd_equals_scikit_learn():
    rows = sp.random(40, 30, density=0.3, format="csr", random_state=np.random.RandomState(2))
    seed = int(np.random.default_rng(0).integers(2**31))
    codes, topics = nndsvd(rows, 5, np.random.default_rng(0))
    expected = _initialize_nmf(rows, 5, init="nndsvda", random_state=seed)
    np.testing.assert_allclose(codes, expected[0], atol=1e-9)
    np.testing.assert_allclose(topics.T, expected[1], atol=1e-9)


def test_nndsvd_beyond_the_rank_is_finite_and_non_negative():
    codes, topics = nndsvd(sp.csr_matrix([[1.0, 2.0, 0.0]]), 4, np.random.default_rng(0))
    assert codes.shape == (1, 4) and topics.shape == (3, 4)
    assert np.isfinite(codes).all() and (codes >= 0).all() and (topics >= 0).all()


@pytest.mark.parametrize("crossing", [False, True])
def test_bars_are_recovered_where_plain_nmf_mixes_them(crossing):
    """No image is nearly pure (coefficients on [0.3, 1], 40 images): orthogonality makes the answer unique."""
    factors, recovered = make_bars(crossing=crossing), {0.0: [], 0.03: []}
    for seed in range(3):
        rows = sp.csr_matrix(mix_bars(factors, 40, 0.3, np.random.default_rng(seed)))
        for orthogonality, log in recovered.items():
            rng = np.random.default_rng([seed, 1])  # not the seed of the data: the start must not know the truth
            found = [
                multiplicative(
                    Stack.of(rows),
                    *from_documents(rows, 6, rng),
                    orthogonality=orthogonality,
                    growth=1.02,
                    sweeps=500,
                )
                for _ in range(5)
            ]
            best = min(found, key=lambda factors: factors.objective)
            log.append(bool((match_topics(best.topics.T, factors)[1] > 0.95).all()))
    assert np.mean(recovered[0.03]) == 1.0
    assert np.mean(recovered[0.0]) <= 0.5
