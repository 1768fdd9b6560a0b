"""Windows by number and by time; late documents; going on where an earlier run stopped."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.errors import ParameterError
from firststory.pipeline.steps import Stepper, parse_step
from firststory.records import Document, Position, Quarantined

START = datetime(2026, 11, 15, tzinfo=UTC)


def arrival(i, hours=None):
    time = None if hours is None else START + timedelta(hours=hours)
    return Document(id=str(i), text="x", time=time), Position("f", {"line": i})


def bad(i):
    return Quarantined("wrong-json", "m", Position("f", {"line": i}), "")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (1, (1, 0)),
        ("500", (500, 0)),
        ("1d", (10_000, 86400)),
        ("15min", (10_000, 900)),
        ("2 hours", (10_000, 7200)),
        ("30s", (10_000, 30)),
        ("2 Days", (10_000, 172800)),
        ("1w", (10_000, 604800)),
    ],
)
def test_what_people_write(written, meant):
    assert parse_step(written) == meant


@pytest.mark.parametrize("wrong", [0, -1, "0d", "d", "", "1 fortnight", True, 2.5, None])
def test_nonsense_is_refused(wrong):
    with pytest.raises(ParameterError):
        parse_step(wrong)


def test_by_time_a_window_closes_when_the_next_begins():
    hours = [0, 5, 23, 24, 30, 71]
    batches = list(Stepper("1d").batches([arrival(i, h) for i, h in enumerate(hours)]))
    assert [[d.id for d in batch.documents] for batch in batches] == [["0", "1", "2"], ["3", "4"], ["5"]]
    assert [batch.positions[0].at["line"] for batch in batches] == [2, 4, 5]
    assert [batch.index for batch in batches] == [0, 1, 2]


def test_after_one_wrong_date_not_everything_is_late_for_ever():
    hours = [0, 1, 640_000, 3, 4, 5, 6, 7, 8, 9]
    batches = list(Stepper(3).batches([arrival(i, h) for i, h in enumerate(hours)]))
    assert [batch.late for batch in batches] == [0, 0, 0, 0]
    # What a batch reached is all that a later run knows.
    later = list(Stepper(3, reached=batches[0].reached).batches([arrival(i, h) for i, h in enumerate(hours) if i > 2]))
    assert [batch.late for batch in later] == [0, 0, 0]


@pytest.mark.parametrize("width", [3, 100, "1h", "1d"])
def test_after_one_date_far_ahead_nothing_is_late(width):
    hours = [0.1 * i for i in range(10)] + [40_000] + [1 + 0.1 * i for i in range(200)]
    arrivals = [arrival(i, h) for i, h in enumerate(hours)]
    batches = list(Stepper(width).batches(arrivals))
    assert [d.id for batch in batches for d in batch.documents] == [str(i) for i in range(211)]
    assert sum(batch.late for batch in batches) == 0
    if width == "1h":  # the documents after it are in their own hours
        assert [len(batch.documents) for batch in batches] == [11] + 20 * [10]


@pytest.mark.parametrize("width", [3, 100, "1h", "1d"])
def test_a_stream_that_goes_on_after_a_long_silence_is_believed(width):
    hours = [*range(5), *range(40_000, 40_300)]
    batches = list(Stepper(width).batches([arrival(i, h) for i, h in enumerate(hours)]))
    assert sum(batch.late for batch in batches) == 0
    last = (START + timedelta(hours=40_299) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    unit = {"1h": 3_600_000_000, "1d": 86_400_000_000}.get(width, 1)
    assert batches[-1].reached == last // unit
    if width == "1d":
        assert len(batches) > 12


def test_late_documents_join_the_open_window_and_are_counted():
    batches = list(Stepper("1d").batches([arrival(i, h) for i, h in enumerate([0, 25, 1, 26, 49])]))
    assert [[d.id for d in batch.documents] for batch in batches] == [["0"], ["1", "2", "3"], ["4"]]
    assert [batch.late for batch in batches] == [0, 1, 0]
    counted = list(Stepper(2).batches([arrival(i, h) for i, h in enumerate([5, 3, 4, 6])]))
    assert [batch.late for batch in counted] == [0, 1]


def test_documents_without_times_stay_where_they_are():
    batches = list(Stepper("1d").batches([arrival(0, 0), arrival(1), arrival(2, 25), arrival(3)]))
    assert [[d.id for d in batch.documents] for batch in batches] == [["0", "1"], ["2", "3"]]


def test_what_was_put_aside_travels_with_its_batch_and_moves_the_position():
    batches = list(Stepper(2).batches([arrival(0), bad(1), arrival(2), bad(3)]))
    assert [(len(b.documents), len(b.quarantined)) for b in batches] == [(2, 1), (0, 1)]
    assert batches[1].positions[0].at["line"] == 3


def test_a_window_in_time_never_holds_more_than_memory_allows(monkeypatch):
    monkeypatch.setattr("firststory.pipeline.steps.MAX_DOCUMENTS", 3)
    batches = list(Stepper("1d").batches([arrival(i, 1) for i in range(7)]))
    assert [len(batch.documents) for batch in batches] == [3, 3, 1]


@pytest.mark.parametrize("width", [2, 3, "1d", "6h"])
@pytest.mark.parametrize("k", range(4))
def test_going_on_in_the_middle_of_a_long_silence_that_ends(width, k):
    arrivals = [arrival(i, h) for i, h in enumerate([0, 40_000, 40_000, 40_000, 40_030, 40_060])]
    whole = list(Stepper(width).batches(arrivals))
    if k < len(whole):
        rest = arrivals[whole[k].positions[0].at["line"] + 1 :]
        assert list(Stepper(width, whole[k].reached).batches(rest, k + 1)) == whole[k + 1 :]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 100), st.integers(40_000, 40_100)), min_size=1, max_size=40),
    st.sampled_from([1, 3, "1d", "6h"]),
    st.data(),
)
def test_stopping_after_any_batch_and_going_on_changes_nothing(hours, width, data):
    arrivals = [arrival(i, h) for i, h in enumerate(hours)]
    whole = list(Stepper(width).batches(arrivals))
    assert [d.id for batch in whole for d in batch.documents] == [d.id for d, _ in arrivals]
    k = data.draw(st.integers(0, len(whole) - 1))
    rest = arrivals[whole[k].positions[0].at["line"] + 1 :]
    assert list(Stepper(width, whole[k].reached).batches(rest, k + 1)) == whole[k + 1 :]


def test_one_document_from_the_far_future_does_not_stop_the_clock():
    hours = [0, 24, 700_000, *[24 * (2 + i // 30) + i % 24 for i in range(300)]]
    batches = list(Stepper("1d").batches([arrival(i, h) for i, h in enumerate(hours)]))
    assert sum(len(batch.documents) for batch in batches) == 303
    assert [len(batch.documents) for batch in batches[-3:]] == [30, 30, 30]
    assert sum(batch.late for batch in batches) == 0
    k = 2
    rest = [arrival(i, h) for i, h in enumerate(hours)][batches[k].positions[0].at["line"] + 1 :]
    assert list(Stepper("1d", batches[k].reached).batches(rest, k + 1)) == batches[k + 1 :]
