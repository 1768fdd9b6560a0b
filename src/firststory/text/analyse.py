"""From a surface form to its terms: normalise, drop stop words, stem. Each form of a stream is resolved once.

A text is cut where it stands (`kernels.text.tokens`), so that every token slices the original text; what is done
to its letters is done here, to the form: NFKC, zero-width characters and controls out, lower case, numbers in one
spelling, elisions off, stop words out, stem.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import regex

from firststory.kernels.text.tokens import HASHTAG, HOST, MENTION, RUN
from firststory.text.characters import INVISIBLE
from firststory.text.language import ELISIONS, UNKNOWN, stemmer

_GROUPED = regex.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DOT_GROUPED = regex.compile(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
_CAMEL = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lt}\p{Lm}\p{M}'’]+|\p{N}+")
_ACRONYM = regex.compile(r"\p{L}\p{M}*(?:\.\p{L}\p{M}*)+")
_OPTIONAL = regex.compile(r"[\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u0652\u0670]|(?<=\p{Cyrillic})[\u0300\u0301]")
"""Hebrew and Arabic points, the Arabic stretch and the Cyrillic stress: written or not, the word is the same."""
_ENGLISH_POSSESSIVE = regex.compile(r"'s?$")


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything that the terms of a form depend on."""

    plain: bool
    language: str
    stop_words: frozenset[str]
    stem: bool
    min_length: int
    urls: str
    mentions: str
    common: frozenset[str] = frozenset()
    """Words that count in short texts only, and are never evidence."""


class Analyser:
    """Terms of surface forms.

    Examples
    --------
    >>> rules = Rules(False, "en", frozenset({"the"}), True, 2, "drop", "drop")
    >>> Analyser(rules).terms(["Bridges", "the", "1,000", "#StormDamage"], [0, 0, 0, 1])
    [('bridg',), (), ('1000',), ('stormdamag', 'storm', 'damag')]
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._stemmer: Any = stemmer(rules.language) if rules.stem else None
        self._elision = ELISIONS.get(rules.language)

    def terms(self, surfaces: Sequence[str], kinds: Iterable[int]) -> list[tuple[str, ...]]:
        """The terms of each form: none, one, or (hashtags made of words) several. Common words are left out."""
        words = [self.words(surface, kind) for surface, kind in zip(surfaces, kinds, strict=True)]
        words = [[] if self.is_common(found) else found for found in words]
        stems = iter(self.stems([word for found in words for word in found]))
        return [tuple(next(stems) for _ in found) for found in words]

    def stems(self, words: list[str]) -> list[str]:
        """The stems of words, all at once."""
        return words if self._stemmer is None else list(self._stemmer.stemWords(words))

    @property
    def simple(self) -> bool:
        """Whether words of ASCII letters and digits need nothing but lower case before stop words and stemming."""
        return self.rules.plain or self.rules.language not in ("tr", "az")

    def words(self, surface: str, kind: int) -> list[str]:
        """The words of a form before stemming."""
        rules = self.rules
        if rules.plain:
            word = surface.lower()
            return [word] if len(surface) >= rules.min_length and word not in rules.stop_words else []
        if kind == MENTION:
            return [surface.lower()] if rules.mentions == "keep" else []
        if kind == HOST:
            return [surface.lower().removeprefix("www.")] if rules.urls == "host" else []
        text = normal(surface, rules.language)
        if kind == HASHTAG:
            return self._hashtag(surface[1:], text.lstrip("#"))
        if self._elision is not None:
            text = self._elision.sub("", text)
        shortest = 1 if kind == RUN else rules.min_length
        return [text] if len(text) >= shortest and not self._is_stop(text) else []

    @cached_property
    def common_stems(self) -> frozenset[str]:
        """The terms that common words give."""
        return self.stems_of(self.rules.common)

    def stems_of(self, words: Iterable[str]) -> frozenset[str]:
        """The stems of a set of words."""
        return frozenset(self.stems(sorted(words)))

    def is_common(self, words: Sequence[str]) -> bool:
        """Whether a form has none but common words."""
        return bool(words and self.rules.common) and all(self._is_in(self.rules.common, word) for word in words)

    def _is_stop(self, word: str) -> bool:
        return self._is_in(self.rules.stop_words, word)

    def _is_in(self, listed: frozenset[str], word: str) -> bool:
        if word in listed:
            return True
        # it's, government's: a possessive or a short verb on a stop word leaves it one.
        return "'" in word and self.rules.language == "en" and _ENGLISH_POSSESSIVE.sub("", word) in listed

    def _hashtag(self, written: str, whole: str) -> list[str]:
        """A hashtag is a word; one in CamelCase is its words too."""
        words = [whole]
        parts = [normal(part, self.rules.language) for part in _CAMEL.findall(written)]
        if len(parts) > 1:
            words += parts
        return [word for word in words if len(word) >= self.rules.min_length and not self._is_stop(word)]


def normal(surface: str, language: str = UNKNOWN) -> str:
    """The one spelling of a form.

    Examples
    --------
    >>> normal("Ｆｕｌｌ\u200bwidth"), normal("DON’T"), normal("1,000.50"), normal("١٢"), normal("U.S")
    ('fullwidth', "don't", '1000.50', '12', 'u.s.')
    """
    text = surface if surface.isprintable() else INVISIBLE.sub("", surface)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = _OPTIONAL.sub("", INVISIBLE.sub("", text)).replace("’", "'")
    text = _lower(text, language)
    if text[:1].isdecimal():
        return _number(text)
    # With its last dot an acronym is out of the stemmer's reach, and u.s. is not the word us.
    return f"{text}." if "." in text and _ACRONYM.fullmatch(text) else text


def _lower(text: str, language: str) -> str:
    if language in ("tr", "az"):
        text = text.replace("İ", "i").replace("I", "ı")
    # İ lower-cases to i and a combining dot, which no other spelling of the word has.
    return text.lower().replace("i\u0307", "i")


def _number(text: str) -> str:
    """Digits of every script as ASCII, and 1,000,000 or 1.000.000 as 1000000."""
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(letter, letter)) for letter in text)
        text = text.replace("٫", ".").replace("٬", ",")
    if "," in text and _GROUPED.fullmatch(text):
        return text.replace(",", "")
    if "." in text and _DOT_GROUPED.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    return text


def is_marked(surface: str) -> bool:
    """Whether a form is capitalised or carries a digit: names and numbers, which tell one event from another.

    Examples
    --------
    >>> [is_marked(form) for form in ("Paris", "#Paris", "paris", "3rd", "東京")]
    [True, True, False, True, False]
    """
    first = surface[1:2] if surface[:1] in "#＃" else surface[:1]
    return first.isupper() or any(map(str.isdigit, surface))
