"""Evidence: planted novel terms are found where they stand, neighbours are named, sentences are plain and harmless."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from firststory.alerts.explain import ByNeighbours, explain
from firststory.alerts.memory import DocumentMemory, Remembered
from firststory.harmless import display_title, harmless
from firststory.records import Document
from firststory.text import StreamVectorizer

WORDS: dict[str, int] = {}


def tokens(text):
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        column = WORDS.setdefault(word.lower(), len(WORDS))
        found.append(SimpleNamespace(surface=word, start=at, end=at + len(word), column=column))
        at += len(word)
    return found


def remembered(text, name="old", title=None):
    columns = np.array(sorted({token.column for token in tokens(text)}), dtype=np.int32)
    return Remembered(name, title or text, datetime(2016, 5, 3, tzinfo=UTC), columns)


def weights(text, rare=()):
    raw = {token.column: 3.0 if token.surface in rare else 1.0 for token in tokens(text)}
    length = sum(value**2 for value in raw.values()) ** 0.5
    return {column: value / length for column, value in raw.items()}


def test_planted_terms_come_first_with_their_place_in_the_text():
    text = "council meets again as Zyklon breaks Harbour dam"
    old = remembered("council meets again as usual")
    found = explain(
        Document(id="1", text=text), "development", tokens=tokens(text), weights=weights(text, {"Zyklon", "Harbour"}),
        nearest=[(old, 0.4)],
    )  # fmt: skip
    assert {term.text for term in found.terms[:2]} == {"Zyklon", "Harbour"}
    assert all(text[term.start : term.end] == term.text for term in found.terms)
    assert "council" not in {term.text for term in found.terms}  # the neighbour explains it
    assert set(found.nearest[0].shared) == {"council", "meets", "again", "as"}
    assert found.sentence.startswith("New development of a known story: it adds “Zyklon”, “Harbour” and “breaks” to ")
    assert "3 May 2016, similarity 0.40" in found.sentence and found.sentence.endswith(").")


@example("Soft\u00adhyphen inno\u200bcent e" + "\u0301" * 9 + "t\u0301e\u0301 plain")
@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("abÉß東京ก \u00ad\u200b\u200d\u0301\u202e#@'-.1"), max_size=80))
def test_offsets_are_exact_and_the_term_is_what_stands_there_made_harmless(text):
    vectorizer = StreamVectorizer(language="en", stop_words=None)
    vectorizer.partial_fit([text])
    found = vectorizer.tokens(text, first_only=True)
    weight = dict.fromkeys([token.column for token in found], 0.5)
    for term in explain(Document(id="1", text=text), "event", tokens=found, weights=weight, n_terms=100).terms:
        assert 0 <= term.start < term.end <= len(text)
        assert term.text == harmless(text[term.start : term.end], 60) == harmless(term.text, 60)


def test_terms_that_earlier_documents_have_between_them_are_named_but_not_called_new():
    text = "harbour council strike"
    near = [(remembered("harbour council sits"), 0.3), (remembered("teachers on strike"), 0.2)]
    for nearest, expected in ((near, ["strike"]), ([(remembered(text + " today"), 0.2)], text.split())):
        found = explain(
            Document(id="1", text=text), "event", tokens=tokens(text), weights=weights(text), nearest=nearest
        )
        assert [term.text for term in found.terms] == expected
        assert found.sentence.startswith("New event: the nearest earlier document is ")


def test_dictionary_residual_replaces_the_neighbours():
    text = "alpha beta gamma"
    residual = {WORDS.setdefault(w, len(WORDS)): left for w, left in (("alpha", 0.0), ("beta", 1.0), ("gamma", 0.2))}
    found = explain(Document(id="1", text=text), "event", tokens=tokens(text), weights=weights(text), residual=residual)
    assert [term.text for term in found.terms] == ["beta", "gamma"]


@pytest.mark.parametrize(
    ("kind", "near", "begins"),
    [
        ("event", 0.0, "New event: nothing earlier is like it; it speaks of “storm”"),
        ("event", 0.3, "New event: what is new is “storm”; the nearest earlier document is “calm sea” ("),
        ("known", 0.6, "Known story: it is most like “calm sea” ("),
        ("known", 0.0, "Known: it brings nothing that stands out."),
        ("duplicate", 1.0, "Near copy: but for a few words the text of “calm sea” ("),
        ("duplicate", 0.0, "Duplicate: this text was seen before."),
    ],
)
def test_one_plain_sentence_for_each_kind(kind, near, begins):
    text = "storm calm sea"
    found = explain(
        Document(id="1", text=text), kind, tokens=tokens(text), weights=weights(text, {"storm"}),
        nearest=[(remembered("calm sea"), near)],
    )  # fmt: skip
    assert found.sentence.startswith(begins)
    assert found.sentence.endswith(".") and "\n" not in found.sentence
    assert bool(found.terms) == (kind == "event")


def test_what_is_not_like_it_is_not_named_in_the_sentence():
    text = "storm breaks harbour dam"
    one, two = remembered("harbour regatta won"), remembered("harbour dam inspected")
    for near, like, is_named in (((two, 0.3), 0.2, True), ((two, 0.3), 0.4, False), ((one, 0.3), 0.2, False)):
        found = explain(
            Document(id="1", text=text), "event", tokens=tokens(text), weights=weights(text), nearest=[near], like=like
        )
        assert ("nothing earlier is like it" not in found.sentence) == is_named
        assert len(found.nearest) == 1, "it is listed all the same"


def test_phrases_are_shown_whole_and_the_new_ones_are_called_new():
    text = "Harbour dam breaks as storm Zelda rages in Bremen"
    column = {token.surface: token.column for token in tokens(text)}
    phrases = [
        SimpleNamespace(text=words, start=text.index(words), end=text.index(words) + len(words), weight=weight,
                        columns=[column[word] for word in words.split()], kind="other")
        for words, weight in (("Harbour dam breaks", 0.5), ("storm Zelda", 0.3), ("Bremen", 0.2))
    ]  # fmt: skip
    old = remembered("Harbour dam in Bremen inspected")
    found = explain(
        Document(id="1", text=text), "event", tokens=tokens(text), phrases=phrases, weights=weights(text),
        nearest=[(old, 0.4)],
    )  # fmt: skip
    assert [term.text for term in found.terms] == ["storm Zelda", "Harbour dam breaks", "Bremen"], "what is new first"
    assert found.sentence.startswith("New event: what is new is “storm Zelda”; the nearest earlier document is ")
    unlike = explain(
        Document(id="1", text=text), "event", tokens=tokens(text), phrases=phrases, weights=weights(text),
        nearest=[(old, 0.4)], like=0.5,
    )  # fmt: skip
    assert "it speaks of “storm Zelda”, “Harbour dam breaks” and “Bremen”" in unlike.sentence


def test_irrelevant_documents_do_not_change_evidence():
    text = "storm breaks the old harbour dam"
    old = remembered("harbour dam inspected")
    noise = [(remembered(f"unrelated{i} words{i}", f"n{i}"), 0.0) for i in range(5)]
    with_noise, without = (
        explain(Document(id="1", text=text), "event", tokens=tokens(text), weights=weights(text), nearest=near)
        for near in ([(old, 0.5), *noise], [(old, 0.5)])
    )
    assert with_noise == without


def test_hostile_text_is_harmless_in_every_part():
    evil = "\x1b[2J\u202egnp.exe\u200b<script>alert(1)</script>"
    text = f"{evil} flood"
    old = remembered("flood " + evil, name="x", title=display_title(Document(id="x", text=evil)))
    found = explain(
        Document(id="1", text=text), "event", tokens=tokens(text), weights=weights(text), nearest=[(old, 0.5)]
    )
    everything = found.sentence + "".join(t.text for t in found.terms) + "".join(found.nearest[0].shared)
    everything += found.nearest[0].title or ""
    assert not set(everything) & set("\x1b\u202e\u200b")


def test_a_word_of_one_megabyte():
    text = "x" * 1_000_000 + " flood"
    found = explain(Document(id="1", text=text), "event", tokens=tokens(text), weights=weights(text))
    assert all(len(term.text) <= 60 for term in found.terms) and len(found.sentence) < 600


def test_memory_forgets_the_oldest_and_round_trips():
    memory = DocumentMemory(capacity=3)
    for i in range(5):
        memory.add(Document(id=f"d{i}", text=f"text {i}", time=datetime(2020, 1, 1 + i, tzinfo=UTC)), np.arange(i))
    assert memory.get(1) is None and memory.get(5) is None and memory.get(-1) is None
    twin = DocumentMemory.from_state(memory.get_state())
    for ordinal in (2, 3, 4):
        mine, theirs = memory.get(ordinal), twin.get(ordinal)
        assert (mine.id, mine.title, mine.time) == (theirs.id, theirs.title, theirs.time)
        np.testing.assert_array_equal(mine.columns, theirs.columns)


@pytest.mark.parametrize("kind", ["event", "development", "known", "duplicate"])
@pytest.mark.parametrize("similarities", [(), (0.01,), (0.9, 0.4, 0.01), (1.2,), (-1.0, 0.3)], ids=str)
def test_values_of_evidence_that_nobody_made_are_those_of_the_record(kind, similarities):
    moment = datetime(2026, 11, 15, 22, tzinfo=UTC)
    columns = np.array([1, 2], dtype=np.int32)
    nearest = [(Remembered(f"d{n}", "Flood" * n, moment, columns), one) for n, one in enumerate(similarities)]
    make = ByNeighbours(kind, nearest, "d7" if kind == "duplicate" else None)
    evidence = make()
    assert evidence == explain(
        Document("a", "text"), kind, nearest=nearest, duplicate_of="d7" if kind == "duplicate" else None
    )
    near = [(one.id, one.similarity, one.title, one.time, one.shared) for one in evidence.nearest]
    assert make.values() == (evidence.terms, near, evidence.kind, evidence.sentence)
