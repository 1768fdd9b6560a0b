"""`predict` on streams with planted new stories: most of them are called novel, and few of the known documents are."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import firststory as fs
from firststory.detectors.base import KNOWN_SHARE, RECENT_SCORES, StreamDetector

WARM_UP = 200
STEP = 20

# Smaller than the defaults where the planted stream is: 10 stories.
PARAMETERS: dict[str, dict[str, object]] = {
    "BatchL1Dictionary": {"n_atoms": 20, "max_rounds": 5},
    "BatchL2Dictionary": {"n_atoms": 20, "max_rounds": 3},
    "OnlineL1Dictionary": {"n_atoms": 80},  # with fewer its own ranking is the limit, not the threshold
}


def detectors():
    found = [getattr(fs, name) for name in fs.__all__]
    return [kind for kind in found if inspect.isclass(kind) and issubclass(kind, StreamDetector)]


def planted(seed, n=400, n_new=8, width=400, n_known=10):
    """Ten stories from the start on; later ones of one document each, planted after the warm-up."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(width, 0.02), size=n_known + n_new)
    story = rng.integers(n_known, size=n)
    new = WARM_UP + np.sort(rng.choice(n - WARM_UP, n_new, replace=False))
    story[new] = n_known + np.arange(n_new)
    return np.stack([rng.multinomial(40, words[k]) for k in story]).astype(float), story, new


def started(kind, rows, story):
    """After the warm-up, learnt step by step; where labels are needed, the first half of it is the history."""
    detector, begin = kind(**PARAMETERS.get(kind.__name__, {})), 0
    if kind is fs.LogisticNovelty:
        begin = WARM_UP // 2
        detector.fit(rows[:begin], story[:begin])
    for i in range(begin, WARM_UP, STEP):
        detector.partial_fit(rows[i : i + STEP])
    return detector


@pytest.mark.parametrize("kind", detectors(), ids=lambda kind: kind.__name__)
def test_planted_stories_are_novel_and_known_ones_are_not(kind):
    found, alarms = [], []
    for seed in range(2):
        rows, story, new = planted(seed)
        detector = started(kind, rows, story)
        said = []
        for i in range(WARM_UP, len(rows), STEP):
            said.append(detector.predict(rows[i : i + STEP]))
            detector.partial_fit(rows[i : i + STEP])
        novel = np.concatenate(said) == -1
        found.append(novel[new - WARM_UP].mean())
        alarms.append(np.delete(novel, new - WARM_UP).mean())
    assert np.mean(found) >= 0.6, "planted stories that were called novel"
    assert np.mean(alarms) <= 0.12, "documents on known stories that were called novel"


@pytest.mark.parametrize("kind", [fs.NearestNeighbour, fs.IncrementalClustering, fs.FusedNovelty])
def test_one_fit_then_predict(kind):
    """As with any of scikit-learn's detectors: fit once on what is normal, then ask."""
    rows, _, new = planted(3)
    novel = kind().fit(rows[:WARM_UP]).predict(rows[WARM_UP:]) == -1
    assert novel[new - WARM_UP].mean() >= 0.8
    assert np.delete(novel, new - WARM_UP).mean() <= 0.12


def test_the_beginning_of_a_stream_does_not_count():
    rows, _, _ = planted(0)
    detector = fs.NearestNeighbour()
    scores = detector.score_then_learn(rows[:WARM_UP])
    assert scores[:3].max() == 1.0, "the first documents are all new"
    later = np.quantile(scores[WARM_UP // 2 :], KNOWN_SHARE, method="higher")
    assert detector.offset_ == pytest.approx(-later, abs=1e-12)
    assert detector.offset_ > -1.0


def test_at_most_so_many_scores_are_kept_and_used():
    rng = np.random.default_rng(0)
    rows = rng.random((3 * RECENT_SCORES, 6)) * (rng.random((3 * RECENT_SCORES, 6)) < 0.5)
    detector = fs.NearestNeighbour(window=20)
    scores = detector.score_then_learn(rows)
    expected = np.quantile(scores[-RECENT_SCORES:], KNOWN_SHARE, method="higher")
    assert detector.offset_ == pytest.approx(-expected, abs=1e-12)


def test_a_shared_highest_score_is_novel():
    """Where a fifth of the documents has no word in common with the past, these are the novel ones."""
    rows = np.zeros((200, 60))
    rows[:, 0] = 1.0
    alone = np.arange(0, 200, 5)
    rows[alone, 0], rows[alone, 1 + np.arange(40)] = 0.0, 1.0
    detector = fs.NearestNeighbour().fit(rows[:150])
    said = detector.predict(rows[150:])
    assert (said == np.where(np.arange(150, 200) % 5 == 0, -1, 1)).all()
