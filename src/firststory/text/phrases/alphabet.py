"""What is known of characters and words before a stream begins."""

from __future__ import annotations

import gzip
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
import regex

from firststory.kernels.phrases import layout as k
from firststory.kernels.phrases.keys import keys_of
from firststory.kernels.phrases.tables import put_marks
from firststory.kernels.text import tokens as t
from firststory.text.characters import mark_characters, word_classes
from firststory.text.language import stop_words

_HERE = "firststory.text.phrases"

_MARKS = {
    "particle": k.PARTICLE, "person title": k.PERSON_TITLE, "takes of": k.TAKES_OF, "place word": k.PLACE_WORD,
    "organisation word": k.ORGANISATION_WORD, "says": k.SAYS, "inside": k.INSIDE, "near": k.NEAR, "date": k.DATE,
    "date or name": k.DATE_OR_NAME, "unit": k.UNIT, "magnitude": k.MAGNITUDE, "abbreviation": k.ABBREVIATION,
    "who": k.WHO, "royal": k.ROYAL, "organisation head": k.ORGANISATION_HEAD, "place head": k.PLACE_HEAD,
    "direction": k.DIRECTION, "thing": k.THING,
    "organisation alone": k.ORGANISATION_ALONE, "name or word": k.NAME_OR_WORD,
    "of": k.OF, "the": k.THE, "ordinal": k.ORDINAL,
}  # fmt: skip
"""List of words.txt -> mark."""

_CLASSES = {
    t.LETTER: k.LOWER, t.DIGIT: k.DIGIT, t.MARK: k.INVISIBLE, t.IGNORABLE: k.INVISIBLE, t.APOSTROPHE: k.APOSTROPHE,
    t.NUMBER_JOIN: k.JOIN, t.HYPHEN: k.HYPHEN, t.HASH: k.HASH, t.AT: k.AT, t.UNSPACED: k.UNSPACED,
    t.AMPERSAND: k.AMPERSAND,
}  # fmt: skip
"""Class of characters for the vectorizer -> for phrases."""

_RULES = (
    (r"\p{Lu}|\p{Lt}", k.UPPER),
    (r"\p{Zs}|[\t\x0b\x1f]", k.SPACE),
    (r"[\n\r\x0c\x1c-\x1e\x85\u2028\u2029]", k.BREAK),
    (r"\p{Sc}", k.CURRENCY),
    (r"[.．]", k.DOT),
    (r"[!?;\"“”„«»‘(|—–*•¡¿。！？；]", k.OPENING),
)
MAX_NUMBERS = 1 << 15
"""Phrases whose numbers are kept."""
_FOLDED = ((0, 0x2500), (0xA640, 0xAC00), (0xFF00, 0xFFF0), (0x10400, 0x10500))
"""Ranges of characters that have case or accents."""


@cache
def character_classes() -> k.Bytes:
    """The class of every code point."""
    known = word_classes()
    classes = np.zeros(known.size, np.uint8)
    for theirs, ours in _CLASSES.items():
        classes[known == theirs] = ours
    for pattern, ours in _RULES:
        mark_characters(classes, rf"(?:{pattern})+", ours)
    return classes


@cache
def folded_characters() -> k.Codes:
    """Every code point without case and accents."""
    folded = np.arange(0x110000, dtype=np.uint32)
    for begin, end in _FOLDED:
        for code in range(begin, end):
            folded[code] = ord(_fold(chr(code)))
    return folded


def _fold(character: str) -> str:
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    if len(plain) == 1:
        return str(unicodedata.decimal(plain, plain))
    small = character.casefold()
    return small if len(small) == 1 else character


@cache
def word_lists() -> dict[str, frozenset[str]]:
    """The lists of words.txt by name."""
    lines = (files(_HERE) / "words.txt").read_text("utf-8").splitlines()
    return {name: frozenset(words.split()) for name, _, words in (line.partition(":") for line in lines)}


def known_names() -> tuple[frozenset[str], frozenset[str]]:
    """Names of places and first names; see NOTICE.md beside them."""
    blob = gzip.decompress((files(_HERE) / "names.txt.gz").read_bytes()).decode("utf-8")
    places, _, first = blob.partition("\n\n")
    return frozenset(places.split("\n")), frozenset(first.split("\n"))


@cache
def alphabet_of(languages: tuple[str, ...]) -> k.Alphabet:
    """Classes of characters and marks of words, with the stop words of these languages."""
    lists = word_lists()
    places, first = known_names()
    # A short first name, or one that is a word of an organisation, says nothing.
    first = frozenset(name for name in first if len(name) > 2) - (
        lists["organisation word"] | lists["place word"] | lists["person title"] | lists["not first name"]
    )
    stop = frozenset().union(*map(stop_words, languages)) | lists["stop"]
    marked: dict[int, Iterable[str]] = {mark: lists[name] for name, mark in _MARKS.items()}
    marked |= {k.FIRST_NAME: first, k.PLACE_NAME: places, k.STOP: stop - lists["not stop"]}
    keys = np.zeros(1 << 17, np.uint64)
    marks = np.zeros(keys.size, np.uint32)
    for mark, words in marked.items():
        put_marks(keys, marks, key_numbers(sorted(words)), mark)
    return k.Alphabet(character_classes(), folded_characters(), keys, marks)


def key_numbers(phrases: list[str]) -> k.Keys:
    """The keys of phrases as numbers, those that the tables are kept by; 0 for one without letters."""
    keys = np.zeros(len(phrases), np.uint64)
    codes = np.frombuffer("\n".join(phrases).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = np.cumsum(np.fromiter(map(len, phrases), np.int64, len(phrases)) + 1) - 1
    keys_of(codes, ends, character_classes(), folded_characters(), keys)
    return keys


_numbers: dict[str, int] = {}
"""The numbers of phrases that were asked for: the words of a stream come again and again."""


def note_key_numbers(phrases: Iterable[str]) -> None:
    """Look up at one go what `key_number` will be asked for: many phrases cost little more than one."""
    new = [phrase for phrase in dict.fromkeys(phrases) if phrase not in _numbers]
    if new:
        _note(new, key_numbers(new).tolist())


def numbers_of(phrases: Sequence[str]) -> list[int]:
    """`key_number` of many at one go."""
    known = [number for number in map(_numbers.get, phrases) if number is not None]
    if len(known) == len(phrases):
        return known
    note_key_numbers(phrases)
    return list(map(key_number, phrases))


def key_number(phrase: str) -> int:
    """The key of one phrase as a number."""
    number = _numbers.get(phrase)
    if number is None:
        number = int(key_numbers([phrase])[0])
        _note([phrase], [number])
    return number


def _note(phrases: list[str], numbers: list[int]) -> None:
    if len(_numbers) + len(phrases) > MAX_NUMBERS:
        _numbers.clear()
    _numbers.update(zip(phrases, numbers, strict=True))


@cache
def stop_numbers(languages: tuple[str, ...]) -> frozenset[int]:
    """The numbers of the stop words of these languages, and of dates."""
    alphabet = alphabet_of(languages)
    is_stop = (alphabet.marks & np.uint32(k.STOP | k.DATE) != 0) & (alphabet.keys != 0)
    return frozenset(alphabet.keys[is_stop].tolist())


class _Folding(dict[int, int | str | None]):
    """For `str.translate`: no case, accents, dots or invisible characters; hyphens are spaces."""

    def __missing__(self, code: int) -> int | str | None:
        kind = int(character_classes()[code])
        found: int | str | None = int(folded_characters()[code])
        if kind in (k.DOT, k.INVISIBLE):
            found = None
        elif kind in (k.HYPHEN, k.SPACE, k.BREAK):
            found = " "
        elif kind == k.APOSTROPHE:
            found = "'"
        self[code] = found
        return found


_FOLDING = _Folding()
_KEPT_POINT = "\ue000"
"""Stands for the point of a number while dots are taken out."""
_POSSESSIVE = regex.compile(r"(?:'s?)+(?= |$)")
_GROUPING = regex.compile(r"(?<=\p{Nd}),(?=\p{Nd})")
_POINT = regex.compile(r"(?<=\p{Nd})\.(?=\p{Nd})")


@cache
def _ascii_folding() -> tuple[bytes, bytes]:
    """The same for `bytes.translate`, ten times as quick: what each byte becomes, and those that go."""
    to = {code: _FOLDING[code] for code in range(128)}
    table = bytes(ord(one) if isinstance(one := to.get(code), str) else one or 0 for code in range(256))
    return table, bytes(code for code, one in to.items() if one is None)


def _translated(text: str) -> str:
    return text.encode().translate(*_ascii_folding()).decode() if text.isascii() else text.translate(_FOLDING)


def fold(text: str) -> str:
    """The key of a phrase: without case, accents, hyphens, dots and possessive.

    Examples
    --------
    >>> fold("Kim Jong-un’s") == fold("KIM JONG UN") == "kim jong un"
    True
    >>> fold("U.S."), fold("Beyoncé"), fold("$1,400.5")
    ('us', 'beyonce', '$1400.5')
    """
    if text.isascii() and text.replace(" ", "").isalnum():  # as most are
        return " ".join(text.lower().split())
    if "," in text or "." in text:
        text = _POINT.sub(_KEPT_POINT, _GROUPING.sub("", text))
    words = " ".join(_translated(text).split())
    if "'" in words:
        words = str(_POSSESSIVE.sub("", words)).strip()
    return words.replace(_KEPT_POINT, ".")


fold_phrase = lru_cache(maxsize=1 << 14)(fold)
"""For names and words, which come again and again."""
