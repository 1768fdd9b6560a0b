"""Storylines: against the rule in plain Python, on planted streams, and what must hold for every stream."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.records import Story
from firststory.state import flatten, pack_state, unflatten, unpack_state
from firststory.stories.storylines import RULE, StorylineRows, Storylines
from stories.storyline_twin import TwinStorylines

WORDS = 1600
STEP = 20


def a_row(rng, topic, n_words=6, dimensions=4):
    """A text: half of its words are those of its topic, half are anything."""
    of_topic = 40 * topic + rng.choice(n_words + 4, size=n_words // 2, replace=False)
    columns = np.unique(np.concatenate([of_topic, rng.integers(800, WORDS, size=n_words - n_words // 2)]))
    counts = rng.integers(1, 3, size=len(columns)).astype(np.float64)
    vector = np.eye(dimensions)[topic % dimensions] + 0.3 * rng.normal(size=dimensions)
    return columns.astype(np.int32), counts, vector / np.linalg.norm(vector)


def a_stream(seed, n=400, n_topics=6, per_story=3, n_words=6):
    """Documents (story, columns, counts, weights, vector) and their topics; a topic has many small stories."""
    rng = np.random.default_rng(seed)
    documents, topics, open_story, next_story = [], [], {}, 0
    for _ in range(n):
        topic = int(rng.integers(n_topics))
        story = open_story.get(topic)
        if story is None or rng.random() < 1.0 / per_story:
            story = open_story[topic] = next_story
            next_story += 1
        columns, counts, vector = a_row(rng, topic, n_words)
        weights = counts / np.linalg.norm(counts)
        documents.append((story, columns, counts, weights, vector if rng.random() < 0.8 else np.zeros(4)))
        topics.append(topic)
    return documents, topics


def as_rows(documents, seconds=None):
    lengths = [len(document[1]) for document in documents]
    columns = [document[1] for document in documents] or [np.empty(0, np.int32)]
    return StorylineRows(
        stories=np.array([document[0] for document in documents], dtype=np.int64),
        indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        columns=np.concatenate(columns).astype(np.int32),
        counts=np.concatenate([document[2] for document in documents] or [np.empty(0)]),
        weights=np.concatenate([document[3] for document in documents] or [np.empty(0)]),
        vectors=np.array([document[4] for document in documents] or np.zeros((0, 8)), dtype=np.float32),
        seconds=np.full(len(documents), np.nan) if seconds is None else np.asarray(seconds, dtype=np.float64),
    )


def steps_of(documents, step=STEP):
    return [documents[start : start + step] for start in range(0, len(documents), step)]


def place_all(lines, documents, merges=()):
    """The storyline of each document at the end, through merges of storylines."""
    gone, line_at = {}, {}
    for number, part in enumerate(steps_of(documents)):
        lines.add(as_rows(part))
        lines.end_step(merges[number] if number < len(merges) else ())
        for record in lines.records({}):
            if record.merged_into:
                gone[record.id] = record.merged_into
        line_at |= {document[0]: lines.line_of(document[0]) for document in documents}
    return line_at


@pytest.mark.parametrize(("seed", "n_words", "window"), [(0, 6, 4000), (1, 6, 120), (2, 30, 4000), (3, 70, 150)])
def test_the_kernels_follow_the_rule_in_plain_python(seed, n_words, window):
    documents, _ = a_stream(seed, n_words=n_words)
    rng = np.random.default_rng(seed)
    lines, twin = Storylines(window=window), TwinStorylines(RULE, window=window)
    for part in steps_of(documents):
        lines.add(as_rows(part))
        for story, columns, counts, weights, vector in part:
            twin.add(story, columns, counts, weights, np.asarray(vector, dtype=np.float32))
        here = sorted({document[0] for document in part if document[0] in twin.line_of})
        merged = [(here[-1], here[0])] if len(here) > 1 and rng.random() < 0.3 else []
        documents[:] = [(here[0], *d[1:]) if merged and d[0] == here[-1] else d for d in documents]
        lines.end_step(merged)
        twin.end_step(merged)
        model = lines._model
        keys = {int(key): slot for slot, key in enumerate(model.lines.key) if key >= 0}
        assert keys.keys() == twin.lines.keys()
        for key, line in twin.lines.items():
            assert model.lines.size[keys[key]] == pytest.approx(line.size)
            assert model.lines.total[keys[key]] == pytest.approx(line.total)
            assert model.lines.vector[keys[key]] == pytest.approx(np.asarray(line.vector), abs=1e-5)
        living = {story: line for story, line in twin.line_of.items() if story in lines._slots}
        assert {story: lines._places.living_line(story) for story in living} == living
        assert np.allclose(model.found, twin.found) and np.allclose(model.chance, twin.chance)


def test_planted_storylines_are_found():
    documents, topics = a_stream(5, n=600, n_topics=8)
    line_at = place_all(Storylines(), documents)
    found = [line_at[document[0]] for document in documents]
    late = [(topic, line) for topic, line in zip(topics, found, strict=True)][200:]
    in_largest = sum(
        Counter(line for t, line in late if t == topic and line).most_common(1)[0][1] for topic in range(8)
    )
    of_largest = sum(Counter(t for t, line in late if line == name).most_common(1)[0][1]
                     for name in {line for _, line in late if line})  # fmt: skip
    assert in_largest >= 0.8 * len(late)
    assert of_largest >= 0.95 * sum(line is not None for _, line in late)


def test_nothing_comes_of_nothing():
    lines = Storylines()
    assert lines.end_step() == [] and lines.records({}) == () and lines.open_records() == ()
    lines.add(as_rows([]))
    assert lines.end_step([(1, 2)], closed=[3]) == [] and lines.columns_in_use().tolist() == []
    again = Storylines.from_state(lines.get_state())
    assert again.end_step() == [] and again.line_of(1) is None


def test_texts_without_words_have_no_storyline_with_others():
    empty = (np.empty(0, np.int32), np.empty(0), np.empty(0), np.zeros(4))
    documents = [(i, *empty) for i in range(10)]
    assert set(place_all(Storylines(), documents).values()) == {None}


def test_texts_without_a_common_word_never_share_a_storyline():
    n = 60
    documents = [(i, np.array([2 * i, 2 * i + 1]), np.ones(2), np.full(2, 0.7), np.ones(2)) for i in range(n)]
    line_at = place_all(Storylines(), documents)
    assert set(line_at.values()) == {None}


def test_a_lone_document_is_no_storyline_and_two_stories_or_three_documents_are():
    lines = Storylines()
    alone = (1, np.array([1, 2]), np.ones(2), np.full(2, 0.7), np.zeros(0))
    lines.add(as_rows([alone, alone]))
    assert lines.end_step() == [] and lines.line_of(1) is None and lines.records({}) == ()
    lines.add(as_rows([alone]))
    assert lines.end_step() == [1] and lines.line_of(1) == "l1"
    assert [(one.id, one.size, one.n_stories) for one in lines.records({})] == [("l1", 3, 1)]


def a_story(key, size, title, when, terms=(), sources=(), status="open"):
    return Story(
        f"s{key}", title, when, when, size, "d", key_terms=tuple(terms), sources=tuple(sources), status=status
    )  # fmt: skip


def test_a_record_has_the_title_of_the_largest_story_and_the_sources_of_all():
    lines = Storylines()
    lines.add(as_rows(a_stream(3, n=100)[0]))
    rows = [(501, np.arange(1500, 1503), np.ones(3), np.full(3, 0.6), np.zeros(4))] * 30
    rows += [(502, np.arange(1500, 1503), np.ones(3), np.full(3, 0.6), np.zeros(4))] * 2
    lines.add(as_rows(rows))
    lines.end_step()
    assert lines.line_of(501) == lines.line_of(502) is not None
    first, last = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 9, tzinfo=UTC)
    records = lines.records(
        {
            501: a_story(1, 30, "Dam breaks", first, ["dam"], ["A"]),
            502: a_story(2, 2, "Town empty", last, ["dam", "town"], ["B"]),
        }
    )
    one = next(record for record in records if record.id == lines.line_of(501))
    assert (one.title, one.size, one.n_stories, one.sources) == ("Dam breaks", 32, 2, ("A", "B"))
    assert (one.first_seen, one.last_seen, one.key_terms, one.status) == (first, last, ("dam", "town"), "open")


def test_quiet_storylines_fade_by_time_and_by_order_of_arrival():
    told = (1, np.array([1, 2]), np.ones(2), np.full(2, 0.7), np.zeros(0))
    others = [(9 + i, np.array([10 + i]), np.ones(1), np.ones(1), np.zeros(0)) for i in range(50)]
    by_order = Storylines(window=40)
    by_order.add(as_rows([told] * 3))
    by_order.end_step()
    by_order.records({})
    by_order.add(as_rows(others))
    by_order.end_step()
    assert [(one.id, one.status) for one in by_order.records({})] == [("l1", "faded")]
    assert by_order.line_of(1) == "l1"  # its story was told so
    by_time = Storylines(fade=10.0, least_quiet=20)
    by_time.add(as_rows([told] * 3, seconds=[0.0] * 3))
    by_time.end_step()
    by_time.records({})
    by_time.add(as_rows(others[:19], seconds=[10.5 * 86400.0] * 19))
    by_time.end_step()
    assert by_time.records({}) == ()  # too little has been told meanwhile
    by_time.add(as_rows(others[19:20], seconds=[10.5 * 86400.0]))
    by_time.end_step()
    assert [(one.id, one.status) for one in by_time.records({})] == [("l1", "faded")]


def test_memory_is_bounded():
    documents, _ = a_stream(7, n=1500, n_topics=20)
    lines = Storylines(window=300, max_storylines=25)
    for number, part in enumerate(steps_of(documents)):
        lines.add(as_rows(part))
        lines.end_step(closed=list(range(10 * number)))
        lines.records({})
        model = lines._model
        assert (model.lines.key >= 0).sum() <= 25
        assert (model.stories.n_rows <= 24).all()
        assert (model.stories.key >= 0).sum() <= 300
        assert len(lines._places._summaries) == (model.lines.key >= 0).sum()
    assert len(lines._model.words.used) < 20_000 and len(lines._places._size) < 700


@pytest.mark.parametrize("at", [3, 10])
def test_a_saved_state_goes_on_exactly_the_same(at):
    documents, _ = a_stream(8, n=500)
    one = Storylines(window=200)
    told = []
    for number, part in enumerate(steps_of(documents)):
        if number == at:
            saved = unflatten(unpack_state(pack_state(flatten(one.get_state()))))
            other = Storylines.from_state(saved)
        one.add(as_rows(part))
        told.append((one.end_step(), one.records({})))
        if number >= at:
            other.add(as_rows(part))
            assert (other.end_step(), other.records({})) == told[-1]
    assert pack_state(flatten(one.get_state())) == pack_state(flatten(other.get_state()))


def test_other_numbers_for_the_columns_change_nothing():
    documents, _ = a_stream(9, n=400)
    one, other = Storylines(), Storylines()
    number = np.arange(WORDS)
    for place, part in enumerate(steps_of(documents)):
        one.add(as_rows(part))
        other.add(as_rows([(story, number[columns].astype(np.int32), *rest) for story, columns, *rest in part]))
        assert one.end_step() == other.end_step()
        assert one.records({}) == other.records({})
        if place == 8:
            used = other.columns_in_use()
            later = np.unique(np.concatenate([document[1] for document in documents]))
            new = np.full(WORDS, -1)
            keep = np.union1d(used, later)
            new[keep] = np.arange(len(keep))
            other.renumber(new)
            number = new


def test_lines_that_never_end_do_without_words_that_never_come_again():
    documents, topics = a_stream(11, n=800, n_topics=4)
    # Four stories that go on and on; words that belong to no topic come in one part of the stream only.
    documents = [
        (topic, np.unique(np.where(columns < 800, columns, 800 + 40 * (i // 50) + columns % 40)), rest)
        for i, (topic, (_, columns, *rest)) in enumerate(zip(topics, documents, strict=True))
    ]
    documents = [
        (topic, columns, *(part[: len(columns)] for part in rest[:2]), rest[2]) for topic, columns, rest in documents
    ]
    one, other = Storylines(), Storylines()
    number = np.arange(WORDS)
    for place, part in enumerate(steps_of(documents)):
        one.add(as_rows(part))
        other.add(as_rows([(story, number[columns], *rest) for story, columns, *rest in part]))
        assert one.end_step() == other.end_step()
        assert one.records({}) == other.records({})
        if place == 29:
            had = np.flatnonzero(other._model.words.of_word >= 0)
            used = other.columns_in_use()
            kept = np.union1d(used, np.concatenate([document[1] for document in documents[600:]]))
            assert len(used) < 0.5 * len(had)
            number = np.full(WORDS, -1)
            number[kept] = np.arange(len(kept))
            other.renumber(number)
            assert (other._model.words.of_word >= 0).sum() == len(np.intersect1d(kept, had))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([30, 100, 4000]))
def test_sizes_add_up_and_ids_are_stable(seed, n_topics, window):
    documents, _ = a_stream(seed, n=160, n_topics=n_topics)
    rng = np.random.default_rng(seed)
    lines = Storylines(window=window)
    open_lines, into, n_documents, ended = {}, {}, Counter(), set()
    for part in steps_of(documents):
        part = [(into.get(story, story), *rest) for story, *rest in part]
        lines.add(as_rows(part))
        n_documents.update(document[0] for document in part)
        here = sorted({document[0] for document in part})
        merged = [(here[-1], here[0])] if len(here) > 1 and rng.random() < 0.5 else []
        for small, large in merged:
            into = {story: large if name == small else name for story, name in into.items()} | {small: large}
            n_documents[large] += n_documents.pop(small)
        changed = lines.end_step(merged)
        assert all(isinstance(lines.line_of(story), str) or lines.line_of(story) is None for story in changed)
        for record in lines.records({}):
            assert record.id not in ended
            open_lines[record.id] = record
        over = [record for record in open_lines.values() if record.status != "open"]
        open_lines = {name: record for name, record in open_lines.items() if record.status == "open"}
        ended |= {record.id for record in over}
        for record in over:
            assert record.status == "faded" or (record.reason and record.merged_into in open_lines.keys() | ended)
        assert {record.id: record for record in lines.open_records()} == open_lines
        of_line = Counter()
        for story in n_documents:
            name = lines.line_of(story)
            if name in open_lines:
                of_line[name] += n_documents[story]
        assert of_line == {name: record.size for name, record in open_lines.items()}
