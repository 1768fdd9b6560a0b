"""One story: its timeline adds up, turning points are in the order of time, and merged stories lead to it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from digest import told
from firststory.digest.story import detail_json, story_detail
from firststory.digest.timeline import MAX_COLUMNS, start_of, timeline_of
from firststory.store.period_reader import Arrived
from firststory.store.store import Store


def test_a_story_with_all_that_the_store_knows(tmp_path):
    with Store(str(told.write(tmp_path / "a.db"))) as store:
        detail = story_detail(store, "s1")
        again = story_detail(store, "s7")
        assert story_detail(store, "nosuch") is None
        limited = story_detail(store, "s1", limit=2)
    assert detail.first.id == "f-3" and detail.storyline.title == "Floods of the north"
    assert [(one.kind, one.id) for one in detail.turning_points] == [
        ("first_seen", "a2"), ("confirmed", "a3"), ("confirmed", "a5"), ("turn", "a6"), ("merged", "s7"),
    ]  # fmt: skip
    assert detail.turning_points[-1].reason == "the same flood" and detail.holds == ("s7",)
    # Of the stories that began earlier the one that began last.
    assert detail.earlier.id == "s4"
    assert detail.timeline.unit == "hour" and sum(one.documents for one in detail.timeline.columns) == 5
    assert [one.document.id for one in limited.verdicts] == ["f-again", "f0"] and limited.n_documents == 5
    assert again.story.id == "s1" and again.asked.id == "s7"


def test_json_of_a_story_is_documented_and_whole(tmp_path):
    with Store(str(told.write(tmp_path / "a.db"))) as store:
        value = detail_json(story_detail(store, "s1"))
    assert list(value)[-8:] == [
        "first", "storyline_title", "earlier", "holds", "timeline", "turning_points", "n_documents", "documents",
    ]  # fmt: skip
    assert [one["id"] for one in value["documents"]] == ["f-3", "f-2", "f-1", "f-again", "f0"]
    assert value["documents"][3]["duplicate_of"] == "f-3" and value["first"]["url"] == "https://example.org/f-3"
    assert sum(column["documents"] for column in value["timeline"]["columns"]) == value["n_documents"] == 5
    assert value["size"] + value["duplicates"] == 4  # as the story itself was written


@given(st.lists(st.integers(0, 3_000_000), min_size=1, max_size=60))
def test_a_timeline_counts_every_document_in_few_columns(minutes):
    arrivals = [Arrived(told.NOON + timedelta(minutes=n), f"paper {n % 3}", False) for n in minutes]
    timeline = timeline_of(arrivals)
    counted = Counter(start_of(one.time, timeline.unit) for one in arrivals)
    assert {column.start: column.documents for column in timeline.columns} == counted
    assert [column.start for column in timeline.columns] == sorted(counted)
    assert timeline.unit in ("hour", "month") or len(timeline.columns) <= MAX_COLUMNS
    for column in timeline.columns:
        sources = {one.source for one in arrivals if start_of(one.time, timeline.unit) == column.start}
        assert column.sources == len(sources)


def test_days_are_not_shown_by_the_hour_and_nothing_is_no_timeline():
    midnight = told.NOON.replace(hour=0)
    assert timeline_of([Arrived(midnight, None, False)]).unit == "day"
    assert timeline_of([Arrived(told.NOON, None, False)]).unit == "hour"
    assert timeline_of([Arrived(None, "AP", False)]).columns == ()
