"""IncrementalClustering against a dense twin written from the definition, and against planted clusters."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import firststory as fs
from firststory.kernels.neighbours import clusters

DAY = 86400.0


def twin(counts, times, threshold, window, max_age, decay, weigh):
    """Dense cluster sums; everything computed afresh for every document."""
    sums, labels, last_row, last_time, scores, given_labels = [], [], [], [], [], []
    seen = np.zeros(counts.shape[1])
    for i, x in enumerate(counts):
        w = x.astype(float)
        if weigh:
            df = seen + (x > 0)
            w = np.where(x > 0, (1 + np.log(np.maximum(x, 1))) * np.log((i + 1) / np.maximum(df, 1)), 0.0)
        norm = np.linalg.norm(w)
        w = w / norm if norm > 0 else w
        best, cosine = -1, 0.0
        for c, total in enumerate(sums):
            rows_ago, age = i - last_row[c], times[i] - last_time[c]
            if rows_ago > window or age > max_age or w @ total <= 0:
                continue
            value = w @ total / np.linalg.norm(total)
            if decay:
                value *= 1 - age / max_age if np.isfinite(max_age) else 1 - rows_ago / (window + 1)
            if value >= cosine:
                best, cosine = c, value
        scores.append(1 - cosine)
        if best < 0 or cosine < threshold:
            best = len(sums)
            sums.append(np.zeros(counts.shape[1]))
            labels.append(best)
            last_row.append(0)
            last_time.append(0.0)
        sums[best] = sums[best] + w
        last_row[best], last_time[best] = i, times[i]
        given_labels.append(best)
        seen += x > 0
    return np.array(scores), np.array(given_labels)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    threshold=st.sampled_from([0.0, 0.3, 0.6]),
    window=st.sampled_from([4, 30, None]),
    max_age=st.sampled_from([3.0, None]),
    decay=st.booleans(),
    weighting=st.sampled_from(["ltc", None]),
)
def test_equals_twin(seed, threshold, window, max_age, decay, weighting):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 6, size=(80, 20)) * (rng.random((80, 20)) < 0.25)
    times = np.cumsum(rng.exponential(0.3, size=80))
    detector = fs.IncrementalClustering(threshold, window, max_age, decay, weighting)
    scores = [detector.score_then_learn(sp.csr_matrix(counts[:33]), times=times[:33])]
    labels = [detector.labels_]
    scores.append(detector.score_then_learn(sp.csr_matrix(counts[33:]), times=times[33:]))
    labels.append(detector.labels_)
    usable = decay and (window is not None or max_age is not None)
    known = twin(counts, times, threshold, window or 10**9, max_age or np.inf, usable, weighting == "ltc")
    np.testing.assert_allclose(np.concatenate(scores), known[0], atol=1e-9)
    np.testing.assert_array_equal(np.concatenate(labels), known[1])


def test_the_running_norm_equals_the_exact_one(monkeypatch):
    rng = np.random.default_rng(0)
    rows = sp.csr_matrix(rng.integers(1, 4, size=(300, 30)) * (rng.random((300, 30)) < 0.3), dtype=float)
    index = fs.IncrementalClustering(threshold=0.4).fit(rows).index_
    exact = np.zeros_like(index.squares)
    clusters.exact_squares(index.lists, exact)
    assert index.meta[clusters.CLUSTERS] > 3
    np.testing.assert_allclose(index.squares, exact, rtol=1e-12)


def test_planted_clusters_are_found_and_predicted():
    rng = np.random.default_rng(1)
    truth = rng.integers(5, size=200)
    rows = np.zeros((200, 50))
    for i, k in enumerate(truth):
        rows[i, 10 * k : 10 * k + 10] = rng.random(10)
    detector = fs.IncrementalClustering(threshold=0.3).fit(rows)
    assert detector.n_clusters_ == 5
    assert len(set(zip(truth, detector.labels_, strict=True))) == 5
    np.testing.assert_array_equal(detector.predict_cluster(rows), detector.labels_)
    assert detector.predict_cluster(np.zeros((1, 50))).tolist() == [-1]


def test_forgotten_clusters_are_never_joined_and_labels_never_reused():
    detector = fs.IncrementalClustering(threshold=0.5, max_age=DAY, decay=True).fit([[1.0, 0.0]], times=[0.0])
    assert detector.novelty([[1.0, 0.0]], times=[DAY / 2])[0] == pytest.approx(0.5)
    detector.partial_fit([[1.0, 0.0]], times=[2 * DAY])
    assert detector.labels_.tolist() == [1]
    assert detector.n_clusters_ == 1


def test_a_labelled_history_chooses_the_threshold_and_leaves_its_statistics():
    """Two words tell the stories apart, two are common: too low a threshold joins everything, too high nothing."""
    rng = np.random.default_rng(0)
    truth = np.sort(rng.integers(8, size=160))
    rng.shuffle(truth)
    rows = np.zeros((160, 40))
    rows[:, :4] = rng.poisson(3.0, size=(160, 4))
    for i, k in enumerate(truth):
        rows[i, 4 + 4 * k : 8 + 4 * k] = rng.poisson(3.0, size=4)
    auto = fs.IncrementalClustering(threshold="auto", weighting="ltc", history="statistics").fit(rows, truth)
    assert auto.n_clusters_ == 0
    assert (auto.novelty(rows) == 1.0).all()
    cost = {}
    first = np.zeros(160, bool)
    first[np.unique(truth, return_index=True)[1]] = True
    for threshold in (0.05, auto.threshold_, 0.8):
        run = fs.IncrementalClustering(threshold=threshold, weighting="ltc").fit(rows[:1])
        scores = np.append(1.0, run.score_then_learn(rows[1:]))
        cost[threshold] = fs.evaluate.tdt_cost(first, scores, truth).topic_weighted
    assert cost[auto.threshold_] == min(cost.values())
    # N and df of the history weigh the first rows of the stream: known ones no longer look empty.
    assert auto.index_.meta[clusters.ROWS] == 160
    np.testing.assert_array_equal(auto.index_.seen, (rows > 0).sum(0))
    assert fs.IncrementalClustering(threshold="auto").fit(rows).threshold_ == 0.2
    assert fs.IncrementalClustering(threshold=0.3).fit(rows, truth).n_clusters_ > 0
