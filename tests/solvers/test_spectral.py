"""Exact moments give the truth back; finite ones are repaired onto the simplex."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.solvers.spectral import repair_topics, repair_weights, smoothed, spectral_method, whiten
from firststory.topics.lineage import match_topics


def truth(seed, k=4, d=9):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 5.0)), rng.dirichlet(np.full(d, 0.4), size=k), rng


def from_exact_moments(w, u, rng, n_topics=None, **options):
    second = np.einsum("k,ka,kb->ab", w, u, u)
    third = np.einsum("k,ka,kb,kc->abc", w, u, u, u)
    k = n_topics or len(w)
    return spectral_method(
        second,
        lambda frame: np.einsum("abc,ai,bj,ck->ijk", third, frame, frame, frame, optimize=True),
        np.eye(u.shape[1]),
        w @ u,
        k,
        starts=lambda frame: rng.standard_normal((30, frame.shape[1])),
        tolerance=1e-10,
        **options,
    )


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), weighting=st.sampled_from(["tensor", "nnls"]))
def test_exact_moments_return_the_truth(seed, weighting):
    w, u, rng = truth(seed)
    if np.linalg.svd(u * np.sqrt(w)[:, None], compute_uv=False)[-1] < 0.05:
        return  # nearly collinear topics amplify rounding
    found = from_exact_moments(w, u, rng, weighting=weighting)
    order = match_topics(found.topics, u)[0]
    np.testing.assert_allclose(found.topics[order], u, atol=1e-8)
    np.testing.assert_allclose(found.weights[order], w, atol=1e-8)
    assert found.residual < 1e-8


def test_permuting_words_permutes_topics():
    w, u, rng = truth(3)
    shuffle = rng.permutation(u.shape[1])
    plain, moved = from_exact_moments(w, u, rng), from_exact_moments(w, u[:, shuffle], rng)
    order = match_topics(moved.topics, plain.topics[:, shuffle])[0]
    np.testing.assert_allclose(moved.topics[order], plain.topics[:, shuffle], atol=1e-8)
    np.testing.assert_allclose(moved.weights[order], plain.weights, atol=1e-8)


def test_more_topics_asked_for_than_there_are():
    w, u, rng = truth(5, k=2)
    found = from_exact_moments(w, u, rng, n_topics=5)
    assert len(found.weights) == 2
    np.testing.assert_allclose(np.sort(found.weights), np.sort(w), atol=1e-8)


def test_collinear_topics_count_once():
    w, u, rng = truth(6, k=3)
    u[2] = u[1]
    found = from_exact_moments(w, u, rng)
    assert len(found.weights) == 2
    order = match_topics(found.topics, u[:2])[0]
    np.testing.assert_allclose(found.weights[order], [w[0], w[1] + w[2]], atol=1e-8)


def test_whitening_takes_positive_eigenvalues_only():
    moment = np.diag([0.5, 0.2, -3.0, 1e-9])
    found = whiten(moment, 4, 1e-3)
    assert found.rank == 2
    np.testing.assert_allclose(found.frame.T @ moment @ found.frame, np.eye(2), atol=1e-12)
    assert whiten(-np.eye(3), 2, 1e-3).rank == 0 and whiten(np.zeros((0, 0)), 2, 1e-3).rank == 0


def test_repairs():
    rows = repair_topics(np.array([[-0.5, -0.5, 0.1], [0.6, -0.2, 0.6], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(rows, [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [1 / 3] * 3])
    weights = repair_weights(np.array([2.0, 1e-9, 2.0]))  # a lambda near 0 must not take all the weight
    np.testing.assert_allclose(weights, [0.5, 2e-6, 0.5], atol=1e-5)


def test_smoothing_leaves_no_zero_and_fills_missing_topics():
    background = np.array([0.25, 0.75])
    w, u = smoothed(np.array([1.0]), np.array([[1.0, 0.0]]), background, 3, 0.1)
    assert w.sum() == pytest.approx(1.0) and (w > 0).all() and (u > 0).all()
    np.testing.assert_allclose(u.sum(axis=1), 1.0)
    np.testing.assert_allclose(u[1], background)
