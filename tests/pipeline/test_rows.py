"""Unit rows for evidence and stories are the same whatever rows the detector wants."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.pipeline.rows import unit_rows
from firststory.text import StreamVectorizer


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_rows_of_counts_and_of_tfidf_give_the_same(news, norm):
    texts = [document.text for document in news]
    counting = StreamVectorizer(language="en", weighting="count", norm=None)
    weighing = StreamVectorizer(language="en", weighting="tfidf", norm=norm)
    for start in range(0, 200, 50):
        batch = texts[start : start + 50]
        plain = unit_rows(counting.partial_fit_with_counts(batch).counts, counting)
        found = unit_rows(weighing.partial_fit_with_counts(batch).counts, weighing)
        np.testing.assert_array_equal(plain.toarray(), found.toarray())
        np.testing.assert_allclose(np.sqrt(plain.multiply(plain).sum(axis=1)), 1.0)


def test_first_occurrences_are_the_first_of_all(news):
    vectorizer = StreamVectorizer(language="en").fit([document.text for document in news])
    text = " ".join(document.text for document in news[:20])
    every, first = vectorizer.tokens(text), vectorizer.tokens(text, first_only=True)
    firsts = {}
    for token in every:
        firsts.setdefault(token.surface, token)
    assert first == list(firsts.values())
    assert vectorizer.tokens("", first_only=True) == []
