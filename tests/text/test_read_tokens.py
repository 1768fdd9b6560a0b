"""Tokens of texts that were read, against reading the texts again."""

from __future__ import annotations

import pytest

from firststory.text import StreamVectorizer, chunks

TEXTS = [
    ("Storm closes bridges", "The storm closed a Bridge in Genoa; bridges of Genoa, #StormDamage and http://x.org/a"),
    ("", "Der Sturm hat die Brücke in Genua geschlossen, und die Menschen warten am Ufer auf den Morgen"),
    ("Genoa", "Genoa"),
    ("", "…"),
    ("A title of its own", "a" * 300 + " " + "flood and storm " * 40),
]


@pytest.mark.parametrize("language", ["auto", "en"])
@pytest.mark.parametrize("size", [chunks.CHUNK, 150])
def test_they_are_those_of_the_texts_read_again(monkeypatch, language, size):
    monkeypatch.setattr(chunks.chunks, "__defaults__", (size,))
    vectorizer = StreamVectorizer(language=language)
    for _ in range(2):
        vectorizer.partial_fit([f"{title}\n{text}" if title else text for title, text in TEXTS])
        read, languages = vectorizer.last_tokens(), vectorizer.last_languages
        for number, (title, text) in enumerate(TEXTS):
            found = read.of(number, len(title) + 1 if title else 0)
            expected = [
                *(token._replace(start=-1, end=-1) for token in again(vectorizer, title, languages[number])),
                *again(vectorizer, text, languages[number]),
            ]
            assert first(found) == first(expected)
            assert all(token.start < 0 or text[token.start : token.end] == token.surface for token in found)


def again(vectorizer, text, language):
    return [one for one in vectorizer.tokens(text, language=language) if one.column >= 0] if text else []


def first(tokens):
    """Each form of the title and of the text where it first stands."""
    found = {}
    for token in tokens:
        found.setdefault((token.surface, token.column, token.start < 0), token)
    return list(found.values())
