"""The step: a pure function of state and batch, and what it does with known ids, known texts and empty ones."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from firststory.errors import StateError
from firststory.pipeline.build import build_core, detector_names
from firststory.pipeline.fingerprints import fingerprint
from firststory.records import Batch, Document
from firststory.state import pack_state, unpack_state

START = datetime(2026, 11, 15, tzinfo=UTC)


def in_batches(documents, size=20):
    return [Batch(i, tuple(documents[at : at + size])) for i, at in enumerate(range(0, len(documents), size))]


def document(name, text, hours=0, **more):
    return Document(id=name, text=text, time=START + timedelta(hours=hours), **more)


@pytest.mark.parametrize("topics", ["none", "nmf", "storylines"])
def test_same_batches_same_bytes(news, quick, topics):
    outcomes = []
    for _ in range(2):
        core = build_core(quick(topics=topics, topic_step=50))
        steps = [core.step(batch) for batch in in_batches(news)]
        outcomes.append((steps, pack_state(core.get_state())))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("topics", ["none", "nmf", "storylines"])
@pytest.mark.parametrize("detector", detector_names())
def test_a_state_that_went_through_bytes_has_the_same_future(news, quick, detector, topics):
    if topics != "none" and detector != "neighbour":
        pytest.skip("topics do not depend on the detector")
    settings = quick(detector=detector, topics=topics, topic_step=50)
    batches = in_batches(news[:120])
    core = build_core(settings)
    for batch in batches[:3]:
        core.step(batch)
    blob = pack_state(core.get_state())
    twin = build_core(settings)
    twin.set_state(unpack_state(blob))
    assert pack_state(twin.get_state()) == blob
    for batch in batches[3:]:
        assert twin.step(batch) == core.step(batch)
    assert pack_state(twin.get_state()) == pack_state(core.get_state())


@pytest.mark.parametrize(
    ("detector", "ahead"), [(name, 3) for name in detector_names()] + [("fused", 1), ("fused", 100)]
)
def test_batches_that_are_judged_ahead_come_to_the_same(news, quick, detector, ahead):
    settings = quick(detector=detector, topics="storylines", topic_step=50)
    # Texts that come again, without words, and with vectors of their own from some document on.
    again = [dataclasses.replace(one, id=f"again {one.id}") for one in news[:40:3]]
    wordless = [document(f"empty {i}", "...") for i in range(20)]
    own = [dataclasses.replace(one, id=f"own {one.id}", vector=np.ones(4, np.float16) / 2) for one in news[60:80]]
    batches = in_batches([*news[:60], *again, *wordless, *own, *news[80:]], size=13)
    core, twin = build_core(settings), build_core(settings)
    steps = [core.step(batch) for batch in batches]
    twin.overlaps, waiting, found = True, deque(), []
    for batch in batches:
        if not twin.may_judge_ahead() or len(waiting) > ahead:
            found += [twin.tell(judged, twin.place(judged)) for judged in waiting]
            waiting.clear()
        waiting.append(twin.judge(batch))
    found += [twin.tell(judged, twin.place(judged)) for judged in waiting]
    assert found == steps and pack_state(twin.get_state()) == pack_state(core.get_state())


def test_batches_are_not_judged_ahead_where_columns_may_get_other_numbers(news, quick):
    core = build_core(quick(topics="storylines"))
    assert core.may_judge_ahead()
    for batch in in_batches(news[:40]):
        core.step(batch)
    core.parts.vectorizer.max_terms = len(core.parts.vectorizer.terms_) + 1
    assert not core.may_judge_ahead()
    assert not build_core(quick(topics="nmf")).may_judge_ahead()


def test_novelty_does_not_depend_on_how_many_documents_a_step_has(news, quick):
    scores = []
    for size in (1, 20, 1000):
        core = build_core(quick(detector="fused"))
        steps = [core.step(batch) for batch in in_batches(news, size)]
        scores.append([verdict.novelty for step in steps for verdict in step.verdicts])
    assert scores[0] == scores[1] == scores[2] and len(set(scores[0])) > 20


def test_a_model_that_another_version_saved_is_refused_with_the_remedy(news, quick):
    core = build_core(quick())
    core.step(in_batches(news)[0])
    with pytest.raises(StateError, match="Begin a new store"):
        build_core(quick()).set_state({**core.get_state(), "version": 1})


def test_what_short_texts_mean_is_known_after_a_resume(quick):
    who = ["Mayor", "Doctors", "Farmers", "Two students", "The bank", "A court"]
    what = [
        "opens harbour bridge",
        "warn of flu season",
        "protest over milk price",
        "win chess cup",
        "cuts interest rate",
    ]
    texts = [f"{a} {b} in town number{i}" for i, (a, b) in enumerate((a, b) for a in who for b in what)]
    documents = [document(f"d{i}", text, hours=i) for i, text in enumerate(texts)]
    settings = quick(detector="fused", language="en")
    core, first, then = build_core(settings), *in_batches(documents, 15)
    core.step(first)
    twin = build_core(settings)
    twin.set_state(unpack_state(pack_state(core.get_state())))
    verdicts = core.step(then).verdicts
    assert twin.step(then).verdicts == verdicts
    without = build_core(quick(detector="fused-words", language="en"))
    without.step(first)
    assert any(a.novelty != b.novelty for a, b in zip(verdicts, without.step(then).verdicts, strict=True))


def test_a_document_without_words_is_neutral_in_the_first_step_too(news, quick):
    core = build_core(quick())
    documents = [*news[:20], document("nothing", "...", hours=1)]
    *judged, nothing = core.step(Batch(0, tuple(documents))).verdicts
    scores = [one.novelty for one in judged if one.duplicate_of is None]
    assert nothing.novelty == np.median(scores) > 0.0


def test_topics_are_words_of_the_texts_and_not_stems(quick):
    who = ["Police", "Nunes", "Senators", "Beavers", "Nurses", "Investigations"]
    texts = [f"{a} {b} in Los Angeles" for a in who for b in ("opened bridges", "denied charges", "promised policies")]
    documents = [document(f"d{i}", f"{texts[i % len(texts)]} number{i}", hours=i) for i in range(240)]
    core = build_core(
        quick(topics="nmf", topic_step=60, budget=5.0)
    )  # nothing is novel: no document is looked at for its words
    told = [step.topics for step in map(core.step, in_batches(documents)) if step.topics]
    written = {word for one in documents for word in one.text.split()}
    assert len(told) == 4
    assert {term for topics in told for topic in topics for term, _ in topic.terms} <= written


def test_a_topic_that_no_story_can_read_is_read_when_it_comes_again(quick, monkeypatch):
    monkeypatch.setattr("firststory.stories.tracker.MAX_STORIES_ASKED", 0)
    texts = [f"{who} denied charges" for who in ("Police", "Nunes", "Senators", "Beavers")]
    documents = [document(f"d{i}", f"{texts[i % 4]} number{i}", hours=i) for i in range(140)]
    core = build_core(quick(topics="nmf", topic_step=60, budget=5.0))
    first, later = [step.topics for step in map(core.step, in_batches(documents)) if step.topics]
    assert "polic" in {term for topic in first for term, _ in topic.terms}
    assert "Police" in {term for topic in later for term, _ in topic.terms}


def test_a_step_does_not_change_its_batch(news, quick):
    batch, before = in_batches(news)[0], copy.deepcopy(in_batches(news)[0])
    build_core(quick()).step(batch)
    assert batch == before
    # A change inside of a document would have been noticed.
    before.documents[0].extra["changed"] = True
    assert batch != before


def test_every_document_gets_a_verdict_in_order(news, quick):
    core = build_core(quick())
    for batch in in_batches(news):
        step = core.step(batch)
        assert [verdict.document for verdict in step.verdicts] == list(batch.documents)
        assert all(np.isfinite(verdict.novelty) for verdict in step.verdicts)


def test_redelivered_ids_are_dropped_within_a_batch_later_and_when_the_store_knows_them(quick):
    core = build_core(quick())
    first = document("a", "Storm closes the harbour bridge")
    step = core.step(Batch(0, (first, first, document("b", "Mayor elected in Bremen"))))
    assert [v.document.id for v in step.verdicts] == ["a", "b"] and step.counts["redelivered"] == 1
    assert core.step(Batch(1, (first,))).verdicts == ()
    assert core.step(Batch(2, (document("c", "Port strike ends"),)), known={"c"}).counts["redelivered"] == 1


@pytest.mark.parametrize("detector", detector_names())
def test_reposting_a_text_is_never_novel_and_is_attached_to_the_first(news, quick, detector):
    core = build_core(quick(detector=detector, budget="100%"))
    for batch in in_batches(news[:60]):
        core.step(batch)
    original = document("first", "Comet Halvorsen sighted over Tromso observatory, astronomers say", 24 * 40)
    copies = [
        document("copy-1", original.text.upper(), 24 * 40 + 1),
        document("copy-2", "RT @space: " + original.text + " https://t.co/xyz", 24 * 41),
    ]
    step = core.step(Batch(9, (original, *copies)))
    assert step.verdicts[0].is_novel
    for verdict in step.verdicts[1:]:
        assert verdict.duplicate_of == "first" and not verdict.is_novel and verdict.evidence.kind == "duplicate"
        assert verdict.story == step.verdicts[0].story
        assert verdict.novelty <= step.verdicts[0].novelty
    assert step.counts["duplicates"] == 2
    (story,) = [story for story in step.stories if story.id == step.verdicts[0].story]
    assert (story.size, story.duplicates) == (1, 2)


LONG = "Earthquake hits Lima: hundreds of houses fell, roads are closed and the army brings water to the suburbs"


@pytest.mark.parametrize("detector", ["fused", "l1", "mixture"])
@pytest.mark.parametrize(
    ("text", "before", "after", "is_copy"),
    [
        ("Earthquake hits Lima", "Quake", None, True),  # the title is gone: all that is left came before
        ("Earthquake hits Lima", "Quake", "Peru", False),  # a text so short is not known without its title
        ("Earthquake hits Lima", None, "Quake", False),
        (LONG, "Quake", None, True),
        (LONG, "Quake", "Peru in ruins", True),
        (LONG, None, "Quake", True),
    ],
)
def test_a_text_is_known_again_when_its_title_is_gone_or_another(quick, detector, text, before, after, is_copy):
    core = build_core(quick(detector=detector, budget="100%"))
    core.step(Batch(0, (document("first", text, title=before), document("other", "Strike at Hull port", 1))))
    (verdict,) = core.step(Batch(1, (document("again", text, 24 * 40, title=after),))).verdicts
    assert verdict.duplicate_of == ("first" if is_copy else None)
    assert not (is_copy and verdict.is_novel)


def test_the_same_few_words_under_every_title_are_no_copies(quick):
    titles = ["Storm over Bremen", "Mayor of Oslo resigns", "Port strike ends", "Comet sighted"]
    core = build_core(quick())
    step = core.step(Batch(0, tuple(document(t, "Read more on our pages", i, title=t) for i, t in enumerate(titles))))
    assert step.counts["duplicates"] == 0
    assert core.step(Batch(1, (document("x", "Read more on our pages", 9, title="Comet sighted"),))).counts[
        "duplicates"
    ]


def test_a_title_at_the_head_of_the_text_is_the_same_as_a_title(quick):
    both = (
        document("a", "Comet sighted\nIt was seen over Tromso."),
        document("b", "It was seen over Tromso.", 1, title="Comet sighted"),
    )
    for order in (both, both[::-1]):
        assert build_core(quick()).step(Batch(0, order)).counts["duplicates"] == 1


def test_a_copy_with_an_earlier_time_than_its_original_still_joins_it(quick):
    core = build_core(quick())
    text = "Comet Halvorsen sighted over Tromso observatory"
    step = core.step(Batch(0, (document("z", text, 5), document("a", text, 1))))
    assert step.verdicts[1].duplicate_of == "z" and step.verdicts[1].story == step.verdicts[0].story


def test_stop_words_only_is_neutral_and_counted(news, quick):
    core = build_core(quick())
    for batch in in_batches(news[:100]):
        core.step(batch)
    step = core.step(
        Batch(9, (document("e", "the of and to"), document("f", "!!! ???"), document("g", "Flood in Oslo")))
    )
    for verdict in step.verdicts[:2]:
        assert not verdict.is_novel and verdict.p_value is None and verdict.story is None
        assert verdict.novelty == pytest.approx(np.median(core._recent_scores[:-1]))
    assert step.counts["empty"] == 2 and step.counts["scored"] == 1


def test_a_batch_of_nothing_but_stop_words_and_an_empty_batch(quick):
    core = build_core(quick())
    assert core.step(Batch(0, (document("e", "the of and to"),))).verdicts[0].novelty == 0.0
    assert core.step(Batch(1, ())).verdicts == ()


def test_times_may_be_mixed_missing_or_backwards(quick):
    texts = ["Flood in Bremen", "Fire in Oslo plant", "Strike at Hull port", "Quake shakes Lima"]
    hours = [5, None, 2, 9]
    stream = [
        Document(id=str(i), text=text, time=None if h is None else START + timedelta(hours=h))
        for i, (text, h) in enumerate(zip(texts, hours, strict=True))
    ]
    step = build_core(quick()).step(Batch(0, tuple(stream)))
    assert len(step.verdicts) == 4 and step.counts["untimed"] == 1
    # A stream that begins without a time is one without times: times that come later change nothing.
    begun, bare = build_core(quick()), build_core(quick())
    for i, one in enumerate(stream):
        (said,) = begun.step(Batch(i, (dataclasses.replace(one, time=None if i == 0 else one.time),))).verdicts
        (expected,) = bare.step(Batch(i, (dataclasses.replace(one, time=None),))).verdicts
        assert (said.novelty, said.is_novel, said.story) == (expected.novelty, expected.is_novel, expected.story)
        assert said.story == f"s{i + 1}" and said.novelty == 1.0


def test_evidence_points_into_the_documents_own_text(news, quick):
    core = build_core(quick(budget="50%"))
    for batch in in_batches(news[:100]):
        core.step(batch)
    text = "Comet Halvorsen was sighted over Tromso."
    step = core.step(Batch(9, (document("n", text, 24 * 40, title="Astronomers amazed"),)))
    (verdict,) = step.verdicts
    assert verdict.is_novel and verdict.terms
    inside = [term for term in verdict.terms if term.start >= 0]
    assert inside and all(text[term.start : term.end] == term.text for term in inside)
    assert any(term.start < 0 for term in verdict.terms)


@pytest.mark.parametrize("title", [None, "Harbour bridge closed in Bremen", "Bremen: cable torn", "The Harbour bridge"])
def test_a_term_that_stands_in_the_text_is_found_there_title_or_not(quick, title):
    text = "The Harbour bridge of Bremen was closed on Monday."
    (verdict,) = build_core(quick(budget="100%")).step(Batch(0, (document("n", text, title=title),))).verdicts
    found = {term.text: (term.start, term.end) for term in verdict.terms}
    words = {word for phrase in found for word in phrase.split()}
    assert {"Harbour", "bridge", "Bremen", "closed"} <= words and "Monday" not in words, "a date is no news"
    for word, (start, end) in found.items():
        assert text[start:end] == word if word in text else (start, end) == (-1, -1)


def test_neighbours_are_the_documents_they_say(news, quick):
    core = build_core(quick(window=50))
    earlier = {}
    for batch in in_batches(news):
        for verdict in core.step(batch).verdicts:
            for near in verdict.nearest:
                assert near.id in earlier and near.title == earlier[near.id].title
            earlier[verdict.document.id] = verdict.document


def test_planted_first_stories_score_higher(news, quick):
    from firststory.evaluate.ranking import roc_auc

    core = build_core(quick())
    scores, first, told = [], [], set()
    for batch in in_batches(news):
        for verdict in core.step(batch).verdicts:
            if verdict.document.label is not None:
                scores.append(verdict.novelty)
                first.append(verdict.document.label not in told)
                told.add(verdict.document.label)
    assert roc_auc(np.array(first), np.array(scores)) > 0.85


def test_fingerprints_tell_texts_apart_and_know_them_again():
    same = [
        "Flood in Bremen: 3 dead",
        "flood in bremen 3 dead",
        "FLOOD  in Bremen — 3 dead!",
        "Flood in Bremen: 3 dead www.x.org/y",
    ]
    assert len({fingerprint(text) for text in same}) == 1
    different = [
        "Flood in Bremen: 4 dead",
        "Überflutung",
        "😀",
        "😀😀",
        "https://t.co/a",
        "https://t.co/b",
        "",
        "#flood",
        "flood",
    ]
    assert len({fingerprint(text) for text in different}) == len(different)


def test_a_text_with_a_few_words_changed_is_a_near_copy_of_the_first(news, quick):
    core = build_core(quick(budget="100%"))
    for batch in in_batches(news[:60]):
        core.step(batch)
    text = (
        "Comet Halvorsen was sighted over Tromso observatory by astronomers Lindqvist and Aas who photographed its "
        "greenish tail near Cassiopeia, measured its brightness, computed an orbit and published coordinates, spectra "
        "and animations for amateur telescopes across Scandinavia, Iceland, Greenland and northern Canada"
    )
    changed = [text.replace("greenish", "bluish"), text + " on Friday"]
    step = core.step(Batch(9, (document("a", text), document("b", changed[0], 1), document("c", changed[1], 2))))
    assert [v.duplicate_of for v in step.verdicts] == [None, "a", "a"]
    assert [v.is_novel for v in step.verdicts] == [True, False, False]
    assert len({v.story for v in step.verdicts}) == 1
    for verdict in step.verdicts[1:]:
        assert verdict.nearest[0].id == "a"  # the document that `duplicate_of` names
        assert verdict.evidence.sentence.startswith("Near copy: but for a few words the text of “Comet Halvorsen")
    again = core.step(Batch(11, (document("g", changed[0], 2),))).verdicts[0]
    assert again.duplicate_of == "b" and again.evidence.sentence == "Duplicate: the same text as “b”."
    other = text.replace("Comet Halvorsen", "Asteroid Pettersen").replace("Tromso", "Quito").replace("tail", "crater")
    short = core.step(
        Batch(10, (document("d", other, 3), document("e", "Quake: 3 dead", 4), document("f", "Quake: 5 dead", 5)))
    )
    assert [v.duplicate_of for v in short.verdicts] == [None, None, None]


def test_a_copy_of_what_has_no_story_opens_none(quick):
    core = build_core(quick())
    step = core.step(Batch(0, (document("a", "the of and"), document("b", "The of, and!"))))
    assert step.verdicts[1].duplicate_of == "a" and step.verdicts[1].story is None and step.stories == ()


SHORT = ["Storm floods the harbour", "Council approves new budget", "Hurricane leaves port under water"]


@pytest.mark.parametrize(
    ("settings", "knows"),
    [
        ({"detector": "fused"}, True),
        ({"detector": "fused-words"}, False),
        ({"detector": "fused", "language": "de"}, False),
    ],
)
def test_short_english_texts_are_compared_by_meaning(quick, settings, knows):
    core = build_core(quick(**settings))
    core.step(Batch(0, tuple(document(str(i), text, i) for i, text in enumerate(SHORT))))
    assert hasattr(core.parts.detector, "vectors_") == knows


def test_long_texts_have_no_vectors_and_cost_none(quick):
    core = build_core(quick(detector="fused"))
    core.step(Batch(0, tuple(document(str(i), 12 * f"{text} and so on ", i) for i, text in enumerate(SHORT))))
    assert not hasattr(core.parts.detector, "vectors_")


def test_a_state_without_vectors_is_taken_up_by_a_detector_with_them(quick):
    words, both = build_core(quick(detector="fused-words")), build_core(quick(detector="fused"))
    words.step(Batch(0, tuple(document(str(i), text, i) for i, text in enumerate(SHORT))))
    both.set_state(unpack_state(pack_state(words.get_state())))
    said = both.step(Batch(1, (document("again", "Storm floods the harbour again", 4),)))
    assert said.verdicts[0].novelty < 0.5  # of a stream so young, four words of five
