"""Surface forms against the tokens of each text, read one by one."""

from __future__ import annotations

import random

import numpy as np

from firststory.text import StreamVectorizer, forms, surfaces

WORDS = ["Storm", "storm", "storms", "bridge", "Bridges", "flood", "Flooding", "Genoa", "G7", "e-mail", "Müller", "the"]


def some_texts(seed: int, n: int = 30) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, 20))) for _ in range(n)]


def forms_by_tokens(vectorizer: StreamVectorizer, text: str) -> dict[int, str]:
    found: dict[int, str] = {}
    for token in vectorizer.tokens(text):
        if token.column >= 0:
            found.setdefault(token.column, token.surface)
    return found


def test_forms_are_those_of_the_tokens_also_where_few_are_asked_for(monkeypatch):
    texts = some_texts(1)
    vectorizer = StreamVectorizer(language="en").fit(texts)
    read = vectorizer.surface_forms(texts)
    for number, text in enumerate(texts):
        assert read[number] == forms_by_tokens(vectorizer, text)
        assert read.columns(number).tolist() == sorted(read[number])
        monkeypatch.setattr(surfaces, "FEW_TERMS", number % 2 * 40)
        spare = read.text(number)
        assert list(spare.items()) == list(read[number].items()) and len(spare) == len(read[number])
        asked = [7, *list(spare)[:3], 10**6]
        if number % 2 == 0:
            assert spare.some(asked) == {column: spare[column] for column in asked if column in spare}
        assert spare.get(10**6) is None


def test_forms_stay_right_when_the_table_was_emptied_in_between(monkeypatch):
    monkeypatch.setattr(forms, "MAX_FORMS", 16)
    monkeypatch.setattr(forms, "FIRST_FORMS", 16)
    vectorizer = StreamVectorizer(language="en").fit(some_texts(2))
    early = vectorizer.surface_forms(["Bridges flood Genoa"])
    vectorizer.partial_fit([f"word{n} other{n}" for n in range(60)])
    late = vectorizer.surface_forms(["storm Flooding bridge"])
    assert set(early[0].values()) == {"Bridges", "flood", "Genoa"}
    assert set(late[0].values()) == {"storm", "Flooding", "bridge"}
    assert late.columns(0).dtype == np.int64
