"""Alerts and storylines in the store: exact, filtered, and with the story that has them now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event

from firststory.errors import ParameterError, StoreError
from firststory.records import Alert, Document, Step, Story, Storyline, Verdict
from firststory.store.outbox import Outbox
from firststory.store.store import Store

NOON = datetime(2026, 11, 15, 12, 0, 0, 123457, tzinfo=UTC)
HOSTILE = "<script>\x1b[31m\u202e'; DROP TABLE alerts; -- \N{GRINNING FACE} Überschwemmung"


def document(n: int, **changes) -> Document:
    values = {"id": f"d{n}", "text": f"Text {n}", "time": NOON + timedelta(hours=n), "title": f"Title {n}"}
    return Document(**{**values, "source": "paper", "extra": {"page": n}, **changes})


def alert(n: int, first: Document, headline: Document, **changes) -> Alert:
    values = {
        "id": f"a{n}",
        "kind": "confirmed",
        "first": first,
        "headline": headline,
        "fired_at": headline.time,
        "delay": timedelta(hours=2, microseconds=3),
        "documents": (first.id, headline.id),
        "sources": ("paper", "radio"),
        "terms": ("flood", "Bremen"),
        "story": "s1",
        "storyline": "l1",
        "score": 3.25,
        "sentence": "Told by 2 sources.",
    }
    return Alert(**{**values, **changes})


def story(name: str, **changes) -> Story:
    values = {"id": name, "title": "T", "first_seen": NOON, "last_seen": NOON, "size": 1, "representative": "d1"}
    return Story(**{**values, **changes})


def storyline(name: str, **changes) -> Storyline:
    values = {"id": name, "title": "T", "first_seen": NOON, "last_seen": NOON, "size": 3, "n_stories": 2}
    return Storyline(**{**values, **changes})


def step(index: int, *documents: Document, **changes) -> Step:
    verdicts = tuple(Verdict(one, 0.5, 0.5, False, story=changes.pop("in_story", "s1")) for one in documents)
    return Step(index=index, verdicts=verdicts, **changes)


@pytest.fixture
def store(new_store):
    with Store(new_store()) as opened:
        yield opened


@pytest.fixture
def three_days(store):
    """An alert of each kind, a day apart; the second and third have documents of earlier steps."""
    documents = [document(24 * n) for n in range(3)]
    fired = [
        alert(1, documents[0], documents[0], kind="first_seen"),
        alert(2, documents[0], documents[1], kind="confirmed"),
        alert(10, documents[1], documents[2], kind="turn"),
    ]
    for index, (one, shown) in enumerate(zip(documents, fired, strict=True)):
        store.write_step(step(index, one, alerts=(shown,)))
    return fired


def test_what_goes_in_comes_out_exactly(store):
    first = document(1, title=HOSTILE, source=HOSTILE, text=HOSTILE)
    fired = (
        alert(1, first, document(2), sources=(HOSTILE, "b"), terms=(HOSTILE,), sentence=HOSTILE),
        alert(2, first, first, kind="first_seen", fired_at=None, delay=None, story=None, storyline=None, sources=()),
    )
    lines = (
        storyline("l1", title=HOSTILE, sources=(HOSTILE,), key_terms=(HOSTILE, "x")),
        storyline("l2", first_seen=None, last_seen=None, status="faded"),
    )
    store.write_step(step(0, first, document(2), alerts=fired, storylines=lines))
    assert store.alerts() == fired
    assert store.alert("a2") == fired[1] and store.alert("a3") is None
    assert store.storylines(order="first_seen") == lines and store.storyline("l2") == lines[1]
    assert store.storyline("l3") is None


def test_documents_are_whole_whatever_was_kept_for_the_alert(store):
    whole = document(1, text="x" * 1000, url="https://example.org", label="a")
    slim = Document(whole.id, whole.text[:300], whole.time, whole.title, whole.source)
    store.write_step(step(0, whole, alerts=(alert(1, slim, slim),)))
    assert store.alerts()[0].first == store.alerts()[0].headline == whole


def test_a_document_that_the_store_never_had_is_no_error(store):
    store.write_step(step(0, document(1), alerts=(alert(1, document(9), document(1)),)))
    assert store.alerts()[0].first == Document("d9", "") and store.alerts()[0].headline == document(1)


def test_in_the_order_of_firing_or_latest_first(store, three_days):
    assert [one.id for one in store.alerts()] == ["a1", "a2", "a10"]
    assert [one.id for one in store.alerts(newest_first=True, limit=2)] == ["a10", "a2"]
    assert [one.id for one in store.alerts(after="a1", limit=1)] == ["a2"]
    assert store.alerts(after="a10") == ()
    with pytest.raises(StoreError, match="no alert a9"):
        store.alerts(after="a9")


def test_since_is_inclusive_and_kinds_are_chosen(store, three_days):
    second = three_days[1].fired_at
    assert [one.id for one in store.alerts(since=second)] == ["a2", "a10"]
    assert [one.id for one in store.alerts(since=second + timedelta(microseconds=1))] == ["a10"]
    assert [one.id for one in store.alerts(kind="turn")] == ["a10"]
    assert [one.id for one in store.alerts(kind=("turn", "first_seen"), since=second)] == ["a10"]
    assert store.count_alerts() == {"confirmed": 1, "turn": 1, "first_seen": 1}
    assert store.count_alerts(since=second, kind="first_seen") == {"first_seen": 0}
    with pytest.raises(ParameterError, match="confirmed, turn, first_seen"):
        store.alerts(kind="gossip")


def test_alerts_without_a_time_are_always_shown(store):
    timeless = document(1, time=None)
    fired = alert(1, timeless, timeless, fired_at=None, delay=None)
    store.write_step(step(0, timeless, alerts=(fired,)))
    assert store.alerts(since=NOON) == (fired,) and store.last_time() is None


def test_many_alerts_take_few_queries(store):
    documents = [document(n) for n in range(1200)]
    fired = tuple(alert(n, documents[n], documents[n - 1]) for n in range(1, 1200))
    store.write_step(step(0, *documents, alerts=fired))
    asked = []
    event.listen(store._engine, "before_cursor_execute", lambda *about: asked.append(about[2]))
    assert store.alerts() == fired
    assert sum(statement.startswith("SELECT") for statement in asked) == 4  # the alerts, then 500 documents at a time


def test_an_alert_follows_its_story_through_merges_and_splits(store):
    documents = [document(n) for n in range(3)]
    fired = alert(1, documents[0], documents[1], story="s3")
    store.write_step(step(0, *documents, alerts=(fired,), in_story="s3"))
    merged = (
        story("s3", status="merged", merged_into="s2", reason="told by the same documents"),
        story("s2", status="merged", merged_into="s1"),
        story("s1"),
    )
    # One that fires in the step in which its story is merged follows too.
    again = alert(2, documents[2], documents[2], story="s2")
    store.write_step(step(1, stories=merged, alerts=(again,)))
    assert [one.story for one in store.alerts()] == ["s1", "s1"]
    assert store.story("s3").reason == "told by the same documents"


def test_the_storyline_is_that_of_the_story_now(store):
    one = document(1)
    fired = (alert(1, one, one, storyline=None), alert(2, one, one, story="s7", storyline="l8"))
    store.write_step(step(0, one, alerts=fired, stories=(story("s1"),)))
    assert [a.storyline for a in store.alerts()] == [None, "l8"]
    joined = (storyline("l1"), storyline("l9"))
    store.write_step(step(1, stories=(story("s1", storyline="l1"),), storylines=joined))
    assert [a.storyline for a in store.alerts()] == ["l1", "l8"]
    gone = (
        storyline("l1", status="merged", merged_into="l9", reason="the same words"),
        storyline("l8", status="merged", merged_into="l1"),
    )
    store.write_step(step(2, storylines=gone))
    assert [a.storyline for a in store.alerts()] == ["l9", "l9"]
    assert store.story("s1").storyline == "l9"
    assert [s.id for s in store.stories(storyline="l8")] == ["s1"] and store.stories(storyline="l2") == ()
    assert (store.current_storyline("l8"), store.storyline("l1").reason) == ("l9", "the same words")
    assert [line.id for line in store.storylines()] == ["l9"] and store.count_storylines() == 1
    assert store.count_storylines(merged=True) == len(store.storylines(merged=True)) == 3


def test_storylines_are_replaced_and_ordered(store):
    store.write_step(step(0, storylines=(storyline("l1"), storyline("l2", size=9))))
    store.write_step(step(1, storylines=(storyline("l1", n_stories=5, last_seen=NOON + timedelta(1)),)))
    assert [line.id for line in store.storylines()] == ["l1", "l2"]
    assert [line.id for line in store.storylines(order="size", limit=1)] == ["l2"]
    assert store.storyline("l1").n_stories == 5


def test_an_alert_is_written_once_and_a_step_is_all_or_nothing(store, three_days):
    before = store.dump()
    with pytest.raises(StoreError):
        store.write_step(step(3, document(99), alerts=(replace(three_days[0], sentence="again"),)))
    assert store.dump() == before


def test_the_status_of_the_alerts_is_that_of_the_last_step(store):
    store.write_step(step(0))
    assert store.alerts_status() == {}
    store.write_step(step(1), alerts_status={"ceiling": "20/day", "price": float("inf"), "held_back": {"warm-up": 3}})
    store.write_step(step(2), alerts_status={"ceiling": "5/day"})
    told = store.status()
    assert told["alerts"] == {"ceiling": "5/day"} == store.alerts_status()
    assert told["alert_counts"] == {"confirmed": 0, "turn": 0, "first_seen": 0} and told["storylines"] == 0


def test_a_new_sink_gets_what_fires_from_then_on_and_a_known_one_all_since(three_days, store):
    """What `backfill` found before a sink was named is not sent; what it finds later is, by the next run."""
    store.claim()
    outbox = Outbox(store, "jsonl:alerts.jsonl", ("confirmed", "turn"))
    assert outbox.waiting() == ()
    late = document(24 * 3)
    store.write_step(step(3, late, alerts=(alert(11, late, late),)))
    again = Outbox(store, "jsonl:alerts.jsonl", ("confirmed", "turn"))
    assert [one.id for one in again.waiting()] == ["a11"]
    assert Outbox(store, "exec:logger", ("confirmed", "turn")).waiting() == ()
