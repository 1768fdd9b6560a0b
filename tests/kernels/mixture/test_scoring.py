"""The mixture's kernels against plain NumPy; the learning loop has its twin in tests/detectors/mixture_twin.py."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp

from firststory.kernels.mixture.pool import (
    base_evidence,
    cluster_counts,
    pack_postings,
    refresh_clusters,
    refresh_gains,
)
from firststory.kernels.mixture.scoring import concentration_at, find_posting, posterior, temper_at


@settings(max_examples=50, deadline=None)
@given(slots=st.lists(st.integers(0, 50), unique=True), wanted=st.integers(-1, 60), before=st.integers(0, 5))
def test_find_posting_is_searchsorted(slots, wanted, before):
    block = np.concatenate([np.full(before, 99), np.sort(np.array(slots, dtype=np.int64)), [0, 0]]).astype(np.int32)
    place = find_posting(block, before, before + len(slots), wanted)
    assert place - before == np.searchsorted(block[before : before + len(slots)], wanted)


@settings(max_examples=50, deadline=None)
@given(
    score=st.lists(st.one_of(st.floats(-1e4, 1e4), st.just(-np.inf)), max_size=30),
    opened=st.floats(-1e4, 1e4),
)
def test_posterior_is_logsumexp(score, opened):
    score = np.array(score)
    best, known, everything = posterior(score, len(score), opened)
    if not np.isfinite(score).any():
        assert best == -1 and known == -np.inf and everything == opened
        return
    assert best == score.argmax()
    assert known == pytest.approx(logsumexp(score), rel=1e-14, abs=1e-14)
    assert everything == pytest.approx(logsumexp(np.append(score, opened)), rel=1e-14, abs=1e-14)


def postings(seed, n_words=9, n_slots=7):
    """A pool with holes: S as a dense table, and its blocks in an order of their own."""
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 9, size=(n_words, n_slots)) * (rng.random((n_words, n_slots)) < 0.4)
    start, length = np.zeros(n_words, np.int64), (table > 0).sum(1)
    slot, count = np.full(200, 77, np.int32), np.full(200, np.nan)
    place = 3
    for v in rng.permutation(n_words):
        start[v] = place
        found = np.flatnonzero(table[v])
        slot[place : place + len(found)] = found
        count[place : place + len(found)] = table[v, found]
        place += len(found) + int(rng.integers(4))
    return table.astype(float), start, length, slot, count


@pytest.mark.parametrize("seed", range(6))
def test_packing_keeps_what_lives_in_order(seed):
    table, start, length, slot, count = postings(seed)
    alive = np.random.default_rng(seed).random(7) < 0.6
    moved = np.where(alive, np.cumsum(alive) - 1, -1).astype(np.int64)
    packed_slot, packed_count = np.zeros(200, np.int32), np.zeros(200)
    largest, owned = np.zeros(9), np.full(7, 55)
    used = pack_postings(start, length, largest, slot, count, moved, 3.0, packed_slot, packed_count, owned)
    kept = np.where(table >= 3.0, table, 0.0)[:, alive]
    assert used == (kept > 0).sum()
    matrix = sp.csr_matrix((packed_count[:used], packed_slot[:used], np.append(start, used)), shape=kept.shape)
    np.testing.assert_array_equal(matrix.toarray(), kept)
    assert matrix.has_sorted_indices
    np.testing.assert_array_equal(largest, kept.max(1, initial=0.0))
    np.testing.assert_array_equal(owned[: alive.sum()], (kept > 0).sum(0))


def test_cached_logarithms_and_columns():
    table, start, length, slot, count = postings(3)
    prior = np.random.default_rng(0).random(9) + 1e-6
    gain, column = np.zeros(200), np.zeros(9)
    refresh_gains(start, length, count, gain, prior)
    for v in range(9):
        inside = slice(start[v], start[v] + length[v])
        np.testing.assert_allclose(gain[inside], np.log1p(count[inside] / prior[v]), rtol=1e-14)
    cluster_counts(4, start, length, slot, count, column)
    np.testing.assert_array_equal(column, table[:, 4])
    mass, tokens, cached, log_mass = np.array([2.0, 0.0]), np.array([31.0, 0.0]), np.zeros(2), np.zeros(2)
    refresh_clusters(2, mass, tokens, 9.0, cached, log_mass)
    np.testing.assert_allclose(cached, gammaln(9.0 + tokens), rtol=1e-13)
    assert log_mass.tolist() == [np.log(2.0), -np.inf]


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_base_evidence(index):
    rng = np.random.default_rng(1)
    rows = sp.csr_matrix(rng.poisson(0.8, size=(12, 9)) * (np.arange(12) != 3)[:, None].astype(float))
    prior, out = rng.random(9) + 0.01, np.zeros(12)
    base_evidence(rows.indptr.astype(index), rows.indices.astype(index), rows.data, prior, out)
    np.testing.assert_allclose(out, (gammaln(prior + rows.toarray()) - gammaln(prior)).sum(1), atol=1e-9)


def test_rates_and_tempers():
    assert concentration_at(1, 6.0, 1.0, 0.5, 3.0) == 2.0 + 1.0 + 1.5
    assert concentration_at(2, 6.0, 1.0, 0.5, 3.0) == 1.5 + 0.5
    assert temper_at(0.8, 0.0, 500.0) == 0.8
    assert temper_at(0.8, 100.0, 400.0) == pytest.approx(0.2)
    assert temper_at(0.8, 100.0, 50.0) == 0.8
