"""Empirical Bayes: optimality conditions, likelihoods on a grid, and values planted by simulation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma, gammaln

from firststory.solvers.empirical_bayes import (
    base_measure,
    base_precision,
    concentration,
    concentration_over_time,
    digamma_rise,
    precision_gradient,
    rate,
    rate_log_likelihood,
)


def simulated_clusters(precision, base, n=60, length=400, seed=0):
    """Cluster-aggregated counts under Dir(λπ)."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(precision * base, size=n)
    return sp.csr_matrix(np.stack([rng.multinomial(length, word) for word in words]).astype(float))


def log_joint(precision, clusters, base):
    """The factor of (A7) in λ."""
    counts = clusters.toarray()
    words = gammaln(precision * base + counts) - gammaln(precision * base)
    return float((gammaln(precision) - gammaln(precision + counts.sum(1))).sum() + words.sum())


@pytest.mark.parametrize("precision", [20.0, 300.0, 3000.0])
def test_precision_is_recovered_within_ten_percent(precision):
    base = np.random.default_rng(1).dirichlet(np.full(200, 0.5)) * 0.999 + 0.001 / 200
    found = base_precision(simulated_clusters(precision, base), base)
    assert not found.at_bound
    assert found.value == pytest.approx(precision, rel=0.1)


def test_precision_maximises_the_joint_likelihood():
    base = np.random.default_rng(2).dirichlet(np.ones(50))
    clusters = simulated_clusters(80.0, base, n=20)
    found = base_precision(clusters, base)
    assert abs(found.violation) < 1e-6
    at = log_joint(found.value, clusters, base)
    for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0):
        assert log_joint(found.value * factor, clusters, base) < at
    step = 1e-4 * 80.0
    slope = (log_joint(80.0 + step, clusters, base) - log_joint(80.0 - step, clusters, base)) / (2 * step)
    assert precision_gradient(80.0, clusters, base) == pytest.approx(slope, rel=1e-4)


def test_single_documents_would_give_a_lower_precision():
    """Trap: words come in bursts, so that documents stray farther from π than clusters do."""
    rng = np.random.default_rng(0)
    base = rng.dirichlet(np.ones(100))
    clusters, documents = [], []
    for word in rng.dirichlet(500.0 * base, size=15):
        members = [rng.multinomial(60, rng.dirichlet(40.0 * word + 1e-9)) for _ in range(30)]
        documents += members
        clusters.append(np.sum(members, axis=0))
    by_cluster = base_precision(sp.csr_matrix(np.array(clusters, float)), base).value
    by_document = base_precision(sp.csr_matrix(np.array(documents, float)), base).value
    assert by_cluster > 3 * by_document


def test_bounds_are_said():
    base = np.full(4, 0.25)
    same = sp.csr_matrix(np.full((5, 4), 1000.0))  # clusters exactly like π: the more precise the better
    assert base_precision(same, base).at_bound
    assert base_precision(same, base).value == 1e8


@settings(max_examples=40, deadline=None)
@given(a=st.floats(1e-8, 1e3), s=st.one_of(st.integers(0, 60), st.floats(0.1, 100)))
def test_digamma_rise(a, s):
    value = digamma_rise(np.array([a]), np.array([float(s)]))[0]
    assert value == pytest.approx(digamma(a + s) - digamma(a), rel=1e-7, abs=1e-9)


def urn(gamma, n, seed):
    """Which documents open a cluster (A3)."""
    i = np.arange(1.0, n + 1.0)
    return np.random.default_rng(seed).random(n) < gamma(i) / (gamma(i) + i - 1)


def test_constant_concentration_is_recovered_from_an_urn():
    """The mean of forty urns, within three standard errors."""
    position = np.arange(1.0, 5001.0)
    found = [concentration(int(urn(lambda i: 0 * i + 5.0, 5000, seed).sum()), position).value for seed in range(40)]
    assert abs(np.mean(found) - 5.0) < 3 * np.std(found) / np.sqrt(len(found))


@settings(max_examples=30, deadline=None)
@given(n=st.integers(3, 300), k=st.integers(2, 300))
def test_concentration_expects_what_was_seen(n, k):
    position = np.arange(1.0, n + 1.0)
    found = concentration(min(k, n), position)
    if not found.at_bound:
        assert (found.value / (found.value + position - 1)).sum() == pytest.approx(min(k, n), abs=1e-6)
    else:
        assert k >= n  # everything was new


def test_labelled_positions_count_in_the_whole_sequence():
    """Ten labelled documents late in a stream: new ones there mean a larger γ than early ones."""
    early, late = concentration(3, np.arange(1.0, 11.0)), concentration(3, np.arange(101.0, 111.0))
    assert late.value > 10 * early.value


@pytest.mark.parametrize("form", [1, 2])
def test_rate_over_time_beats_every_point_of_a_grid(form):
    novel = urn(lambda i: 2.0 + 0.05 * i, 3000, seed=1)
    position = np.arange(1.0, 3001.0)
    found = concentration_over_time(novel, position, form)
    assert found.log_likelihood == pytest.approx(rate_log_likelihood(found.at(position), novel, position))
    for a in (1e-12, 1e-2, 1.0, 100.0):
        for b in (1e-12, 0.1, 1.0, 3.0, 10.0):
            for c in (1e-12, 1e-3, 0.03, 0.05, 0.08, 1.0):
                other = rate_log_likelihood(rate(form, a, b, c, position), novel, position)
                assert found.log_likelihood >= other - 1e-3
    constant = concentration(int(novel.sum()), position).value
    assert found.log_likelihood >= rate_log_likelihood(np.full(3000, constant), novel, position) - 1e-9


def test_asymptotic_rate_of_form_one_is_recovered():
    found = [concentration_over_time(urn(lambda i: 1.0 + 0.1 * i, 3000, seed), np.arange(1.0, 3001.0)).c
             for seed in range(4)]  # fmt: skip
    assert np.mean(found) == pytest.approx(0.1, rel=0.15)


def test_base_measure():
    share, unseen = base_measure(np.array([3.0, 0.0, 1.0]))
    np.testing.assert_allclose(share, np.array([4, 1, 2]) / 7)
    assert unseen == pytest.approx(1 / 7)
    share, unseen = base_measure(np.array([3.0, 0.0, 1.0]), pseudo=0.5, reserved=3)
    assert share.sum() + 3 * unseen == pytest.approx(1.0)
