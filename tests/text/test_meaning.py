"""Pieces of words against the tokeniser that the table was made for; vectors of short texts against a plain sum."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.errors import DataError, MissingExtraError
from firststory.kernels.text.meaning import UNKNOWN
from firststory.kernels.text.pieces import split_words
from firststory.text import meaning, word_pieces
from firststory.text.meaning import ShortTextVectors
from firststory.text.word_pieces import BEGIN, ORDINARY, WordPieces, load_pieces

HEADLINES = [
    "Storm floods the harbour of Rotterdam; 3 ferries stranded",
    "Hurricane leaves port under water",
    "Parliament votes on pensions",
]


def test_pieces_are_those_of_the_tokeniser():
    tokenizers = pytest.importorskip("tokenizers")
    folder = word_pieces._folder()
    truth = tokenizers.Tokenizer.from_file(str(folder / word_pieces.TOKENISER))
    words = ["storm", "Rotterdam", "Zürich", "unbelievably", "GmbH's", "1,000", "2026", "covid-19", "naïve", "łódź"]
    words += ["e.g.", "McDonald", "ferries", "x", "a" * 40, "abcdefghijklmnopqrstuvwxyz", "Москва"]
    pieces = load_pieces(64)
    for word in words:
        assert pieces.of(word) == truth.encode(word, add_special_tokens=False).ids, word


def test_a_letter_without_a_piece_makes_a_word_unknown():
    assert load_pieces(64).of("陳\ue600") == []


def test_pairs_are_joined_by_rank():
    names = {"<0>": 0, BEGIN: 1, "a": 2, "b": 3, "c": 4, "bc": 5, "ab": 6, f"{BEGIN}ab": 7}
    pieces = WordPieces(names, np.zeros((ORDINARY + 3, 2), dtype=np.float32))
    assert pieces.of("abc") == [1, 2, 5]
    assert pieces.of("ab") == [7]
    assert pieces.of("abd") == []


@given(st.lists(st.text(alphabet="aeinrstzłö陳\ue600😀'-1", min_size=1, max_size=14), min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_the_kernel_splits_words_as_the_plain_version(words):
    pieces = load_pieces(64)
    codes = np.array([ord(letter) for word in words for letter in word], dtype=np.uint32)
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    whole = np.array([pieces.names.get(BEGIN + word, -1) for word in words], dtype=np.int64)
    parts, ends = np.zeros(len(codes) + len(words), np.int32), np.zeros(len(words), np.int64)
    split_words(codes, np.cumsum(lengths) - lengths, lengths, whole, *pieces.numbers, parts, ends)
    found = [part.tolist() for part in np.split(parts, ends)[:-1]]
    assert found == [pieces.of(word) or [UNKNOWN] for word in words]


def test_vectors_are_the_direction_of_the_sum():
    pieces = load_pieces(64)
    vectors = ShortTextVectors().transform([*HEADLINES, "see https://example.org/x @someone « - »"])
    words = ["Storm", "floods", "the", "harbour", "of", "Rotterdam", "3", "ferries", "stranded"]
    known = pieces.vectors[[i for word in words for i in pieces.of(word)]].astype(np.float64).sum(axis=0)
    np.testing.assert_allclose(vectors[0], known / np.linalg.norm(known), atol=1e-6)
    see = pieces.vectors[pieces.of("see")].sum(axis=0)
    np.testing.assert_allclose(vectors[3], see / np.linalg.norm(see), atol=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1


def test_what_all_text_has_in_common_is_taken_off():
    table = np.ones((ORDINARY + 50, 3), dtype=np.float32)
    np.testing.assert_allclose(WordPieces({}, table).vectors, 0.0, atol=1e-6)


def test_one_text_at_a_time_gives_the_same():
    texts = [*HEADLINES, "", "   ", HEADLINES[0]]
    together = ShortTextVectors().transform(texts)
    one = ShortTextVectors()
    np.testing.assert_array_equal(together, np.concatenate([one.transform([text]) for text in texts]))
    np.testing.assert_array_equal(together[0], together[5])
    assert not together[3:5].any()
    assert ShortTextVectors().transform([]).shape == (0, 64)


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_has_a_vector_of_length_one_or_zero(text):
    length = np.linalg.norm(ShortTextVectors().transform([text])[0])
    assert length == pytest.approx(1.0, abs=1e-5) or length == 0.0


def words_of(text):
    """The words by Python's own means."""
    words = text.split()
    found = []
    for word in words if len(words) <= 30 else []:
        before = None
        while word != before and word and word[0] != "@" and "://" not in word and len(word) <= meaning.MAX_LENGTH:
            before, word = word, word.strip(meaning.MARKS).removesuffix("'s").removesuffix("’s")
        if word and word == before:
            found.append(word)
    return found


LETTERS = st.sampled_from("ab s's’@:/. \n\t\u3000\xa0\x1c“”#-é𝒳")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(alphabet=LETTERS, max_size=90), max_size=4))
def test_words_are_cut_as_python_would(texts):
    reader = meaning._Words(load_pieces(64), 30)
    numbers, bounds = reader.read(texts)
    for i, text in enumerate(texts):
        read = []
        for word in numbers[bounds[i] : bounds[i + 1]].tolist():
            place = reader._places[word]
            letters = reader._arena[place + 1 : place + 1 + (reader._arena[place] >> 16)]
            read.append(letters.tobytes().decode("utf-32-le"))
        assert read == words_of(text)


def test_many_texts_are_read_in_blocks(monkeypatch):
    texts = [f"{HEADLINES[i % 3]} {i}" for i in range(40)]
    known = ShortTextVectors().transform(texts)
    monkeypatch.setattr(meaning, "BLOCK", 7)
    np.testing.assert_array_equal(ShortTextVectors().transform(texts), known)


def test_possessives_and_punctuation_do_not_count():
    one, other = ShortTextVectors().transform(["Storm: ‘harbour’ Rotterdam’s…", "Storm harbour Rotterdam"])
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("text", ["word " * 31, "x" * 5000, "ⅣⅤ ⅥⅦ"])
def test_long_and_unknown_texts_have_none(text):
    assert not ShortTextVectors().transform([text]).any()


def test_mostly_unknown_words_have_no_vector():
    unknown = "\ue600 \ue601 \ue602"
    assert not ShortTextVectors().transform([f"{unknown} storm"]).any()
    assert ShortTextVectors().transform([f"{unknown} the storm floods harbours"]).any()


def test_words_are_forgotten_when_there_are_too_many(monkeypatch):
    vectors = ShortTextVectors()
    known = vectors.transform(HEADLINES)
    monkeypatch.setattr(meaning, "MAX_WORDS", 4)
    np.testing.assert_array_equal(vectors.transform(HEADLINES), known)
    vectors.transform(["storm harbour"])
    assert vectors._words.n == 2


def test_the_error_names_the_package_and_the_way_out(monkeypatch):
    monkeypatch.setattr(word_pieces, "PACKAGE", "no_such_package_anywhere")
    assert not ShortTextVectors.is_available()
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[meaning\]'"):
        word_pieces._folder()
    monkeypatch.setattr(word_pieces, "PACKAGE", "numpy")  # a package, but not with the table
    with pytest.raises(DataError, match=r"--force-reinstall 'firststory\[meaning\]'"):
        word_pieces._folder()


def test_none_of_the_packages_code_is_run():
    code = (
        "import sys; from firststory.text.meaning import ShortTextVectors; ShortTextVectors().transform(['storm']); "
        "print(*sorted(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"wordllama", "tokenizers", "safetensors", "pydantic", "requests"} & set(run.stdout.split())
