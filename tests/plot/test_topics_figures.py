"""The topic figures hold what the data says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import firststory as fs
from firststory.records import Topic, TopicEvent


def course(shares):
    """Steps of topics from {id: shares over time}; None is absent."""
    n = len(next(iter(shares.values())))
    return [
        [Topic(name, ((f"word-{name}", 0.5),), s[t], born=0) for name, s in shares.items() if s[t] is not None]
        for t in range(n)
    ]


STEPS = course(
    {"t1": [0.8, 0.7, 0.4, 0.2, 0.1, 0.1], "t2": [0.2, 0.3, 0.6, 0.8, 0.5, 0.2], "t3": [None] * 4 + [0.4, 0.7]}
)
EVENTS = [TopicEvent(0, "born", "t1"), TopicEvent(4, "split", "t3", ("t2",)), TopicEvent(5, "faded", "t1")]


def test_river_draws_each_topic_as_thick_as_its_share():
    ax = fs.plot.topic_river(STEPS)
    assert len(ax.collections) == 3
    assert sorted(text.get_text() for text in ax.texts)[-3:] == ["word-t1", "word-t2", "word-t3"]
    heights = [np.ptp(band.get_paths()[0].vertices[:, 1]) for band in ax.collections]
    assert max(heights) > 0.6


def test_river_leaves_out_what_never_moves():
    steps = course({"still": [0.5] * 6, "up": [0.1, 0.2, 0.2, 0.3, 0.4, 0.4], "down": [0.4, 0.3, 0.3, 0.2, 0.1, 0.1]})
    names = [text.get_text() for text in fs.plot.topic_river(steps, n_topics=2).texts]
    assert "word-still" not in names and "word-up" in names


@pytest.mark.parametrize("aware", [True, False])
def test_times_may_be_datetimes(aware):
    begin = datetime(2020, 1, 1, tzinfo=UTC if aware else None)
    times = [begin + timedelta(days=3 * day) for day in range(6)]
    for ax in (fs.plot.topic_river(STEPS, times), fs.plot.lineage(STEPS, EVENTS, times)):
        ax.figure.canvas.draw()


def test_lineage_names_topics_in_the_order_of_birth_and_marks_events():
    ax = fs.plot.lineage(STEPS, EVENTS)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["word-t1", "word-t2", "word-t3"]
    assert sorted(text.get_text() for text in ax.get_legend().get_texts()) == ["faded", "split off"]


def test_a_topic_has_one_colour_in_both_figures():
    river, below = fs.plot.topic_river(STEPS), fs.plot.lineage(STEPS, EVENTS)
    bands = {tuple(band.get_facecolor()[0][:3]) for band in river.collections}
    lines = {tuple(line.get_facecolor()[0][:3]) for line in below.collections}
    assert bands == lines and len(bands) == 3
    chosen = fs.plot.topic_river(STEPS, n_topics=1)  # fewer bands, the same colours
    assert {tuple(band.get_facecolor()[0][:3]) for band in chosen.collections} < lines


def test_names_are_labels_and_do_not_lie_upon_each_other():
    label = ("a rather long name of a topic that fills the river from bank to bank", "and another phrase")
    steps = [
        [Topic(f"l{n}", (("stem", 0.5),), 0.1 + 0.01 * t * (n % 2), label=label) for n in range(30)] for t in range(6)
    ]
    ax = fs.plot.topic_river(steps, n_topics=30, n_terms=1)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text() == label[0]]
    assert 1 <= len(boxes) < 30
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_word_curves():
    ax = fs.plot.word_curves({"aid": [0.0, 0.1, 0.3], "debt": [0.2, 0.1, 0.0]}, topic="finance")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["aid", "debt"]
    np.testing.assert_allclose([line.get_xydata()[0] for line in ax.lines[1::2]], [[2, 0.3], [0, 0.2]])  # the peaks
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.0, 0.1, 0.3])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("times", [[datetime(2020, 1, 1, tzinfo=UTC)] * 6, [7.0] * 6])
def test_steps_that_all_have_one_time_are_drawn_without_a_warning(times):
    for ax in (fs.plot.topic_river(STEPS, times), fs.plot.lineage(STEPS, EVENTS, times)):
        ax.figure.canvas.draw()


@pytest.mark.parametrize("draw", [fs.plot.topic_river, fs.plot.lineage])
def test_one_step_and_no_step(draw):
    draw(STEPS[:1]).figure.canvas.draw()
    draw([]).figure.canvas.draw()
