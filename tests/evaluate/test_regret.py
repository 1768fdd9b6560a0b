"""Regret and learning curves against direct sums."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from firststory.evaluate.single_topic import squared_distance

U = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])


def test_losses_telescope_for_a_constant_player():
    """The increments of (C6) add up to n |Mbar_n - M(theta)|^2, whatever came before."""
    topics = np.random.default_rng(0).integers(2, size=40)
    w = np.array([0.3, 0.7])
    curve = fs.evaluate.word_space_regret(topics, U, [(w, U)] * 40)
    share = np.bincount(topics, minlength=2) / 40
    # the difference is (share_0 - w_0)(u_0^3 - u_1^3); its largest |T(v, v, v)| on a fine grid of unit vectors
    gap = np.einsum("k,ka,kb,kc->abc", share - w, U, U, U)
    grid = np.random.default_rng(1).standard_normal((50_000, 3))
    grid /= np.linalg.norm(grid, axis=1, keepdims=True)
    norm = np.abs(np.einsum("abc,na,nb,nc->n", gap, grid, grid, grid, optimize=True)).max()
    assert curve[-1] == pytest.approx(40 * norm**2, rel=0.01)


def test_following_the_true_shares_costs_little():
    topics = np.random.default_rng(0).integers(2, size=400)
    shares = [np.full(2, 0.5)] + [np.bincount(topics[:t], minlength=2) / t for t in range(1, 400)]
    curve = fs.evaluate.word_space_regret(topics, U, [(w, U) for w in shares])
    ignorant = fs.evaluate.word_space_regret(topics, U, [(np.array([1.0, 0.0]), U)] * 400)
    assert curve[-1] < 1.0 < ignorant[-1] / 10
    assert curve[-1] / np.log(400) < 2 * curve[39] / np.log(40)  # of the order of log n


@pytest.mark.parametrize("order", ["random", "blocks", "alternating"])
def test_theorem_1_bounds_the_regret_whatever_the_order(order):
    """Whoever plays the last expected tensor loses c^2/t at step t, because the tensors move by at most c/t."""
    n = 300
    topics = {
        "random": np.random.default_rng(4).integers(2, size=n),
        "blocks": np.repeat([0, 1, 0], 100),
        "alternating": np.arange(n) % 2,
    }[order]
    shares = [np.bincount(topics[:t], minlength=2) / max(t, 1) for t in range(n + 1)]
    tensors = [np.einsum("k,ka,kb,kc->abc", share, U, U, U) for share in shares]
    c = 2.0 * np.linalg.norm(U, axis=1).max() ** 3
    moved = [np.linalg.norm(after - before) for before, after in pairwise(tensors)]
    assert all(step <= c / t + 1e-12 for t, step in enumerate(moved, start=1))
    curve = fs.evaluate.word_space_regret(topics, U, [(share, U) for share in shares[:-1]])
    assert np.all(curve <= c**2 * (1.0 + np.log(np.arange(1, n + 1))))


def test_squared_distance_is_the_frobenius_norm_and_blind_to_order():
    rng = np.random.default_rng(2)
    w, u = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(7), size=3)
    v, x = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(7), size=4)
    direct = np.sum(((u.T * w) @ u - (x.T * v) @ x) ** 2)
    assert squared_distance(w, u, v, x) == pytest.approx(direct)
    order = [2, 0, 1]
    assert squared_distance(w, u, w[order], u[order]) == pytest.approx(0.0, abs=1e-15)


def test_learning_curves_average_from_the_second_step():
    rng = np.random.default_rng(3)
    batches = [sp.csr_matrix(rng.multinomial(6, U[t % 2], size=4).astype(float)) for t in range(6)]
    w = np.array([0.5, 0.5])
    curves = fs.evaluate.learning_curves(fs.StepwiseEM(2, random_state=0), batches, w, U)
    model, nll, square = fs.StepwiseEM(2, random_state=0), [], []
    for t, rows in enumerate(batches):
        if t:
            nll.append(model.predictive_nll(rows).mean())
            square.append(squared_distance(w, U, model.weights_, model.topic_word_))
        model.partial_fit(rows)
    assert curves.nll[-1] == pytest.approx(sum(nll) / 6)
    assert curves.recovery[-1] == pytest.approx(sum(square) / 6)
    assert curves.distance[-1] == pytest.approx(sum(np.sqrt(square)) / 6)
    assert curves.nll[0] == 0.0 and len(curves.nll) == 6
