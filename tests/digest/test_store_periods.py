"""What the store counts of a period is what counting by hand gives."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from digest import told
from firststory.records import Document, Step, Verdict
from firststory.store.period_reader import Came
from firststory.store.store import Store

TIMES = st.none() | st.datetimes(datetime(1969, 12, 29), datetime(1970, 1, 4), timezones=st.just(UTC))
ROWS = st.lists(
    st.tuples(TIMES, st.sampled_from([None, "AP", "dpa"]), st.sampled_from([None, "s1", "s2"]), st.booleans()),
    max_size=12,
)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def empty_store(request, tmp_path_factory):
    """`empty_store()` is the URL of a new store, for each example another."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").new_schema
    return lambda: str(tmp_path_factory.mktemp("counts") / "a.db")


@settings(max_examples=25, deadline=None)
@given(ROWS, ROWS, TIMES, TIMES)
def test_counts_by_period_story_and_day(empty_store, early, late, since, until):
    rows = [*early, *late]
    with Store(empty_store()) as store:
        first = 0
        for step, part in enumerate((early, late)):
            verdicts = tuple(
                Verdict(Document(f"d{n}", "x", time=time, source=source), 0.5, 0.5, False, story=story,
                        duplicate_of="d0" if duplicate else None)
                for n, (time, source, story, duplicate) in enumerate(part, first)
            )  # fmt: skip
            first += len(part)
            store.write_step(Step(step, verdicts))
        days = store.documents_per_day()
        came, by_story = store.came(since, until), store.came_by_story(since, until)
    inside = [
        row for row in rows
        if since is None or (row[0] is not None and since <= row[0] and (until is None or row[0] <= until))
    ]  # fmt: skip

    def counted(those):
        return Came(sum(not row[3] for row in those), len({row[1] for row in those} - {None}))

    assert came == counted(inside)
    assert by_story == {
        name: counted(those) for name in ("s1", "s2") if (those := [row for row in inside if row[2] == name])
    }
    assert days == Counter(row[0].date() for row in rows if row[0] is not None) and list(days) == sorted(days)


def test_first_and_latest_documents_and_merges(new_store):
    with Store(told.write(new_store("a"))) as store:
        assert store.first_document("s1").id == "f-3" and store.latest_document("s1").id == "f0"
        assert store.first_document("nosuch") is None and store.document("v-6").source == "AP"
        ((merged, time),) = store.merges("s1")
        assert merged.id == "s7" and merged.reason == "the same flood" and time == told.NOON
        arrived = store.arrivals_of("s1")
        assert [one.is_duplicate for one in arrived] == [False, False, False, True, False]
        assert arrived[0].time == told.NOON - timedelta(hours=3)
        assert [one.id for one in store.alerts(story="s2")] == ["a4"]
