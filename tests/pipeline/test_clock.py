"""Which times are believed: one wrong date is harmless, a long silence is not taken for one."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firststory.pipeline.build import build_core
from firststory.pipeline.clock import FAR_AHEAD_SECONDS, StreamClock
from firststory.pipeline.runner import Runner
from firststory.records import Batch, Document, Position
from firststory.store.store import Store

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 86400.0


def read(clock, *days):
    """Days since the start as the clock has them; None for a document without a time."""
    times = [None if day is None else START + timedelta(days=day) for day in days]
    seconds = clock.seconds_of([Document(id=str(i), text="", time=time) for i, time in enumerate(times)])
    return None if seconds is None else [(time - START.timestamp()) / DAY for time in seconds.tolist()]


@given(st.lists(st.floats(-FAR_AHEAD_SECONDS / DAY, FAR_AHEAD_SECONDS / DAY), min_size=1), st.integers(1, 7))
def test_what_is_not_far_ahead_is_taken_as_it_is(gaps, size):
    days, high = [], 0.0
    for gap in gaps:
        days.append(round(high + gap))
        high = max(high, days[-1])
    clock = StreamClock()
    read(clock, 0)
    found = [day for at in range(0, len(days), size) for day in read(clock, *days[at : at + size])]
    assert found == days and clock.unbelieved == 0


def test_one_or_two_wrong_dates_are_not_believed():
    clock = StreamClock()
    assert read(clock, 0, 1, 9000, 2, 9000, 9000, 3) == [0, 1, 1, 2, 2, 2, 3]
    assert read(clock, 9000, 9000) == [3, 3] and read(clock, 4) == [4]
    assert clock.unbelieved == 5


def test_a_source_whose_clock_is_wrong_for_good_is_never_believed():
    clock = StreamClock()
    for day in range(50):
        assert read(clock, day, 9000 + day) == [day, day]


def test_after_a_long_silence_the_stream_goes_on():
    clock = StreamClock()
    assert read(clock, 0, 1, 2000, 2000, 2001, 2002) == [0, 1, 2000, 2000, 2001, 2002]
    assert read(clock, 5000) == [2002] and read(clock, 5001) == [2002]  # one at a time, nobody confirms the first two
    assert read(clock, 5002, 5003) == [5002, 5003]
    assert clock.unbelieved == 2


def test_where_the_first_date_is_wrong_the_others_decide():
    clock = StreamClock()
    assert read(clock, 9000, 0, 1, 2) == [0, 0, 1, 2]


def test_documents_without_a_time_take_the_time_before():
    assert read(StreamClock(), 0, None, 3, None) == [0, 0, 3, 3]
    assert read(StreamClock(), None, None) is None
    clock = StreamClock()
    assert read(clock, 0) == [0] and read(clock, None, 9000, None) == [0, 0, 0] and read(clock) == []


def test_a_wrong_date_changes_no_other_verdict_and_no_story(news, quick):
    wrong = dataclasses.replace(news[70], time=datetime(2099, 1, 1, tzinfo=UTC))
    found = []
    for documents in (news, [*news[:70], wrong, *news[71:]]):
        core = build_core(quick(detector="fused"))
        steps = [core.step(Batch(i, tuple(documents[at : at + 20]))) for i, at in enumerate(range(0, len(news), 20))]
        found.append([(v.novelty, v.is_novel, v.story) for step in steps for v in step.verdicts])
    assert sum(step.counts["ahead"] for step in steps) == 1
    assert found[0][:70] == found[1][:70]
    told = [[story for _, _, story in verdicts] for verdicts in found]
    assert told[0] == told[1]
    late = [abs(a[0] - b[0]) for a, b in zip(found[0][71:], found[1][71:], strict=True)]
    assert max(late) < 0.01


@pytest.mark.parametrize("step", [20, "1h", "1d"])
def test_a_wrong_date_makes_nothing_late_and_is_not_the_end_of_the_stream(tmp_path, news, quick, step):
    wrong = dataclasses.replace(news[70], time=datetime(2031, 1, 1, tzinfo=UTC))
    arrivals = [(d, Position("news", {"line": i})) for i, d in enumerate([*news[:70], wrong, *news[71:]])]
    with Store(str(tmp_path / "news.db")) as store:
        list(Runner(quick(step=step), store).run(iter(arrivals)))
        told = store.status()
    assert told["counts"]["ahead"] == 1 and told["counts"]["late"] == 0
    assert told["last_time"] == max(document.time for document in news)
