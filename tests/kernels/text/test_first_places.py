"""First places of terms against a dictionary, and against the tokens of the vectorizer."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.text.first_places import first_places
from firststory.text import StreamVectorizer, forms


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_it_agrees_with_a_dictionary(index):
    rng = np.random.default_rng(0)
    listed = np.array([3, 7, -1, 2, 3, 9], dtype=index)
    column = np.array([5, -1, -2, 3, -2, 0], dtype=index)  # -1: no term; -2: several, which are listed
    first = np.array([0, 0, 0, 0, 3, 0], dtype=index)
    last = np.array([0, 0, 3, 0, 6, 0], dtype=index)
    for _ in range(20):
        numbers, mark = rng.integers(-1, 6, size=12).astype(index), np.zeros(10)
        begins, ends = np.array([0, 5, 5, 8]), np.array([5, 5, 7, 12])
        columns, tokens, parts = first_places(
            numbers, begins, ends, column, first, last, listed, np.zeros(6, bool), mark
        )
        for i in range(4):
            expected = {}
            for token in range(begins[i], ends[i]):
                f = numbers[token]
                own = [] if f < 0 else [column[f]] if column[f] >= 0 else listed[first[f] : last[f]]
                for v in own:
                    if v >= 0:
                        expected.setdefault(int(v), token)
            part = slice(parts[i], parts[i + 1])
            assert dict(zip(columns[part].tolist(), tokens[part].tolist(), strict=True)) == expected
        assert not mark.any()


def first_surfaces(vectorizer, text):
    """How each known term of a text reads where it first stands, from all its tokens."""
    expected = {}
    for token in vectorizer.tokens(text):
        if token.column >= 0:
            expected.setdefault(token.column, token.surface)
    return expected


def test_surfaces_are_those_of_the_tokens():
    texts = ["The #StormDamage of the storm", "Bridges: damage, a bridge and Storms", "x" * 100, ""]
    vectorizer = StreamVectorizer(language="en").fit(texts[:2])
    for text in [*texts, "Unseen words, and a STORM", " ".join(texts)]:
        assert list(vectorizer.surface_forms([text])) == [first_surfaces(vectorizer, text)]


def test_texts_cut_together_read_as_each_alone():
    texts = ["The #StormDamage of the storm", "", "Bridges: damage", "storm " * 30_000 + "Bridge", "a storm"]
    vectorizer = StreamVectorizer(language="en").fit(texts)
    assert list(vectorizer.surface_forms(texts)) == [first_surfaces(vectorizer, t) for t in texts]
    assert len(first_surfaces(vectorizer, texts[3])) == 2


def test_the_texts_learnt_last_read_as_they_began(monkeypatch):
    texts = ["The #StormDamage of the storm", "", "Bridges: damage far from the storms", "storm " * 30_000 + "Bridge"]
    vectorizer = StreamVectorizer(language="auto")
    for limit in (forms.MAX_FORMS, 4):  # the second clears the table of forms at every chunk
        monkeypatch.setattr(forms, "MAX_FORMS", limit)
        vectorizer.partial_fit(texts)
        assert list(vectorizer.last_surface_forms()) == [first_surfaces(vectorizer, t) for t in texts]
        cut = list(vectorizer.last_surface_forms(lead=16))
        assert cut == [
            first_surfaces(vectorizer, text) for text in ("The #StormDamage", "", "Bridges: damage", "storm")
        ]
