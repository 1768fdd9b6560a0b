"""Lineage on topics whose fate is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.state import flatten, unflatten
from firststory.topics.lineage import HISTORY_STEPS, KEPT_EVENTS, Lineage, match_topics


def blocks(*groups, width=20):
    """Topics with equal weight on the given terms."""
    rows = np.zeros((len(groups), width))
    for row, terms in zip(rows, groups, strict=True):
        row[list(terms)] = 1.0
    return rows


A, B, C, D = range(4), range(4, 8), range(8, 12), range(12, 16)


def kinds(lineage, step):
    return sorted((event.kind, event.topic, *event.others) for event in lineage.events_at(step))


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(4)), scale=st.floats(0.1, 100))
def test_names_follow_topics_not_rows(order, scale):
    lineage = Lineage().update(blocks(A, B, C, D))
    lineage.update(scale * blocks(A, B, C, D)[list(order)])
    assert lineage.ids == [f"t{row + 1}" for row in order]
    np.testing.assert_allclose(lineage.similarity, 1.0)
    np.testing.assert_allclose(lineage.drift, 0.0, atol=1e-12)
    np.testing.assert_allclose(lineage.own_part, 1.0)
    assert kinds(lineage, 1) == []


def test_birth_and_fading():
    lineage = Lineage().update(blocks(A, B))
    lineage.update(blocks(A, C))
    assert lineage.ids == ["t1", "t3"]
    assert kinds(lineage, 1) == [("born", "t3"), ("faded", "t2")]
    assert lineage.born == [0, 1]


def test_split():
    """One topic of eight terms becomes two of four: the relation matrix has two entries of a half in its row."""
    lineage = Lineage().update(blocks([*A, *B], C))
    lineage.update(blocks(A, B, C))
    assert kinds(lineage, 1) == [("split", "t3", "t1")]
    [event] = lineage.events_at(1)
    assert event.weight == pytest.approx(0.5, abs=1e-6) and "0.50 t1" in event.evidence


def test_merge():
    lineage = Lineage().update(blocks(A, B, C))
    lineage.update(blocks([*A, *B], C))
    assert lineage.ids == ["t1", "t3"] or lineage.ids == ["t2", "t3"]
    [event] = lineage.events_at(1)
    assert event.kind == "merged" and event.others == (lineage.ids[0],)
    np.testing.assert_allclose(lineage.own_part, [0.5, 1.0])  # half of what flowed in came from the other


def test_a_change_stands_out_against_the_running_median():
    rng = np.random.default_rng(0)
    lineage = Lineage()
    for step in range(12):
        topics = blocks(A, B) + 0.1 * rng.random((2, 20))
        if step == 8:
            topics[0, 8:13] += 1.0
        lineage.update(topics)
        assert lineage.changed.tolist() == [step == 8 or (step == 9), False], step
    changed = [event for event in lineage.events if event.kind == "changed"]
    assert [(event.step, event.topic) for event in changed] == [(8, "t1"), (9, "t1")]


def test_fading_by_share_and_coming_back():
    lineage = Lineage()
    shares = [0.5] * 8 + [0.02] * 6 + [0.5] * 6 + [0.02] * 6
    for share in shares:
        lineage.update(blocks(A, B), np.array([share, 1.0 - share]))
    faded = [event for event in lineage.events if event.kind == "faded"]
    assert [event.topic for event in faded] == ["t1", "t1"]
    assert 8 <= faded[0].step <= 10 and 20 <= faded[1].step <= 22
    np.testing.assert_allclose(lineage.trend(0), shares[-HISTORY_STEPS:])


def test_the_vocabulary_may_grow_and_topics_may_be_empty():
    lineage = Lineage().update(np.zeros((2, 3)))
    assert lineage.ids == ["", ""] and lineage.events == []
    lineage.update(blocks(A, B, width=10))
    assert lineage.ids == ["t1", "t2"]
    lineage.update(blocks(A, [], B, width=30))
    assert lineage.ids == ["t1", "", "t2"]


def test_state_round_trip_and_bound():
    rng = np.random.default_rng(1)
    lineage = Lineage()
    for _ in range(40):
        lineage.update(rng.random((4, 12)) ** 8, rng.random(4))
    assert len(lineage.events) == KEPT_EVENTS and lineage.shares.shape == (4, HISTORY_STEPS)
    flat = flatten({"lineage_": lineage.get_state()})
    twin = Lineage.from_state(unflatten(flat)["lineage_"])
    more = rng.random((5, 14)) ** 8
    assert twin.update(more).events == lineage.update(more).events
    assert twin.ids == lineage.ids
    np.testing.assert_array_equal(twin.relation, lineage.relation)


def test_shuffled_topics_are_matched_whatever_their_width():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(20, 0.1), size=6)
    shuffle = rng.permutation(6)
    wider = np.hstack([topics[shuffle], np.zeros((6, 3))]) + 1e-4
    for found, true in ((wider, topics), (topics[shuffle], np.hstack([topics, np.zeros((6, 3))]))):
        rows, cosines = match_topics(found, true)
        np.testing.assert_array_equal(shuffle[rows], np.arange(6))
        assert cosines.min() > 0.999
    rows, cosines = match_topics(np.eye(3, 4), np.zeros((3, 4)))  # rows of zeros are like nothing, and do not divide
    assert sorted(rows) == [0, 1, 2] and not cosines.any()
