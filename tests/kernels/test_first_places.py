"""First places of terms against a dictionary, and against the tokens of the vectorizer."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.first_places import first_places
from firststory.text import StreamVectorizer


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_it_agrees_with_a_dictionary(index):
    rng = np.random.default_rng(0)
    listed = np.array([3, 7, -1, 2, 3, 9], dtype=index)
    column = np.array([5, -1, -2, 3, -2, 0], dtype=index)  # -1: no term; -2: several, which are listed
    first = np.array([0, 0, 0, 0, 3, 0], dtype=index)
    last = np.array([0, 0, 3, 0, 6, 0], dtype=index)
    for _ in range(20):
        forms, mark, expected = rng.integers(-1, 6, size=12).astype(index), np.zeros(10), {}
        for token, f in enumerate(forms.tolist()):
            if f >= 0:
                own = [column[f]] if column[f] >= 0 else listed[first[f] : last[f]]
                for v in own:
                    if v >= 0:
                        expected.setdefault(int(v), token)
        columns, tokens = first_places(forms, column, first, last, listed, np.zeros(6, bool), mark)
        assert dict(zip(columns.tolist(), tokens.tolist(), strict=True)) == expected
        assert not mark.any()


def test_surfaces_are_those_of_the_tokens():
    texts = ["The #StormDamage of the storm", "Bridges: damage, a bridge and Storms", "x" * 100, ""]
    vectoriser = StreamVectorizer(language="en").fit(texts[:2])
    for text in [*texts, "Unseen words, and a STORM", " ".join(texts)]:
        expected = {}
        for token in vectoriser.tokens(text):
            if token.column >= 0:
                expected.setdefault(token.column, token.surface)
        assert vectoriser.first_surfaces(text) == expected


def test_texts_cut_together_read_as_each_alone():
    texts = ["The #StormDamage of the storm", "", "Bridges: damage", "storm " * 30_000 + "Bridge", "a storm"]
    vectoriser = StreamVectorizer(language="en").fit(texts)
    assert [read() for read in vectoriser.surface_readers(texts)] == [vectoriser.first_surfaces(t) for t in texts]
    assert len(vectoriser.first_surfaces(texts[3])) == 2
