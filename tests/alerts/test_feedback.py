"""Marks move the bar and the weights, and a mark taken back leaves no trace."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.alerts.budget import parse_budget
from firststory.alerts.feedback import LEAST_STRICTNESS, MIN_MARKS, MOST_STRICTNESS, Feedback, Mark
from firststory.alerts.gate import AlertGate

marks = st.lists(st.tuples(st.sampled_from("abcde"), st.booleans()), max_size=30)


@settings(max_examples=60, deadline=None)
@given(marks, st.sampled_from("abcdefg"), st.booleans())
def test_undo_gives_exactly_the_state_before(before, verdict, useful):
    feedback = Feedback()
    for name, good in before:
        feedback.mark(Mark(name, good, 0.5, (0.1, 0.2)))
    state, strictness = feedback.get_state(), feedback.strictness
    feedback.mark(Mark(verdict, useful, 0.5, (0.3, 0.1)))
    feedback.undo(verdict)
    assert feedback.get_state() == state and feedback.strictness == strictness
    twin = Feedback.from_state(json.loads(json.dumps(state)))
    assert twin.marks == feedback.marks and twin.neighbour_weight == feedback.neighbour_weight


def test_marks_move_the_bar_within_bounds():
    feedback = Feedback()
    for i in range(200):
        feedback.mark(Mark(f"d{i}", useful=False))
    assert feedback.strictness == LEAST_STRICTNESS
    for i in range(60):
        feedback.mark(Mark(f"e{i}", useful=True))  # old complaints need not be outweighed one by one
    assert feedback.strictness == MOST_STRICTNESS


def test_not_useful_makes_fewer_alerts():
    rng = np.random.default_rng(0)
    scores, times = rng.random(4000), np.arange(4000) * 600.0
    counts = []
    for strictness in (1.2, 1.0, 0.5):
        gate = AlertGate("20/day")
        gate.keeper.strictness = strictness
        counts.append(sum(gate.judge([s], [t])[0].is_novel for s, t in zip(scores, times, strict=True)))
    assert counts[0] > 1.1 * counts[1] and counts[2] < 0.6 * counts[1]


def test_weights_follow_the_part_that_people_agree_with():
    rng = np.random.default_rng(1)
    for truth, expected in ((0, 1.0), (1, 0.0)):  # usefulness depends on one part alone
        feedback = Feedback()
        for i in range(200):
            parts = rng.random(2)
            feedback.mark(Mark(f"d{i}", bool(parts[truth] + 0.1 * rng.normal() < 0.5), 0.5, tuple(parts)))
            if i + 1 < MIN_MARKS:
                assert feedback.neighbour_weight is None
        assert abs(feedback.neighbour_weight - expected) <= 0.15
        assert "counts" in feedback.explain()
        parts = (np.array([0.9, 0.1]), np.array([0.1, 0.9]))
        assert np.argmin(feedback.weigh(np.array([0.5, 0.5]), parts)) == truth


def test_random_marks_leave_the_weights_near_one_half():
    rng = np.random.default_rng(2)
    feedback = Feedback()
    for i in range(60):
        feedback.mark(Mark(f"d{i}", bool(rng.random() < 0.5), 0.5, tuple(rng.random(2))))
    assert 0.2 <= feedback.neighbour_weight <= 0.8


def test_words_for_a_mark_that_is_not_there():
    assert "no mark" in Feedback().undo("nobody")


def test_what_marks_do_to_a_fixed_threshold_is_said_in_novelty():
    feedback, budget = Feedback(), parse_budget(0.8)
    words = [feedback.mark(Mark(f"d{i}", useful=False), budget) for i in range(28)]
    assert words[0].endswith("0 of 1 marked verdicts were useful: the threshold is now 0.8039 in place of 0.8.")
    assert words[-1].endswith("the threshold is now 0.86 in place of 0.8.")
    for i in range(28):
        back = feedback.undo(f"d{i}", budget)
    assert back == "Taken back. No verdict is marked: the threshold is 0.8."
