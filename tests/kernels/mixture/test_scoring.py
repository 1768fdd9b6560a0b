"""The mixture's kernels against plain NumPy; the learning loop has its twin in tests/detectors/mixture_twin.py."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp

from firststory.detectors.mixture_clusters import _empty_stats
from firststory.kernels.csr import csr_of
from firststory.kernels.mixture.layout import Base, Postings, Rules
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
    """S as a dense table, and a pool of it with holes and its blocks in an order of their own."""
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
    return table.astype(float), Postings(start, length, length.copy(), np.zeros(n_words), slot, count, np.zeros(200))


@pytest.mark.parametrize("seed", range(6))
def test_packing_keeps_what_lives_in_order(seed):
    table, pool = postings(seed)
    alive = np.random.default_rng(seed).random(7) < 0.6
    moved = np.where(alive, np.cumsum(alive) - 1, -1).astype(np.int64)
    packed_slot, packed_count = np.zeros(200, np.int32), np.zeros(200)
    owned = np.full(7, 55)
    used = pack_postings(pool, moved, 3.0, packed_slot, packed_count, owned)
    kept = np.where(table >= 3.0, table, 0.0)[:, alive]
    assert used == (kept > 0).sum()
    matrix = sp.csr_matrix((packed_count[:used], packed_slot[:used], np.append(pool.start, used)), shape=kept.shape)
    np.testing.assert_array_equal(matrix.toarray(), kept)
    assert matrix.has_sorted_indices
    np.testing.assert_array_equal(pool.largest, kept.max(1, initial=0.0))
    np.testing.assert_array_equal(owned[: alive.sum()], (kept > 0).sum(0))


def test_cached_logarithms_and_columns():
    table, pool = postings(3)
    prior = np.random.default_rng(0).random(9) + 1e-6
    column = np.zeros(9)
    refresh_gains(pool, prior)
    for v in range(9):
        inside = slice(pool.start[v], pool.start[v] + pool.length[v])
        np.testing.assert_allclose(pool.gain[inside], np.log1p(pool.counts[inside] / prior[v]), rtol=1e-14)
    cluster_counts(4, pool, column)
    np.testing.assert_array_equal(column, table[:, 4])
    stats = _empty_stats(2)
    stats.mass[0], stats.tokens[0] = 2.0, 31.0
    refresh_clusters(2, stats, 9.0)
    np.testing.assert_allclose(stats.log_gamma, gammaln(9.0 + stats.tokens), rtol=1e-13)
    assert stats.log_mass.tolist() == [np.log(2.0), -np.inf]


def test_base_evidence():
    rng = np.random.default_rng(1)
    rows = sp.csr_matrix(rng.poisson(0.8, size=(12, 9)) * (np.arange(12) != 3)[:, None].astype(float))
    prior, out = rng.random(9) + 0.01, np.zeros(12)
    base_evidence(csr_of(rows), Base(1.0, prior, 0.0), out)
    np.testing.assert_allclose(out, (gammaln(prior + rows.toarray()) - gammaln(prior)).sum(1), atol=1e-9)


def test_rates_and_tempers():
    base = Base(1.0, np.ones(1), 0.0, form=1, a=6.0, b=1.0, c=0.5)
    assert concentration_at(base, 3.0) == 2.0 + 1.0 + 1.5
    assert concentration_at(base._replace(form=2), 3.0) == 1.5 + 0.5
    assert temper_at(Rules(temper=0.8), 500.0) == 0.8
    assert temper_at(Rules(temper=0.8, length_cap=100.0), 400.0) == pytest.approx(0.2)
    assert temper_at(Rules(temper=0.8, length_cap=100.0), 50.0) == 0.8
