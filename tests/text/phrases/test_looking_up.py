"""Many phrases looked up at one go, against each by itself and against plain twins."""

from __future__ import annotations

import random
from math import log

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firststory.kernels.phrases import layout as k
from firststory.kernels.phrases.learning import together_key
from firststory.kernels.phrases.tables import marks_of
from firststory.records import Document
from firststory.text.phrases import PhraseReader, alphabet
from firststory.text.phrases.alphabet import fold, key_number, key_numbers, note_key_numbers, numbers_of, stop_numbers
from firststory.text.phrases.evidence import MOST, choose_weighed
from firststory.text.phrases.records import Phrase
from firststory.text.phrases.tables import count_of, counts_of

NAMES = ["Porto Alegre", "Genoa", "Maria Santos", "Jane Doe", "European Central Bank", "Lima"]
WORDS = ["bridge", "storm", "collapses", "chlorine", "leak", "council", "budget", "vote", "flood", "mayor", "court"]


def a_reader(n: int = 200) -> PhraseReader:
    draw = random.Random(7)
    texts = [f"{draw.choice(NAMES)} {' '.join(draw.choices(WORDS, k=6))} in {draw.choice(NAMES)}" for _ in range(n)]
    reader = PhraseReader(capacity=1 << 10)
    reader.learn([Document(id=str(i), text=text) for i, text in enumerate(texts)])
    return reader


def test_counts_of_many_keys_are_those_of_each():
    tables = a_reader().tables
    known = tables.words.keys[tables.words.keys != 0].tolist()
    keys = [*known, 0, 1, 2**64 - 1, *known[:3]]
    for table, column in ((tables.words, k.IN_UPPER), (tables.counts, 0), (tables.names, k.NAME_DOCUMENTS)):
        assert counts_of(tables, table, keys, column) == [count_of(tables, table, key, column) for key in keys]
    assert any(counts_of(tables, tables.words, keys)) and counts_of(tables, tables.words, []) == []


def test_questions_about_many_phrases_are_answered_as_about_each():
    reader = a_reader()
    asked = [*NAMES, *WORDS, "storm flood", "", "never seen"]
    assert reader.documents_with_each(asked) == [reader.documents_with(phrase) for phrase in asked]
    assert reader.documents_with_each_word(asked) == [reader.documents_with_word(word) for word in asked]
    assert reader.documents_with("Genoa") > 1.0 and reader.documents_with_word("storm") > 1.0
    pair = (np.uint64(key_number(one)) for one in ("Genoa", "Lima"))
    together = count_of(reader.tables, reader.tables.counts, int(together_key(*pair)))
    assert reader.documents_together("Genoa", "Lima") == reader.documents_together("Lima", "Genoa") == together > 0.0


def test_numbers_that_were_noted_are_those_of_the_kernel_and_are_bounded(monkeypatch):
    monkeypatch.setattr(alphabet, "MAX_NUMBERS", 10)
    phrases = [f"{name} {n}" for name in NAMES for n in range(5)]
    for begin in range(0, len(phrases), 4):
        note_key_numbers(phrases[begin : begin + 4])
        assert len(alphabet._numbers) <= 10
    assert list(map(key_number, phrases)) == numbers_of(phrases) == key_numbers(phrases).tolist()


def test_stop_words_are_those_of_the_lists():
    reader = PhraseReader()
    words = ["the", "and", "monday", "storm", "genoa", "", "of"]
    marks = [marks_of(*reader._alphabet[2:], np.uint64(key_number(word))) for word in words]
    assert [reader.is_stop_word(word) for word in words] == [bool(mark & (k.STOP | k.DATE)) for mark in marks]
    assert reader.is_stop_word("the") and not reader.is_stop_word("storm") and 0 not in stop_numbers(("en",))


def fold_slowly(text: str) -> str:
    if "," in text or "." in text:
        text = alphabet._POINT.sub(alphabet._KEPT_POINT, alphabet._GROUPING.sub("", text))
    words = " ".join(text.translate(alphabet._FOLDING).split())
    return str(alphabet._POSSESSIVE.sub("", words)).replace(alphabet._KEPT_POINT, ".").strip()


@given(st.text(st.sampled_from([*map(chr, range(128)), "’", "é", "\u2009", "\ue000"]), max_size=20))
def test_ascii_is_folded_as_all_else_is(text):
    assert fold(text) == fold_slowly(text)


def test_the_phrases_chosen_are_those_of_the_plain_rule():
    reader, documents = a_reader(), []
    draw = random.Random(3)
    for n in range(40):
        words = draw.choices(WORDS + NAMES, k=14)
        text = (
            f"{' '.join(words[:8])}\n{draw.choice(NAMES)} said {draw.randint(2, 99)} people of {' '.join(words[8:])}."
        )
        documents.append(reader.phrases(Document(id=str(n), text=text)))
    for phrases, chosen in zip(documents, choose_weighed(reader, documents), strict=True):
        assert chosen == chosen_slowly(reader, phrases) == choose_weighed(reader, [phrases])[0]
    assert choose_weighed(reader, [[], documents[0], []])[::2] == [[], []] and choose_weighed(reader, []) == []


def test_equals_that_lost_their_article_are_kept_together():
    storm = Phrase("storm", "storm", -1, -1, "words", "other")
    [chosen] = choose_weighed(a_reader(), [[storm, Phrase("Genoa", "genoa", 5, 10, "name", "place"), storm]])
    assert [phrase.text for phrase, _ in chosen] == ["storm", "Genoa", "storm"]


def weight_slowly(reader, phrase):
    counts = [reader.documents_with(phrase.key)]
    if phrase.form == "words":
        counts = [reader.documents_with_word(word) for word in phrase.key.split()]
    rarity = [min(log((1.0 + reader.n_documents_) / (1.0 + count)) + 1.0, 7.0) for count in counts]
    place = {"title": 3.0, "lead": 1.4, "body": 0.8}[phrase.zone] * (1.0 + 0.35 * log(phrase.times))
    form = {"name": 1.2, "words": 0.9, "figure": 0.85, "hashtag": 0.85}[phrase.form]
    return place * max(0.5 * max(rarity) + 0.5 * sum(rarity) / len(rarity), 0.0) * form


def chosen_slowly(reader, phrases):
    """One phrase after the other, each weighed and compared by itself."""
    left = {phrase: weight_slowly(reader, phrase) for phrase in phrases}
    weights = dict(left)
    best, chosen = max(left.values(), default=0.0), []
    while left and len(chosen) < MOST:
        gains = {}
        for phrase, value in left.items():
            n_form = sum(one.form == phrase.form for one, _ in chosen)
            is_new = not chosen or any(reader.documents_together(one.key, phrase.key) < 1.5 for one, _ in chosen)
            gains[phrase] = value * (1.15 if is_new else 0.9) * 0.75 ** max(n_form - 1, 0)
        phrase = max(gains, key=gains.get)
        chosen.append((phrase, left.pop(phrase)))
        own = set(phrase.key.split())
        left = {
            other: value
            for other, value in left.items()
            if not (both := len(own & set(other.key.split()))) or 2 * both < min(len(own), len(set(other.key.split())))
        }
    kept = [one for n, (one, value) in enumerate(chosen) if n < 3 or value > (0.25 if n < 5 else 0.45) * best]
    return [(phrase, weights[phrase]) for phrase in phrases if phrase in kept]
