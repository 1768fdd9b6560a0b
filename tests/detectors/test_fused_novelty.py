"""FusedNovelty against a dense twin written from its definition; the window, the clock, the horizon."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from detectors.fused_twin import DAY, follow, stream, twin
from firststory.detectors.fused_novelty import RULE
from firststory.kernels.fused.rows import EXACT_WINDOW_ROWS
from firststory.state import pack_state, unpack_state


def with_long_rows(counts, more=40):
    """Every other row gets this many terms more."""
    everyday = np.tile(np.ones(more), (len(counts), 1)) * (np.arange(len(counts)) % 2 == 0)[:, None]
    return np.hstack([counts, everyday])


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("window", [None, 70])
@pytest.mark.parametrize("longer", [False, True])
def test_equals_twin(timed, window, longer):
    counts, times, _ = stream(1)
    counts = with_long_rows(counts) if longer else counts
    assert ((counts > 0).sum(axis=1) > 30).any() == longer
    scores, labels = follow(fs.FusedNovelty(window=window), counts, times if timed else None)
    known, member, _, _ = twin(counts, (times - times[0]) / DAY if timed else None, window=window)
    np.testing.assert_allclose(scores, known, atol=1e-10)
    np.testing.assert_array_equal(labels, member)


@pytest.mark.parametrize("timed", [True, False])
def test_equals_twin_where_the_stream_is_learnt_fast(timed, monkeypatch):
    """With a short half-life clusters come to count, and the clock moves far, within a small stream."""
    rule = RULE._replace(half_life=30.0)
    monkeypatch.setattr("firststory.detectors.fused_novelty.RULE", rule)
    counts, times, vectors = stream(3)
    detector = fs.FusedNovelty()
    scores, labels = follow(detector, counts, times if timed else None, vectors)
    known, member, _, _ = twin(counts, (times - times[0]) / DAY if timed else None, vectors, half_life=30)
    np.testing.assert_allclose(scores, known, atol=1e-6)  # vectors are in single precision
    np.testing.assert_array_equal(labels, member)
    assert detector.cluster_weights_.max() > 0.2
    assert timed or abs(np.log2(detector.index_.pace.day_rows[0] / 10)) > 0.3


def test_parts_make_up_the_score():
    counts, times, _ = stream(2)
    detector = fs.FusedNovelty()
    scores = detector.score_then_learn(counts, times=times)
    _, _, nn, cen = twin(counts, (times - times[0]) / DAY)
    np.testing.assert_allclose(detector.neighbour_scores_, nn, atol=1e-10)
    w = detector.cluster_weights_
    np.testing.assert_allclose(scores, 1 - (1 - w) * nn - w * cen, atol=1e-10)
    np.testing.assert_allclose(scores, 1 - (detector.neighbour_scores_ + detector.cluster_scores_) / 2, atol=1e-12)


def test_topics_do_not_age():
    counts, times, _ = stream(2)
    topics, _ = follow(fs.FusedNovelty(horizon="topics"), counts, times)
    known, _, _, _ = twin(counts, np.zeros(len(counts)), ageing=False)
    np.testing.assert_allclose(topics, known, atol=1e-10)
    untimed, _ = follow(fs.FusedNovelty(horizon="topics"), counts)
    np.testing.assert_array_equal(topics, untimed)


def test_everyday_words_count_little_from_the_start():
    """The second of two documents that share everyday words only is new; one that shares a rare word is not."""
    rows = np.zeros((40, 60))
    rows[:, :3] = 1.0  # all documents have these
    rows[np.arange(40), 3 + np.arange(40)] = 1.0
    detector = fs.FusedNovelty().fit(rows[:30])
    other, same = np.zeros((1, 60)), rows[29:30].copy()
    other[0, [0, 1, 2, 50]] = 1.0
    assert detector.novelty(other)[0] > 0.8 and detector.novelty(same)[0] < 0.15


def planted(lag, n=2400):
    """Every document of an even block of `lag` repeats three of four words of one of the block before."""
    words = np.random.default_rng(0).integers(40_000, size=(n, 4))
    again = np.flatnonzero(np.arange(n) // lag % 2 == 1)
    words[again, :3] = words[again - lag, :3]
    return sp.csr_matrix((np.ones(4 * n), words.ravel(), 4 * np.arange(n + 1)), shape=(n, 40_000))


@pytest.mark.parametrize("lag", [3, 60, 400])
def test_without_times_a_day_is_as_long_as_matches_go_back(lag):
    detector = fs.FusedNovelty().fit(planted(lag))
    assert lag / 1.5 < detector.index_.pace.day_rows[0] < lag * 1.5


def test_where_order_says_nothing_hardly_anything_ages():
    counts, _, _ = stream(2, n=2000)
    shuffled = counts[np.random.default_rng(1).permutation(2000)]
    detector = fs.FusedNovelty()
    follow(detector, shuffled)
    assert detector.index_.pace.day[0] < 40  # all 2,000 documents came in the span of some days


def test_clusters_count_by_their_size():
    few = np.eye(301)[np.repeat(np.arange(300), 2)]
    many = np.eye(301)[np.tile(np.arange(3), 1000)]
    sparse, dense = fs.FusedNovelty().fit(few), fs.FusedNovelty().fit(many)
    assert sparse.cluster_weights_[-1] < dense.cluster_weights_[-1] < 0.05  # a copy needs no cluster
    for detector in (sparse, dense):
        detector.partial_fit(np.eye(301)[300:])
    assert sparse.cluster_weights_[-1] < 0.04 < 0.2 < dense.cluster_weights_[-1] < 0.67


def test_a_strong_match_of_long_texts_hardly_ages():
    rows = np.zeros((2, 80))
    rows[0, :40], rows[1, 30:70] = 1.0, 1.0
    detector = fs.FusedNovelty().fit(rows[:1], times=[0.0])
    year = [365 * DAY]
    same, other = (detector.novelty(row[None], times=year)[0] - detector.novelty(row[None])[0] for row in rows)
    assert abs(same) < 1e-6 and other > 0.03  # of a likeness that counts little in so young a stream
    short = fs.FusedNovelty().fit(np.eye(5)[:1], times=[0.0])
    assert short.novelty(np.eye(5)[:1], times=year)[0] > 0.6


def test_beyond_max_postings_most_clusters_and_neighbours_are_the_same():
    rng = np.random.default_rng(3)
    n = EXACT_WINDOW_ROWS
    everyday = np.where(rng.random((n + 600, 8)) < 0.5, 1.0, 0.0)
    rare = sp.random(n + 600, 900, density=0.008, random_state=3, format="csr")
    rare.data[:] = 1.0
    rows = sp.hstack([everyday, rare]).tocsr()
    clock = np.arange(n + 600) * 60.0
    exact, quick = (fs.FusedNovelty(max_postings=most) for most in (10**9, 4000))
    for detector in (exact, quick):
        detector.partial_fit(rows[:n], times=clock[:n])
    known, scores = (detector.score_then_learn(rows[n:], times=clock[n:]) for detector in (exact, quick))
    # The clock goes by the neighbours found, clusters by the clock.
    assert (quick.labels_ == exact.labels_).mean() > 0.99
    # Only a neighbour that shares too few of the rarer terms can be missed.
    assert (quick.neighbour_scores_ <= exact.neighbour_scores_ + 0.01).mean() > 0.99
    assert (scores >= known - 0.01).mean() > 0.99
    same = (quick.neighbours_[:, 0] == exact.neighbours_[:, 0]).mean()
    assert 0.6 < same < 1.0


@pytest.mark.parametrize("timed", [True, False])
def test_the_future_after_a_round_trip_is_the_same(timed):
    counts, times, _ = stream(7, n=300)
    times = times if timed else None
    detector = fs.FusedNovelty(window=120)
    follow(detector, counts[:250], None if times is None else times[:250])
    state = unpack_state(pack_state(detector.get_state()))
    again = fs.FusedNovelty().set_state(state)
    rest = [follow(one, counts[250:], None if times is None else times[250:]) for one in (detector, again)]
    np.testing.assert_array_equal(rest[0][0], rest[1][0])
    np.testing.assert_array_equal(rest[0][1], rest[1][1])
    assert {"index_/tally", "index_/pace/lag_mass", "index_/pace/log_size"} <= set(state)


def test_columns_under_other_numbers_change_no_score():
    counts, _, _ = stream(8, n=300)
    counts[:, 5] = 0.0  # a column that is not in use
    one, other = fs.FusedNovelty(window=100), fs.FusedNovelty(window=100)
    for detector in (one, other):
        follow(detector, counts[:200])
    used = np.union1d(one.columns_in_use(), np.flatnonzero(counts[200:].any(axis=0)))
    new = np.full(one.n_features_in_, -1)
    new[used] = np.arange(len(used))
    other.renumber(new)
    np.testing.assert_array_equal(
        one.score_then_learn(counts[200:, : one.n_features_in_]), other.score_then_learn(counts[200:, used])
    )


def test_a_window_keeps_the_books():
    counts, times, _ = stream(4, n=900)
    detector = fs.FusedNovelty(window=70)
    scores, labels = follow(detector, counts, times, batch=41)
    index = detector.index_
    assert np.isfinite(scores).all() and scores.min() >= 0.0 and scores.max() <= 1.0
    assert len(index) == 70 and len(index.born) == 128
    slots = np.arange(*index.meta[:2]) % 128
    np.testing.assert_array_equal(np.bincount(index.cluster[slots], minlength=128), index.c_size)
    assert index.tally.free[0] == (index.c_size == 0).sum()
    assert (index.c_square[index.c_size > 0] >= index.c_size[index.c_size > 0] - 1e-9).all()
    np.testing.assert_array_equal(index.length, np.bincount(np.concatenate([np.flatnonzero(r) for r in counts[-70:]]),
                                                            minlength=60))  # fmt: skip
    assert set(labels[-70:]) == set(index.c_label[index.c_size > 0])


def test_reposting_is_never_novel():
    counts, times, _ = stream(5)
    detector = fs.FusedNovelty()
    follow(detector, counts, times)
    assert detector.novelty(counts[-1:], times=times[-1:])[0] < 0.2
    detector.score_then_learn(counts[-1:], times=times[-1:])
    assert detector.similarities_[0, 0] == pytest.approx(1.0)
    assert detector.neighbours_[0, 0] == len(counts) - 1


def test_a_likeness_counts_less_while_the_stream_is_young(monkeypatch):
    counts, _, _ = stream(1)
    counts[20:40] = counts[:20]
    young = fs.FusedNovelty()
    young.score_then_learn(counts)
    monkeypatch.setattr("firststory.detectors.fused_novelty.RULE", RULE._replace(young_power=0.0))
    grown_up = fs.FusedNovelty()
    grown_up.score_then_learn(counts)
    part = young.neighbour_scores_[1:] / np.maximum(grown_up.neighbour_scores_[1:], 1e-12)
    resembling = grown_up.neighbour_scores_[1:] > 0.05
    copies = np.flatnonzero(resembling[19:39] & (young.similarities_[20:40, 0] > 1 - 1e-9)) + 19
    others = resembling & (young.similarities_[1:, 0] < 0.8)
    assert len(copies) > 10 and others[:60].sum() > 10 and others[-60:].sum() > 10
    np.testing.assert_allclose(part[copies], 1.0, atol=0.02)
    assert part[:60][others[:60]].mean() < 0.8 < part[-60:][others[-60:]].mean() < 1.0


def test_what_was_silent_for_long_is_new_again_for_events_only():
    rows, late = np.eye(6) + 1e-3, [400 * DAY]
    events, topics = (
        fs.FusedNovelty(horizon=horizon).fit(rows, times=np.arange(6) * DAY) for horizon in ("events", "topics")
    )
    assert events.novelty(rows[:1], times=late)[0] > 0.6
    assert topics.novelty(rows[:1], times=late)[0] < 0.1


def test_times_may_begin_late_and_be_missing():
    counts, times, _ = stream(6, n=60)
    detector = fs.FusedNovelty()
    for begin, clock in ((0, None), (20, times[20:40] + 1.7e9), (40, None)):
        scores = detector.score_then_learn(counts[begin : begin + 20], times=clock)
        assert np.isfinite(scores).all()
    assert detector.index_.born.max() < 500


@pytest.mark.parametrize("changed", [{"horizon": "themes"}, {"max_postings": 0}, {"meaning": 1.5}, {"window": 0}])
def test_bad_parameters(changed):
    with pytest.raises(fs.errors.ParameterError, match=next(iter(changed))):
        fs.FusedNovelty(**changed).fit(np.eye(3))
