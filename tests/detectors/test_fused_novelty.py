"""FusedNovelty against a dense twin written from its definition; the window, the budget, the horizon."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from firststory.kernels.fused.index import FusedIndex
from firststory.kernels.fused.rows import MANY
from firststory.kernels.fused.tally import FREE

DAY = 86400.0


def stream(seed, n=260, width=60):
    """Counts with bursts of shared terms, and times with a long silence."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(width, 0.05), size=12)
    counts = np.stack([rng.multinomial(rng.integers(3, 25), topics[k]) for k in rng.integers(12, size=n)]).astype(float)
    gaps = rng.exponential(0.4 * DAY, size=n)
    gaps[n // 2] = 400 * DAY
    return counts, np.cumsum(gaps)


def even(i):
    """The neighbour's exponent, the cluster's, and how much less a strong match ages."""
    return 0.3, 0.2, 0


def twin(counts, days, knobs=even, half_life=None, plus=1.0, early=False):
    """The definition with dense vectors: idf and norms refreshed every 100 documents, everything else afresh.

    With a half-life, clusters count less where many of the latest rows opened one. If `early`, the next refresh comes
    after a tenth of the documents so far, where that is less than a hundred.
    """
    n = len(counts)
    tf = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)
    gap, clock, total = np.diff(days, prepend=days[:1]), np.zeros(n), 0.0
    for i in range(n):
        total += min(gap[i], max(50 * total / i, 1.0)) if i > 20 else gap[i]
        clock[i] = total
    nearest, centroid, member = np.zeros(n), np.zeros(n), []
    square, last, fresh = [], [], 0
    for i in range(n):
        if i == 0 or i - fresh >= (min(100, max(1, i // 10)) if early else 100):
            fresh, df = i, (counts[:i] > 0).sum(axis=0)
            idf2 = (np.log((1 + i) / (1 + df)) + plus) ** 2.5
            norms = list(np.sqrt((tf[:i] ** 2 * idf2).sum(axis=1)))
        norms.append(np.sqrt((tf[i] ** 2 * idf2).sum()))
        cosines = np.array([tf[i] * idf2 @ tf[j] / (norms[i] * norms[j] or 1.0) for j in range(i)])
        best, best_score = -1, 0.0
        beta, join_beta, strong = knobs(i)
        if i:
            weak = (1 - np.minimum(cosines, 1)) ** strong
            nearest[i] = (cosines * (1 + days[i] - days[:i]) ** (-beta * weak)).max()
        for c in range(len(square)):
            cosine = cosines[np.array(member) == c].sum() / np.sqrt(square[c])
            if cosine > 0:
                weak = (1 - min(cosine, 1.0)) ** strong
                loss = 0.8 * (1 - np.exp(-(clock[i] - clock[last[c]]) / 30))
                centroid[i] = max(centroid[i], cosine * (1 - weak * loss))
                score = cosine * (1 + days[i] - days[last[c]]) ** (-join_beta * weak)
                if score > best_score:
                    best, best_score, best_cosine = c, score, cosine
        if best_score > 0.12:
            square[best] += 1 + 2 * best_cosine * np.sqrt(square[best])
            last[best] = i
        else:
            best = len(square)
            square.append(1.0)
            last.append(i)
        member.append(best)
    share = 0.1
    for i in range(n if half_life else 0):
        part = min(max((share - 0.1) / 0.1, 0.0), 1.0)
        centroid[i] = (1 - part) * centroid[i] + part * nearest[i]
        share += (1 - 0.5 ** (1 / half_life)) * ((member[i] not in member[:i]) - share)
    return 1 - (nearest + centroid) / 2, np.array(member)


def follow(detector, counts, times=None, batch=57):
    scores, labels = [], []
    for begin in range(0, len(counts), batch):
        cut = slice(begin, begin + batch)
        seen = np.flatnonzero(counts[: begin + batch].any(axis=0)).max() + 1  # the vocabulary grows
        scores.append(
            detector.score_then_learn(sp.csr_matrix(counts[cut, :seen]), times=None if times is None else times[cut])
        )
        labels.append(detector.labels_)
    return np.concatenate(scores), np.concatenate(labels)


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_twin(seed, timed):
    counts, times = stream(seed)
    scores, labels = follow(fs.FusedNovelty(ageing="even"), counts, times if timed else None)
    known, member = twin(counts, (times - times[0]) / DAY if timed else np.zeros(len(counts)))
    np.testing.assert_allclose(scores, known, atol=1e-12)
    np.testing.assert_array_equal(labels, member)


@pytest.mark.parametrize(("longer", "half_life"), [(0, 2000), (40, 2000), (40, 30)])
def test_gentle_ageing_equals_its_twin_for_rows_short_and_long(longer, half_life, monkeypatch):
    monkeypatch.setattr("firststory.detectors.fused_novelty.HALF_LIFE", float(half_life))
    counts, times = stream(3)
    everyday = np.tile(np.arange(longer) < 40, (len(counts), 1)) * (np.arange(len(counts)) % 2 == 0)[:, None]
    counts = np.hstack([counts, everyday])  # every other row gets 40 terms more
    scores, labels = follow(fs.FusedNovelty(), counts, times)
    terms = (counts > 0).sum(axis=1)
    assert (terms <= 30).any() and (longer == 0 or (terms > 30).any())
    ageing = [(0.4, 0.3, 1) if n <= 30 else (0.6, 0.4, 3) for n in terms]
    known, member = twin(counts, (times - times[0]) / DAY, lambda i: ageing[i], half_life, plus=0.5, early=True)
    np.testing.assert_allclose(scores, known, atol=1e-12)
    np.testing.assert_array_equal(labels, member)


def test_themes_do_not_age():
    counts, times = stream(2)
    even, _ = follow(fs.FusedNovelty(ageing="even", horizon="themes"), counts, times)
    untimed, _ = follow(fs.FusedNovelty(ageing="even"), counts)
    np.testing.assert_allclose(even, untimed, atol=1e-12)
    gentle, _ = follow(fs.FusedNovelty(horizon="themes"), counts, times)
    known, _ = twin(counts, np.zeros(len(counts)), plus=0.5, early=True)
    np.testing.assert_allclose(gentle, known, atol=1e-12)


def test_everyday_words_count_little_from_the_start():
    """The second of two documents that share everyday words only is new; one that shares a rare word is not."""
    rows = np.zeros((40, 60))
    rows[:, :3] = 1.0  # all documents have these
    rows[np.arange(40), 3 + np.arange(40)] = 1.0
    detector = fs.FusedNovelty().fit(rows[:30])
    other, same = np.zeros((1, 60)), rows[29:30].copy()
    other[0, [0, 1, 2, 50]] = 1.0
    assert detector.novelty(other)[0] > 0.8 and detector.novelty(same)[0] < 0.1
    assert fs.FusedNovelty(ageing="even").fit(rows[:30]).novelty(other)[0] < 0.6  # no idf before the hundredth


def test_without_times_the_order_of_arrival_is_the_clock():
    counts, _ = stream(2)
    ordered, _ = follow(fs.FusedNovelty(), counts)
    clocked, _ = follow(fs.FusedNovelty(), counts, np.arange(len(counts)) * DAY / 10)
    np.testing.assert_allclose(ordered, clocked, atol=1e-12)


def test_a_strong_match_hardly_ages():
    rows = np.zeros((2, 8))
    rows[0, :4], rows[1, 3:7] = 1.0, 1.0
    detector = fs.FusedNovelty().fit(rows[:1], times=[0.0])
    even = fs.FusedNovelty(ageing="even").fit(rows[:1], times=[0.0])
    year = [365 * DAY]
    assert detector.novelty(rows[:1], times=year)[0] == pytest.approx(0.0)
    assert even.novelty(rows[:1], times=year)[0] > 0.7
    assert detector.novelty(rows[1:], times=year)[0] > detector.novelty(rows[1:], times=[0.0])[0] + 0.05


def test_beyond_the_budget_clusters_are_the_same_and_most_neighbours():
    rng = np.random.default_rng(3)
    everyday = np.where(rng.random((MANY + 600, 8)) < 0.5, 1.0, 0.0)
    rare = sp.random(MANY + 600, 900, density=0.008, random_state=3, format="csr")
    rare.data[:] = 1.0
    rows = sp.hstack([everyday, rare]).tocsr()
    exact, quick = (fs.FusedNovelty(ageing="even", budget=budget) for budget in (10**9, 4000))
    for detector in (exact, quick):
        detector.partial_fit(rows[:MANY])
    known, scores = exact.score_then_learn(rows[MANY:]), quick.score_then_learn(rows[MANY:])
    np.testing.assert_array_equal(quick.labels_, exact.labels_)
    np.testing.assert_array_equal(quick.cluster_scores_, exact.cluster_scores_)
    # Only a neighbour that shares too few of the rarer terms can be missed.
    assert (quick.neighbour_scores_ <= exact.neighbour_scores_).all() and (scores >= known).all()
    same = (quick.neighbours_[:, 0] == exact.neighbours_[:, 0]).mean()
    assert 0.6 < same < 1.0


def test_a_state_of_an_earlier_version_gathers_what_clusters_hold():
    counts, times = stream(7, n=300)
    detector = fs.FusedNovelty(window=120)
    follow(detector, counts[:250], times[:250])
    twin = fs.FusedNovelty(window=120).set_state(detector.get_state())
    state = detector.index_.get_state()
    del state["sums"]
    state["tally"] = np.append(state["tally"][:4], [0, 0])
    twin.index_ = FusedIndex.from_state(state)
    scores, labels = follow(detector, counts[250:], times[250:])
    again, same = follow(twin, counts[250:], times[250:])
    np.testing.assert_allclose(again, scores, atol=1e-12)
    np.testing.assert_array_equal(same, labels)


def test_a_window_keeps_the_books():
    counts, times = stream(4, n=900)
    detector = fs.FusedNovelty(window=70)
    scores, labels = follow(detector, counts, times, batch=41)
    index = detector.index_
    assert np.isfinite(scores).all() and scores.min() >= 0.0 and scores.max() <= 1.0
    assert len(index) == 70 and len(index.born) == 128
    slots = np.arange(*index.meta[:2]) % 128
    np.testing.assert_array_equal(np.bincount(index.cluster[slots], minlength=128), index.c_size)
    assert index.tally[FREE] == (index.c_size == 0).sum()
    assert (index.c_square[index.c_size > 0] >= index.c_size[index.c_size > 0] - 1e-9).all()
    np.testing.assert_array_equal(index.length, np.bincount(np.concatenate([np.flatnonzero(r) for r in counts[-70:]]),
                                                            minlength=60))  # fmt: skip
    assert set(labels[-70:]) == set(index.c_label[index.c_size > 0])


def test_reposting_is_never_novel():
    counts, times = stream(5)
    detector = fs.FusedNovelty()
    follow(detector, counts, times)
    assert detector.novelty(counts[-1:], times=times[-1:])[0] < 0.2
    detector.score_then_learn(counts[-1:], times=times[-1:])
    assert detector.similarities_[0, 0] == pytest.approx(1.0)
    assert detector.neighbours_[0, 0] == len(counts) - 1


def test_what_was_silent_for_long_is_new_again_for_events_only():
    rows = np.eye(6)[[0, 1, 2, 3, 4, 5]] + 1e-3
    late = [400 * DAY]
    events = fs.FusedNovelty(ageing="even").fit(rows, times=np.arange(6) * DAY)
    themes = fs.FusedNovelty(horizon="themes").fit(rows, times=np.arange(6) * DAY)
    assert events.novelty(rows[:1], times=late)[0] > 0.6
    assert themes.novelty(rows[:1], times=late)[0] < 1e-6


def test_times_may_begin_late_and_be_missing():
    counts, times = stream(6, n=60)
    detector = fs.FusedNovelty()
    for begin, clock in ((0, None), (20, times[20:40] + 1.7e9), (40, None)):
        scores = detector.score_then_learn(counts[begin : begin + 20], times=clock)
        assert np.isfinite(scores).all()
    assert detector.index_.born.max() < 500
