"""What the page counts, on both databases, against the same counted by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from firststory.records import Storyline, Topic
from firststory.store.arrival_reader import Grew
from firststory.store.store import Store
from store.made import NOON, step, story, verdict

HOUR = timedelta(hours=1)
SOURCES = ("paper", "radio", None)


def brought(n):
    """Document n, n hours after noon: every fifth a duplicate, stories and sources in turn."""
    made = verdict(f"d{n}", story=f"s{n % 4 + 1}", duplicate_of="d1" if n % 5 == 4 else None)
    return replace(made, document=replace(made.document, source=SOURCES[n % 3]))


DOCUMENTS = [brought(n) for n in range(1, 41)]
LINES = {"s1": "l1", "s2": "l1", "s3": "l2", "s4": None}


@pytest.fixture
def store(new_store):
    with Store(new_store()) as store:
        store.claim()
        for index in range(4):
            stories = tuple(story(name, storyline=line) for name, line in LINES.items())
            lines = tuple(Storyline(name, name, NOON, NOON, 9, 2, ("paper",)) for name in ("l1", "l2"))
            label = ("old name",) if index == 0 else ("Bremen", "flood")
            topics = (Topic("l1", (("flood", 1.0),), 0.5, label=label), Topic("l2", (), 0.1)) if index < 3 else ()
            store.write_step(
                step(
                    index,
                    verdicts=tuple(DOCUMENTS[10 * index : 10 * index + 10]),
                    stories=stories,
                    storylines=lines,
                    topics=topics,
                )
            )
        yield store


@pytest.mark.parametrize("level", ["story", "storyline"])
@pytest.mark.parametrize(("length", "lately"), [(24, 6), (72, 6), (8, 12)])
def test_growth_is_what_is_counted_by_hand(store, level, length, lately):
    until = DOCUMENTS[-1].document.time

    def hand(name):
        own = [one for one in DOCUMENTS if (one.story if level == "story" else LINES[one.story]) == name]
        back = [((until - one.document.time) / HOUR, one) for one in own]
        whole = [one for hours, one in back if hours <= length]
        texts = [(hours, one) for hours, one in back if one.duplicate_of is None]
        return Grew(
            sum(hours <= length for hours, _ in texts),
            len({one.document.source for one in whole} - {None}),
            sum(hours < lately for hours, _ in texts),
            sum(lately <= hours < 2 * lately for hours, _ in texts),
        )

    names = LINES if level == "story" else ("l1", "l2")
    assert store.grew_by(level, until, length * HOUR, lately * HOUR) == {name: hand(name) for name in names}


def test_spans_and_newest_documents_of_stories_and_lines(store):
    since, until = DOCUMENTS[0].document.time, DOCUMENTS[-1].document.time
    found = store.counted_by_name("storyline", ["l1", "nothing"], since, until, 10 * HOUR)
    hand = {}
    for one in DOCUMENTS:
        if LINES[one.story] == "l1":
            place = (one.document.time - since) // (10 * HOUR)
            hand[place] = hand.get(place, 0) + 1
    assert found == {"l1": hand, "nothing": {}}
    assert sum(store.counted_by_time(since, until, 7 * HOUR).values()) == len(DOCUMENTS)
    newest = store.brought_by("storyline", "l1", limit=3)
    own = [one.document.id for one in reversed(DOCUMENTS) if LINES[one.story] == "l1"]
    assert [one.document.id for one in newest] == own[:3]
    earlier = store.brought_by("storyline", "l1", limit=3, before=newest[-1].number)
    assert [one.document.id for one in earlier] == own[3:6]


def test_sources_are_counted_and_lately_too(store):
    lately = DOCUMENTS[-6].document.time
    heard = {one.source: one for one in store.heard(NOON, lately)}
    for name in ("paper", "radio"):
        own = [one.document for one in DOCUMENTS if one.document.source == name]
        assert heard[name].whole == len(own) and heard[name].last == own[-1].time
        assert heard[name].documents == sum(one.time >= lately for one in own)
    assert set(heard) == {"paper", "radio"}


def test_a_storyline_is_called_as_it_was_last_named(store):
    assert store.topic_labels(["l1", "l2", "l3"]) == {"l1": ("Bremen", "flood")}


def test_what_was_said_last_holds_and_what_was_taken_back_does_not(store):
    for n, useful in enumerate((True, False, None, None)):
        store.add_feedback("d1", useful, n)
        assert store.said_of(["d1", "d2"]) == [{"d1": True}, {"d1": False}, {"d1": True}, {}][n]
