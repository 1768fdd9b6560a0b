"""The scanner against regular expressions, the form table against a dictionary."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from firststory.kernels.text import tokens as k
from firststory.text.characters import plain_classes, word_classes

JOIN = r"(?<=[a-zA-Z])'(?=[a-zA-Z])|(?<=\d)[.,:/](?=\d)|(?<=(?<![a-zA-Z0-9])[a-zA-Z])\.(?=[a-zA-Z](?![a-zA-Z0-9]))"
WORDS = re.compile(rf"(?:\d{{4}}-\d{{2}}-\d{{2}}(?!\d)|[a-zA-Z0-9])(?:[a-zA-Z0-9]|{JOIN})*")


def scan(text, *, plain=False, bigrams=True):
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    starts, ends = np.empty((2, codes.size), dtype=np.int32)
    kinds = np.empty(codes.size, dtype=np.uint8)
    classes = plain_classes() if plain else word_classes()
    n = k.find_tokens(codes, classes, plain, bigrams, starts, ends, kinds)
    return codes, starts[:n], ends[:n], kinds[:n]


def cut(text, **options):
    _, starts, ends, kinds = scan(text, **options)
    return [(text[a:b], int(kind)) for a, b, kind in zip(starts, ends, kinds, strict=True)]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="abXY01 -.,:/'_!\n", max_size=40))
@example("2026-11-15")
@example("on 2026-11-15T10:30, not 2026-11-155 or 12026-11-15")
@example("U.S.A. u.s a.b. J.Smith x.y.z1 1.a a.1")
def test_words_and_numbers_equal_a_regular_expression(text):
    if "www." not in text:
        assert [word for word, _ in cut(text)] == WORDS.findall(text)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40))
def test_plain_equals_python_re(text):
    assert [word for word, _ in cut(text, plain=True)] == re.findall(r"[^\W_]+", text)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40) | st.text(alphabet="aA1#@&;.'’-/:_ あ中ก\u0301\u200b\u200d", max_size=25), st.booleans())
def test_tokens_are_ordered_spans_that_begin_and_end_with_something_to_see(text, bigrams):
    _, starts, ends, kinds = scan(text, bigrams=bigrams)
    assert (starts < ends).all() and (np.diff(starts) > 0).all() and (np.diff(ends) > 0).all()
    one_script = kinds != k.RUN
    assert (starts[1:][one_script[1:]] >= ends[:-1][one_script[1:]]).all()
    classes = word_classes()
    for a, b in zip(starts, ends, strict=True):
        assert classes[ord(text[a])] not in (k.SEPARATOR, k.IGNORABLE, k.MARK)
        assert classes[ord(text[b - 1])] not in (k.IGNORABLE, k.APOSTROPHE, k.NUMBER_JOIN)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#Storm #1 a#b # c", [("#Storm", 1), ("#1", 1), ("a", 0), ("b", 0), ("c", 0)]),
        ("@user_1 me@mail @ x", [("@user_1", 2), ("me", 0), ("mail", 0), ("x", 0)]),
        (
            "http://a.org/x?y=1#z HTTPS://B.C, www.d.e. http:x",
            [("a.org", 3), ("B.C", 3), ("d.e", 3), ("http", 0), ("x", 0)],
        ),
        ("x&amp;y &#39; &x; AT&T", [("x", 0), ("y", 0), ("x", 0), ("AT", 0), ("T", 0)]),
        ("中文字 x 日", [("中文", 4), ("文字", 4), ("x", 0), ("日", 4)]),
        ("น้ำ", [("น้ำ", 4)]),
        ("e\u0301te\u0301 \u0301x", [("e\u0301te\u0301", 0), ("x", 0)]),
        ("a\u200bb\u200b c", [("a\u200bb", 0), ("c", 0)]),
    ],
)
def test_what_else_there_is_in_a_text(text, expected):
    assert cut(text) == expected


def test_runs_are_left_to_a_segmenter():
    assert cut("见了iPhone手机", bigrams=False) == [("见了", 4), ("iPhone", 0), ("手机", 4)]


def number(texts, rows=64, longest=20):
    """Numbers of all tokens, with a table that starts small and is rehashed between the texts. Every other text is in
    another language."""
    table, arena = np.zeros((rows, 4), dtype=np.uint64), np.zeros(4000, dtype=np.uint32)
    places, simple = np.zeros(1000, dtype=np.int64), np.zeros(1000, dtype=bool)
    n_forms = used = 0
    said = []
    for i, text in enumerate(texts):
        codes, starts, ends, kinds = scan(text)
        languages = np.full(starts.size, i % 2, dtype=np.uint8)
        forms = np.empty(starts.size, dtype=np.int32)
        n_forms, used = k.number_forms(
            codes, starts, ends, kinds, languages, starts.size, longest, table, arena, used, n_forms, forms, places,
            simple,
        )  # fmt: skip
        surfaces = [text[a:b] for a, b in zip(starts, ends, strict=True)]
        said.append((forms.tolist(), list(zip(surfaces, kinds.tolist(), languages.tolist(), strict=True))))
        larger = np.zeros((2 * table.shape[0], 4), dtype=np.uint64)
        k.rehash(table, larger)
        table = larger
    return said, n_forms, arena, places, simple


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="abé中Ω1# ", max_size=50), max_size=4))
@example(["a" * 16 + " " + "a" * 17 + " " + "a" * 20 + " " + "a" * 21, "é" * 16 + " Ω" * 3, "a b"])
def test_form_numbers_equal_a_dictionary(texts):
    said, n_forms, arena, places, simple = number(texts)
    known: dict[tuple[str, int, int], int] = {}
    for forms, tokens in said:
        expected = [known.setdefault(token, len(known)) if len(token[0]) <= 20 else -1 for token in tokens]
        assert forms == expected
    assert n_forms == len(known)
    for (surface, kind, language), f in known.items():
        header = int(arena[places[f]])
        assert (header >> 16, header >> 8 & 255, header & 255) == (len(surface), language, kind)
        assert arena[places[f] + 1 : places[f] + 1 + len(surface)].tolist() == [ord(c) for c in surface]
        assert simple[f] == (kind == k.WORD and surface.isascii() and surface.isalnum())


def test_index_types_do_not_matter():
    codes, starts, ends, kinds = scan("storm in the harbour, storm")
    for kind in (np.int32, np.int64):
        forms = np.empty(starts.size, dtype=kind)
        k.number_forms(
            codes, starts.astype(kind), ends.astype(kind), kinds, np.zeros_like(kinds), starts.size, 64,
            np.zeros((64, 4), np.uint64), np.zeros(200, np.uint32), 0, 0, forms, np.zeros(20, kind), np.zeros(20, bool),
        )  # fmt: skip
        assert forms.tolist() == [0, 1, 2, 3, 0]
