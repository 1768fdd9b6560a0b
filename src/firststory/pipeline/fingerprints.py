"""Fingerprints of texts and ids, and the latest of them remembered. Bounded: the oldest go first."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import deque
from functools import cache
from typing import NamedTuple, Self

import numpy as np
import regex
from numpy.typing import NDArray

from firststory.kernels.text.words import single_spaced, spaced_words
from firststory.records import Document
from firststory.state import State

_NO_WORD = regex.compile(r"[^\p{L}\p{N}\p{M}#]+")
_LINK = regex.compile(r"https?://\S+|www\.\S+")
_REPOST = regex.compile(r"\s*(?:rt|via)\s+@\w+:?\s*", regex.IGNORECASE)
_ASCII_WORDS = bytes(code if chr(code).isalnum() or chr(code) == "#" else 32 for code in range(128)) + bytes([32] * 128)
HEADLINE_CHARACTERS = 300
"""Up to this length, cutting and joining the words is quicker than calling a kernel."""
LONG_TEXT_CHARACTERS = 80
"""With one space between words: a text this long is known again whatever title stands above it."""
_TYPOGRAPHY = "“”‘’–—…\u00a0"


def fingerprint(text: str) -> int:
    """A number that is the same for texts that differ only in case, spacing, punctuation, links or a leading 'RT @x:'.

    Examples
    --------
    >>> fingerprint("Flood in Bremen! https://t.co/abc") == fingerprint("RT @news: flood in  BREMEN")
    True
    """
    words = _words(text)
    # A text without a single word (only a link, only emoji) is known by itself.
    return hash_of(words or text)


def fingerprints(title: str, text: str) -> tuple[int, int, int]:
    """That of a title and a text together, that of the text alone, and the letters of the text that count.

    Examples
    --------
    >>> both, alone, letters = fingerprints("Flood!", "Bremen is under water")
    >>> both == fingerprint("Flood: Bremen is under water"), alone == fingerprint("Bremen is under water"), letters
    (True, True, 21)
    """
    above, below = _words(title), _words(text)
    both = f"{above} {below}" if above and below else above or below
    return hash_of(both or f"{title}\n{text}"), hash_of(below or text), len(below)


def _words(text: str) -> str:
    if len(text) > HEADLINE_CHARACTERS and (found := _words_of_long(text)) is not None:
        return found
    plain = text
    if not plain.isascii():
        for sign in _TYPOGRAPHY:
            plain = plain.replace(sign, " ")
    if plain.isascii():
        # Most of the world's texts, ten times quicker; a link or a repost takes the long way.
        letters = plain.encode("ascii").lower()
        if b"http" not in letters and b"www." not in letters and b"@" not in letters:
            return _spaced(letters)
    plain = plain.casefold()
    if "http" in plain or "www." in plain:
        plain = _LINK.sub(" ", plain)
    if repost := _REPOST.match(plain):
        plain = plain[repost.end() :]
    if plain.isascii():
        return _spaced(plain.encode("ascii"))
    words: str = _NO_WORD.sub(" ", unicodedata.normalize("NFKC", plain).casefold()).strip()
    return words


def _words_of_long(text: str) -> str | None:
    """The words of a text of ASCII and typographic signs, at one go; None for any other, and where a link may be."""
    codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype=np.uint16)
    out = np.empty(len(codes) + 1, dtype=np.uint8)
    n = spaced_words(codes, _letters(), out)
    return None if n < 0 else out[:n].tobytes().decode("ascii")


@cache
def _letters() -> NDArray[np.uint8]:
    """What each character is written as between words; 0 for one that takes a closer look."""
    letters = np.zeros(max(map(ord, _TYPOGRAPHY)) + 1, dtype=np.uint8)
    letters[:128] = np.frombuffer(bytes(range(128)).lower().translate(_ASCII_WORDS), dtype=np.uint8)
    letters[[ord(sign) for sign in _TYPOGRAPHY]] = ord(" ")
    letters[ord("@")] = 0
    return letters


def _spaced(letters: bytes) -> str:
    """The words of lower-case ASCII with one space between them."""
    letters = letters.translate(_ASCII_WORDS)
    if len(letters) <= HEADLINE_CHARACTERS:
        return b" ".join(letters.split()).decode("ascii")
    return single_spaced(np.frombuffer(letters, dtype=np.uint8)).tobytes().decode("ascii")


def hash_of(text: str) -> int:
    """A number below 2 ** 64 that stands for a text."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little")


class TextFingerprints(NamedTuple):
    """Fingerprints of a text with its title and without, and whether the text is known again whatever its title.

    Where the text is short the title belongs to it: feeds repeat "Read more" under every title.
    """

    whole: int
    text_alone: int
    is_known_without_title: bool


def text_fingerprints(document: Document) -> TextFingerprints:
    """The numbers by which the text of a document is known when it comes again."""
    title = title_before(document)
    if not title:
        number = fingerprint(document.text)
        return TextFingerprints(number, number, is_known_without_title=False)
    whole, alone, letters = fingerprints(title, document.text)
    return TextFingerprints(whole, alone, letters >= LONG_TEXT_CHARACTERS)


def full_text(document: Document) -> str:
    """What is read of a document: its text, with the title before it where the text does not begin with it."""
    title = title_before(document)
    return f"{title}\n{document.text}" if title else document.text


def title_before(document: Document) -> str:
    """The title, where it is read besides the text."""
    title = document.title
    return "" if not title or document.text.startswith(title) else title


class Seen:
    """Hashes of what came, each with an id, the latest `capacity` of them.

    Examples
    --------
    >>> seen = Seen(capacity=2)
    >>> for name in "abc":
    ...     seen.add(hash_of(name), name)
    >>> seen.get(hash_of("a")), seen.get(hash_of("c"))
    (None, 'c')
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = int(capacity)
        # An OrderedDict takes twice the room.
        self._names: dict[int, str] = {}
        self._order: deque[int] = deque()

    def __len__(self) -> int:
        return len(self._names)

    def get(self, number: int) -> str | None:
        return self._names.get(number)

    def add(self, number: int, name: str) -> None:
        """Remember; what came before under this number keeps its name."""
        if number not in self._names:
            self._names[number] = name
            self._order.append(number)
            if len(self._order) > self.capacity:
                del self._names[self._order.popleft()]

    def get_state(self) -> State:
        return {
            "capacity": self.capacity,
            "numbers": np.fromiter(self._order, dtype=np.uint64, count=len(self._order)),
            "names": list(self._names.values()),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        seen = cls(state["capacity"])
        seen._names = dict(zip(state["numbers"].tolist(), state["names"], strict=True))
        seen._order = deque(seen._names)
        return seen
