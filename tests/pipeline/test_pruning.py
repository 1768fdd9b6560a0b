"""A full vocabulary loses what nobody remembers: verdicts stay what they would have been with all the room there is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count, islice

import numpy as np
import pytest

from firststory.pipeline.build import build_core
from firststory.pipeline.pruning import is_pruning_due
from firststory.records import Batch, Document
from firststory.state import pack_state, unpack_state

START = datetime(2026, 1, 1, tzinfo=UTC)


def stream(n=900, seed=0):
    """Documents on themes whose words are replaced by new ones as time goes, and a few that stay."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        theme, epoch = int(rng.integers(6)), i // 60
        own = [f"theme{theme}epoch{epoch}word{k}" for k in rng.integers(30, size=12)]
        common = [f"everyday{k}" for k in rng.integers(20, size=6)]
        text = " ".join(rng.permutation([*own, *common, f"only{i}"]))
        yield Document(id=f"d{i}", text=text, time=START + timedelta(hours=8 * i))


def steps(core, documents, size=30):
    for i, at in enumerate(range(0, len(documents), size)):
        yield core.step(Batch(i, tuple(documents[at : at + size])))


@pytest.mark.parametrize("detector", ["fused-words", "neighbour", "clustering", "l1", "l1-batch"])
@pytest.mark.parametrize("topics", ["none", "nmf", "storylines"])
def test_verdicts_are_those_of_a_vocabulary_without_bounds(quick, detector, topics):
    documents = list(stream(1200))  # storylines remember the last 300 and more
    settings = {"detector": detector, "topics": topics, "window": 100}
    narrow, wide = build_core(quick(**settings, max_terms=2400)), build_core(quick(**settings, max_terms=100_000))
    found, known = list(steps(narrow, documents)), list(steps(wide, documents))
    assert len(narrow.parts.vectorizer.prunings_) >= 2 and not wide.parts.vectorizer.prunings_
    assert len(narrow.parts.vectorizer.vocabulary_) <= 2400 < len(wide.parts.vectorizer.vocabulary_)
    assert sum(step.counts["unread"] for step in found) == 0
    for mine, its in zip(found, known, strict=True):
        if detector == "fused-words":  # its idf is that of the window; other rows forget how often a word was seen
            scores = [[verdict.novelty for verdict in step.verdicts] for step in (mine, its)]
            np.testing.assert_allclose(*scores, atol=1e-9)
        assert [v.story for v in mine.verdicts] == [v.story for v in its.verdicts]
        nearest = [[[n.id for n in v.nearest] for v in step.verdicts] for step in (mine, its)]
        assert nearest[0] == nearest[1]
        assert [s.key_terms for s in mine.stories] == [s.key_terms for s in its.stories]
        terms = {term for topic in mine.topics for term, _ in topic.terms}
        assert all(term.startswith(("theme", "everyday", "only")) for term in terms)


@pytest.mark.parametrize("detector", ["fused-words", "clustering", "l1", "l1-batch"])
def test_a_pruned_stream_goes_on_after_a_resume_as_if_nothing_had_happened(quick, detector):
    documents = list(stream(600))
    settings = quick(detector=detector, topics="nmf", window=100, max_terms=2000)
    core, twin = build_core(settings), build_core(settings)
    for i, at in enumerate(range(0, len(documents), 30)):
        batch = Batch(i, tuple(documents[at : at + 30]))
        blob = pack_state(twin.get_state())
        twin = build_core(settings)
        twin.set_state(unpack_state(blob))
        assert twin.step(batch) == core.step(batch)
    assert core.parts.vectorizer.prunings_


def test_where_too_much_is_remembered_words_are_left_out_and_counted(quick):
    core = build_core(quick(detector="fused-words", window=10_000, max_terms=400))
    found = list(steps(core, list(stream(120))))
    assert not core.parts.vectorizer.prunings_
    assert sum(step.counts["unread"] for step in found) == core.parts.vectorizer.n_dropped_ > 0


@pytest.mark.parametrize("topics", ["nmf", "storylines"])
def test_a_stream_of_ever_new_words_goes_on_at_the_cap(quick, topics):
    """Ten times more words than there is room for: columns stay bounded, and every pruning is on record."""
    core = build_core(quick(detector="fused-words", topics=topics, window=60, max_terms=500))
    vectorizer, index = core.parts.vectorizer, None
    for step in steps(core, list(stream(1_500))):
        index = core.parts.detector.index_
        assert all(np.isfinite(verdict.novelty) for verdict in step.verdicts)
        assert len(vectorizer.terms_) <= 500 and len(index.start) <= 500 and len(index.idf2) <= 500
    assert len(vectorizer.prunings_) >= 5
    assert index.nbytes < 1 << 20


def test_a_full_vocabulary_is_not_looked_through_at_every_step(quick, monkeypatch):
    core = build_core(quick(detector="fused-words", window=10_000, max_terms=25_000))
    looked = []
    in_use = type(core.parts.memory).columns_in_use
    monkeypatch.setattr(type(core.parts.memory), "columns_in_use", lambda self: looked.append(1) or in_use(self))
    words = (f"word{n}" for n in count())
    text = [" ".join(islice(words, 150)) for _ in range(300)]
    for _ in steps(core, [Document(id=f"d{i}", text=one) for i, one in enumerate(text)], size=10):
        pass
    assert core.parts.vectorizer.n_dropped_ > 0 and not core.parts.vectorizer.prunings_
    assert 2 <= len(looked) <= 4  # of 15 steps after which there was hardly room, every fifth


def test_a_detector_that_cannot_renumber_keeps_its_columns(quick):
    core = build_core(quick(detector="mixture", window=50, max_terms=800))
    found = list(steps(core, list(stream(300))))
    assert not core.parts.vectorizer.prunings_
    assert sum(step.counts["unread"] for step in found) > 0


def test_nothing_happens_before_the_first_word(quick):
    core = build_core(quick())
    assert not is_pruning_due(core.parts.vectorizer, 0)
    assert core.step(Batch(0, (Document(id="a", text="..."),))).counts["empty"] == 1
