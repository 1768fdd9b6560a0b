"""LogisticNovelty: its features, its optimum, and a stream in which only size and age tell first stories."""

from __future__ import annotations

import numpy as np
import pytest

import firststory as fs
from firststory.checks import check_stream_contract
from firststory.state import pack_state, unpack_state
from firststory.units import DAY_SECONDS


def stories(n_stories=40, each=6, width=200, seed=0):
    """Stories of `each` documents a day apart, one after the other and overlapping; times in seconds."""
    rng = np.random.default_rng(seed)
    rows, labels, times = [], [], []
    for k in range(n_stories):
        words = rng.dirichlet(np.full(width, 0.05))
        for m in range(each):
            rows.append(rng.multinomial(30, words))
            labels.append(k)
            times.append((k + m * rng.random()) * DAY_SECONDS)
    order = np.argsort(times, kind="stable")
    return np.array(rows, float)[order], np.array(labels)[order], np.array(times)[order]


def first(labels):
    novel = np.zeros(len(labels), bool)
    novel[np.unique(labels, return_index=True)[1]] = True
    return novel


def test_features_are_those_of_the_clustering():
    rows, labels, times = stories()
    detector = fs.LogisticNovelty(threshold=0.3).fit(rows, labels, times=times)
    detector.score_then_learn(rows, times=times)
    clustering = fs.IncrementalClustering(threshold=0.3, weighting="ltc", history="statistics").fit(rows, labels)
    clustering.partial_fit(rows, times=times)
    assert detector.labels_.tolist() == clustering.labels_.tolist()
    known = np.column_stack(
        [clustering.nearest_similarity_, np.log1p(clustering.nearest_size_), clustering.nearest_age_ / DAY_SECONDS]
    )
    np.testing.assert_allclose(detector.features_, known, rtol=1e-12)


def test_weights_are_the_penalised_optimum():
    """The gradient of the balanced, penalised log-loss in the standardised features vanishes."""
    rows, labels, times = stories()
    detector = fs.LogisticNovelty(threshold=0.3, C=2.0, history="learn").fit(rows, labels, times=times)
    novel = first(labels)
    features = detector.features_
    spread = features.std(axis=0)
    standard = (features - features.mean(axis=0)) / spread
    p = 1 / (1 + np.exp(-(detector.intercept_ + features @ detector.coef_)))
    weight = np.where(novel, len(novel) / (2 * novel.sum()), len(novel) / (2 * (~novel).sum()))
    residual = weight * (p - novel)
    np.testing.assert_allclose(residual.sum(), 0.0, atol=1e-4)
    np.testing.assert_allclose(2.0 * standard.T @ residual + detector.coef_ * spread, 0.0, atol=1e-3)


def test_first_stories_are_found_after_training():
    rows, labels, times = stories(seed=1)
    detector = fs.LogisticNovelty().fit(rows, labels, times=times)
    assert detector.coef_[0] < 0, "a closer cluster makes a document less novel"
    other, truth, later = stories(seed=2)
    scores = detector.score_then_learn(other, times=later)
    assert fs.evaluate.tdt_cost(first(truth), scores, truth).topic_weighted < 0.2


def test_age_counts_where_it_is_all_there_is():
    """All documents alike: first stories are those that come after a long silence."""
    rng = np.random.default_rng(0)
    times = np.cumsum(np.where(np.arange(200) % 5 == 0, 20 * DAY_SECONDS, DAY_SECONDS * rng.random(200)))
    rows, labels = np.ones((200, 3)), np.arange(200) // 5
    detector = fs.LogisticNovelty(threshold=0.5, weighting=None).fit(rows, labels, times=times)
    scores = detector.score_then_learn(rows, times=times)
    novel = first(labels)
    assert scores[novel].min() > scores[~novel].max()
    assert detector.coef_[2] > 0


@pytest.mark.parametrize("y", [None, [None] * 24, np.full(24, -1)], ids=["none", "all None", "all -1"])
def test_fit_needs_labels(y):
    rows, _, _ = stories(n_stories=4)
    with pytest.raises(fs.errors.ParameterError, match="y of fit must be one label per row"):
        fs.LogisticNovelty().fit(rows, y)


def test_unlabelled_streams_and_one_class_keep_the_plain_weights():
    rows, labels, _ = stories(n_stories=4)
    for detector in (fs.LogisticNovelty().partial_fit(rows), fs.LogisticNovelty().fit(rows[:4], np.arange(4))):
        assert detector.coef_.tolist() == [-10.0, 0.0, 0.0]
    trained = fs.LogisticNovelty().fit(rows, labels)
    assert trained.coef_.tolist() != [-10.0, 0.0, 0.0]


def test_trained_state_survives_and_streams_on():
    rows, labels, times = stories(n_stories=10)
    detector = fs.LogisticNovelty().fit(rows, labels, times=times)
    twin = fs.LogisticNovelty().set_state(unpack_state(pack_state(detector.get_state())))
    for part in np.array_split(np.arange(len(rows)), 3):
        np.testing.assert_array_equal(
            detector.score_then_learn(rows[part], times=times[part]),
            twin.score_then_learn(rows[part], times=times[part]),
        )
    assert pack_state(detector.get_state()) == pack_state(twin.get_state())


def test_stream_contract_without_weighting():
    check_stream_contract(fs.LogisticNovelty(weighting=None))


def test_times_may_not_start_late():
    detector = fs.LogisticNovelty().partial_fit([[1.0, 2.0]])
    with pytest.raises(fs.errors.ParameterError, match="began without"):
        detector.partial_fit([[1.0, 2.0]], times=[3.0])
