"""TDT cost and DET curves against brute force over every threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firststory as fs
from firststory.errors import ParameterError
from firststory.evaluate import det_curve, roc_auc_by_step, tdt_cost
from firststory.evaluate.ranking import roc_auc


@st.composite
def judged(draw):
    n = draw(st.integers(2, 25))
    topics = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    seen, y = set(), []
    for topic in topics:
        y.append(topic not in seen)
        seen.add(topic)
    # Few distinct values, so that ties are common.
    score = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    return np.array(y), np.array(score, float), np.array(topics)


def brute_force(y, score, topics, lone):
    """Every threshold, every topic, in plain loops."""
    candidates = [np.inf, *sorted(set(score)), -np.inf]
    story, topic = [], []
    for cut in candidates:
        said = score > cut
        miss = np.mean(~said[y])
        fa = np.mean(said[~y]) if (~y).any() else 0.0
        story.append(miss + 4.9 * fa)
        misses, alarms = [], []
        for name in set(topics):
            inside = topics == name
            misses.append(np.mean(~said[inside & y]))
            others = inside & ~y
            if others.any():
                alarms.append(np.mean(said[others]))
            elif lone == "zero":
                alarms.append(0.0)
        topic.append(np.mean(misses) + 4.9 * (np.mean(alarms) if alarms else 0.0))
    return min(story), min(topic)


@given(judged(), st.sampled_from(["zero", "omit"]))
@settings(max_examples=150, deadline=None)
def test_cost_equals_brute_force(case, lone):
    y, score, topics = case
    cost = tdt_cost(y, score, topics, lone_topics=lone, n_bootstrap=0)
    story, topic = brute_force(y, score, topics, lone)
    assert cost.story_weighted == pytest.approx(story, abs=1e-12)
    assert cost.topic_weighted == pytest.approx(topic, abs=1e-12)
    said = score > cost.story_threshold
    fa = np.mean(said[~y]) if (~y).any() else 0.0
    assert np.mean(~said[y]) + 4.9 * fa == pytest.approx(story, abs=1e-12)


@given(judged(), st.floats(-5, 5))
@settings(max_examples=40, deadline=None)
def test_a_constant_score_costs_exactly_one(case, value):
    y, score, topics = case
    if (~y).sum() * 4.9 < 1 or len(set(topics)) < 1 or not (~y).any():
        return
    cost = tdt_cost(y, np.full(len(score), value), topics, lone_topics="omit", n_bootstrap=0)
    assert cost.story_weighted == 1.0
    assert cost.topic_weighted == 1.0


def test_costs_other_than_the_default():
    y, score = [True, False, False], [0.5, 0.9, 0.1]
    # Never alerting costs C_miss P_target; normalised by the cheaper of the two trivial systems.
    assert tdt_cost(y, score, c_fa=1.0).story_weighted == 1.0
    assert tdt_cost(y, score, c_miss=1.0, c_fa=1e-4, p_target=0.5).story_weighted == pytest.approx(0.5)


def test_unlabelled_documents_are_streamed_but_not_judged():
    y = [True, False, True, False]
    judged = tdt_cost(y, [4, 1, 3, 0], ["a", "a", "b", "b"])
    mixed = tdt_cost([*y, False], [4, 1, 3, 0, 9], ["a", "a", "b", "b", None])
    assert mixed == judged


def test_the_interval_covers_the_value_and_is_seeded():
    stream = fs.datasets.make_story_stream(400, 40)
    rng = np.random.default_rng(0)
    score = stream.first_story + rng.normal(size=400)
    first = tdt_cost(stream.first_story, score, stream.labels)
    assert first == tdt_cost(stream.first_story, score, stream.labels)
    assert first.interval[0] <= first.topic_weighted <= first.interval[1]
    assert first.n_targets == 40


@given(judged())
@settings(max_examples=60, deadline=None)
def test_det_is_monotone_and_ends_in_both_corners(case):
    y, score, _ = case
    curve = det_curve(y, score)
    assert curve.p_miss[0] == 1.0 and curve.p_miss[-1] == 0.0 and curve.p_fa[0] == 0.0
    assert (np.diff(curve.p_miss) <= 1e-12).all() and (np.diff(curve.p_fa) >= -1e-12).all()
    assert len(curve.threshold) == len(set(score)) + 1


@given(judged())
@settings(max_examples=60, deadline=None)
def test_auc_counts_pairs(case):
    y, score, _ = case
    if y.all():
        assert np.isnan(roc_auc(y, score))
        return
    pairs = score[y][:, None] - score[~y][None, :]
    assert roc_auc(y, score) == pytest.approx(np.mean((pairs > 0) + 0.5 * (pairs == 0)))


def test_auc_by_step_leaves_out_steps_without_news():
    result = roc_auc_by_step([1, 0, 0, 0], [2, 1, 5, 6], step=[0, 0, 1, 1])
    assert result.auc[0] == 1.0 and np.isnan(result.auc[1]) and result.average == 1.0


def test_infinite_scores_are_ordered_like_any_other():
    assert tdt_cost([True, False], [np.inf, -np.inf]).story_weighted == 0.0


@pytest.mark.parametrize("y, score", [([True, False], [np.nan, 0.0]), ([True], [0.0, 1.0]), ([False], [1.0])])
def test_bad_input_is_named(y, score):
    with pytest.raises(ParameterError, match="tdt_cost"):
        tdt_cost(y, score)
