"""The adaptor speaks river's verbs and says what the detector says."""

from __future__ import annotations

import pytest

import firststory as fs

pytest.importorskip("river", reason="pip install 'firststory[river]'")


def test_scores_equal_the_detectors_own():
    from river.base import AnomalyDetector

    model = fs.river.as_river(fs.NearestNeighbour())
    assert isinstance(model, AnomalyDetector)
    assert model.score_one({"flood": 1}) == 1.0
    model.learn_one({"flood": 1.0, "bridge": 1.0})
    before = model.score_one({"flood": 1.0, "storm": 1.0})
    assert before == model.score_one({"flood": 1.0, "storm": 1.0})  # scoring never learns, columns included
    assert before == pytest.approx(0.5)
    model.learn_one({"storm": 1.0, "flood": 1.0})
    assert model.score_one({"flood": 1.0, "storm": 1.0}) == pytest.approx(0.0, abs=1e-9)
    assert 0.0 < model.score_one({}) <= 1.0 or model.score_one({}) == 0.0
