"""A digest tells everything of the period once, most important first, and its numbers are those of the store."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from digest import told
from firststory.digest.blocks import heading, sections, summary
from firststory.digest.gather import digest_of
from firststory.digest.words import why
from firststory.records import Document, Step, Verdict
from firststory.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store(str(told.write(tmp_path / "news.db"))) as opened:
        yield opened


def names(entries):
    return [entry.alert.id for entry in entries]


def test_confirmed_then_turns_then_growing_then_first_seen_each_story_once(store):
    digest = digest_of(store, told.SINCE)
    # The flood has three alerts: the confirmed one that most sources tell leads, the others stand below it in order.
    assert names(digest.confirmed) == ["a5"] and [one.id for one in digest.confirmed[0].others] == ["a3", "a6"]
    assert names(digest.turns) == ["a4"]
    assert [one.story.id for one in digest.growing] == ["s3"]
    # a2 became the confirmed event, a8 is of a story that grows.
    assert names(digest.first_seen) == ["a7"]
    stories = [entry.alert.story for part in (digest.confirmed, digest.turns, digest.first_seen) for entry in part]
    stories += [one.story.id for one in digest.growing]
    assert len(set(stories)) == len(stories)


def test_numbers_are_those_of_the_documents(store):
    digest = digest_of(store, told.SINCE)
    inside = [one for those in told.STORIES.values() for one in those if told.SINCE <= one.time <= told.NOON]
    assert digest.documents == len(inside)
    assert digest.sources == len({one.source for one in [*inside, told.AGAIN]})
    (vote,) = digest.growing
    before = [one for one in told.VOTE if told.SINCE - timedelta(hours=12) <= one.time < told.SINCE]
    assert (vote.documents, vote.documents_before, vote.sources) == (3, len(before), 3) == (3, 1, 3)
    assert (vote.first.id, vote.latest.id, vote.headline.id) == ("v-30", "v-4", "v-30")
    (block,) = next(section for section in sections(digest) if section.heading == "Growing").blocks
    assert block.sentence == (
        "3 documents by 3 sources in this period, 1 in the one before; 5 documents by 3 sources since 2026-11-14 06:00."
    )
    counts = [int(number) for number in re.findall(r"\d+", summary(digest).partition(": ")[2])]
    assert counts == [len(inside), digest.sources, 1, 1, 1, 1]


def test_a_story_that_one_source_goes_on_about_does_not_grow_unless_there_is_but_one(store, tmp_path):
    assert "s4" not in [one.story.id for one in digest_of(store, told.SINCE).growing]
    with Store(str(tmp_path / "one.db")) as single:
        verdicts = tuple(Verdict(one, 0.5, 0.5, False, story="s4") for one in told.SERIAL)
        single.write_step(Step(0, verdicts, stories=(told.story("s4", "Serial", told.SERIAL),)))
        (one,) = digest_of(single, told.SINCE).growing
        assert (one.documents, one.sources, one.documents_before) == (3, 1, 0)
        (section,) = sections(digest_of(single, told.SINCE))
        assert section.blocks[0].sentence == "3 documents by 1 source, all since 2026-11-15."


def test_the_period_before_is_as_long_also_where_times_are_days(tmp_path):
    days = [told.NOON.replace(hour=0) - timedelta(days=n) for n in (4, 3, 2, 1, 0)]
    counts = (9, 1, 1, 2, 2)
    documents = [
        Document(f"{n}-{m}", f"x {n} {m}", time=day, source=f"paper {m}")
        for n, (day, many) in enumerate(zip(days, counts, strict=True))
        for m in range(many)
    ]
    with Store(str(tmp_path / "days.db")) as store:
        verdicts = tuple(Verdict(one, 0.5, 0.5, False, story="s1") for one in documents)
        store.write_step(Step(0, verdicts, stories=(told.story("s1", "Days", documents),)))
        (one,) = digest_of(store, days[3]).growing
    assert (one.documents, one.documents_before) == (4, 2)


def test_sections_are_cut_and_what_is_left_out_is_counted(store):
    digest = digest_of(store, limit=1)
    assert len(digest.confirmed) == 1 and digest.n_confirmed == 2
    assert sections(digest)[0].n_left_out == 1


def test_without_since_it_is_of_the_whole_stream(store):
    digest = digest_of(store)
    assert digest.since is None and names(digest.confirmed) == ["a5", "a1"]
    assert digest.documents == sum(map(len, told.STORIES.values())) and heading(digest) == "What happened"
    assert all(one.documents_before is None for one in digest.growing)
    # The same numbers as the stories themselves have.
    assert {one.story.id: one.documents for one in digest.growing} == {"s3": 5}


def test_a_period_without_anything_says_so_in_one_line(store, tmp_path):
    late = digest_of(store, told.NOON + timedelta(minutes=1))
    assert late.is_empty and sections(late) == ()
    assert summary(late) == "Until 2026-11-15 12:00: 0 documents. Nothing happened: no alert, no story that grew."
    with Store(str(tmp_path / "empty.db")) as empty:
        assert summary(digest_of(empty)) == "0 documents. Nothing happened: no alert, no story that grew."


def test_a_stream_without_times_is_told_whole(tmp_path):
    documents = [Document(f"d{n}", f"text {n}", source=f"paper {n}") for n in range(3)]
    with Store(str(tmp_path / "timeless.db")) as store:
        found = told.alert(
            "a1", "confirmed", documents[0], documents[1], 0, ("paper 0", "paper 1"), None, fired_at=None
        )
        store.write_step(Step(0, tuple(Verdict(one, 0.5, 0.5, False) for one in documents), alerts=(found,)))
        digest = digest_of(store)
    (section,) = sections(digest)
    assert section.blocks[0].names == "confirmed · a1 · storyline l1"
    assert section.blocks[0].lines[0].words == "First report: paper 0:"


def test_sentences_of_alerts_are_cut_where_they_name_the_first(store):
    from firststory.alerts.events.sentences import first_report, told_by, turned

    first = Document("1", "x", source="A; first seen here: B", time=told.NOON)
    for made, kept in (
        (told_by(3, False, "2 hours", told.FLOOD[0], False), "Told by 3 sources within 2 hours."),
        (turned(("wins",), 4, False, "2 hours", told.FLOOD[0], True),
         "A turn of a running story: 4 sources say “wins” within 2 hours."),
        (first_report(0.31, told.FLOOD[0], False),
         "Nothing earlier is like it; others follow such a report in 31 % of cases."),
        ("Another sentence.", "Another sentence."),
    ):  # fmt: skip
        assert why(told.alert("a1", "turn", first, first, 0, (), None, sentence=made)) == kept


def test_sources_that_the_sentence_does_not_count_are_counted_beside_it(tmp_path):
    sentence = "Told by 2 sources within 1.0 hours; first seen here: AP, 10:00."
    found = told.alert("a1", "confirmed", *told.FLOOD[:2], -2, ("AP", "dpa", "Gazette"), "s1", sentence=sentence)
    with Store(str(tmp_path / "a.db")) as store:
        verdicts = tuple(Verdict(one, 0.5, 0.5, False, story="s1") for one in told.FLOOD)
        store.write_step(Step(0, verdicts, alerts=(found,), stories=(told.story("s1", "Flood", told.FLOOD),)))
        (section,) = sections(digest_of(store))
    assert [line.words for line in section.blocks[0].lines][1] == "3 sources in all: AP, dpa, Gazette"
