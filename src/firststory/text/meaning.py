"""What a short text is about, as a vector: two headlines may tell of one event and share hardly a word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.text.meaning import sum_pieces, to_unit
from firststory.kernels.text.pieces import split_words
from firststory.kernels.text.tokens import number_forms
from firststory.kernels.text.words import AROUND, SPACE, cut_words
from firststory.text.word_pieces import BEGIN, WordPieces, is_installed, load_pieces

MAX_LENGTH = 64
"""Characters of a word at most."""
BLOCK = 500
"""Texts that are read at once."""
FIRST_WORDS, MAX_WORDS = 1 << 14, 1 << 17
"""Words whose pieces are kept. When they are too many the table starts afresh, with twice the room if it may."""
MARKS = ".,:;!?…-–—'\"‘’“”«»()[]{}<>*#|/\\"
"""What may stand around a word and is no part of it."""
LAST_SPACE = 0x3000
"""No white space beyond it, and none of the marks."""
LANGUAGES = frozenset({"en"})
"""The languages that it was tried on."""

MISSING = (
    "The table of word vectors is not installed: short English texts are compared by their words alone. "
    "Type: pip install 'firststory[meaning]'"
)
"""What to say where the table would be used and is not there."""

Vectors = NDArray[np.float32]


class ShortTextVectors:
    """The direction of the sum of a text's word pieces, in a table of static vectors.

    A pure function of the text: it learns nothing and has no state. Text of more than `short` words has the zero vector
    (whole articles are better compared by their words), and so has text whose words are mostly unknown to the table
    (other scripts); web addresses and @names do not count. It was tried on English only.

    Parameters
    ----------
    short : int, default=30
        The most words of a text that has a vector.
    dimensions : int, default=64
        Of the vectors, at most 256.

    Examples
    --------
    >>> from firststory.text.meaning import ShortTextVectors
    >>> storm, gale, vote = ShortTextVectors().transform(
    ...     ["Storm floods the harbour", "Hurricane leaves port under water", "Parliament votes on pensions"])
    >>> bool(storm @ gale > storm @ vote)
    True
    """

    def __init__(self, short: int = 30, dimensions: int = 64) -> None:
        self.short = short
        self.dimensions = dimensions
        self._words: _Words | None = None

    @staticmethod
    def is_available() -> bool:
        """Whether the table is installed (the extra `meaning`)."""
        return is_installed()

    def transform(self, texts: Iterable[str]) -> Vectors:
        """A row of length one, or of zeros, for each text."""
        if self._words is None:
            self._words = _Words(load_pieces(self.dimensions), self.short)
        longest = self.short * (MAX_LENGTH + 1)
        # What is too long for so few words is not even looked at.
        lines = ["" if len(text) > longest else text for text in texts]
        vectors = np.zeros((len(lines), self.dimensions), dtype=np.float32)
        for begin in range(0, len(lines), BLOCK):
            words, bounds = self._words.read(lines[begin : begin + BLOCK])
            pieces = self._words.pieces
            sum_pieces(
                words, bounds, self._words.first, self._words.parts, pieces.vectors, vectors[begin : begin + BLOCK]
            )
        to_unit(vectors)
        return vectors


class _Words:
    """Words by number, and the pieces of each: word w has parts[first[w]:first[w + 1]]."""

    def __init__(self, pieces: WordPieces, short: int) -> None:
        self.pieces = pieces
        self.short = short
        self._classes = _classes()
        n = BLOCK * short
        self._starts, self._stops = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        self._forms = np.empty(n, dtype=np.int32)
        self._kinds = np.zeros(n, dtype=np.uint8)
        """All words are of one kind and one language."""
        self._most = FIRST_WORDS
        self.clear()

    def clear(self) -> None:
        """Forget every word. Memory that is not written to is not taken either."""
        room = self._most + BLOCK * self.short
        self.n, self._used, self._n_parts = 0, 0, 0
        self._table = np.zeros((1 << (2 * room - 1).bit_length(), 4), dtype=np.uint64)
        self._arena = np.zeros(16 * self._most + self._letters(), dtype=np.uint32)
        self._places, self._simple = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.bool_)
        self.first = np.zeros(room + 1, dtype=np.int64)
        self.parts = np.zeros(1024, dtype=np.int32)

    def _letters(self) -> int:
        """Room in the arena that one block may need."""
        return BLOCK * self.short * (MAX_LENGTH + 1)

    def read(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The numbers of the words of at most BLOCK texts, and where the words of each begin and end."""
        if self.n > min(self._most, MAX_WORDS) or self._used + self._letters() > len(self._arena):
            self._most = min(2 * self._most, MAX_WORDS)
            self.clear()
        codes = np.frombuffer("\n".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64) - 1
        bounds = np.zeros(len(texts) + 1, dtype=np.int64)
        n = cut_words(codes, ends, self._classes, self.short, MAX_LENGTH, self._starts, self._stops, bounds)
        known = self.n
        self.n, self._used = number_forms(
            codes, self._starts, self._stops, self._kinds, self._kinds, n, MAX_LENGTH, self._table, self._arena,
            self._used, known, self._forms, self._places, self._simple,
        )  # fmt: skip
        if self.n > known:
            self._take_in(known)
        return self._forms, bounds

    def _take_in(self, known: int) -> None:
        """The pieces of the words from `known` on."""
        places = self._places[known : self.n]
        begin = int(places[0])
        codes = self._arena[begin : self._used].copy()
        codes[places - begin] = 32  # the words that stand before the letters are no code points
        text = codes.tobytes().decode("utf-32-le", "surrogatepass")
        starts, lengths = places - begin + 1, (self._arena[places] >> 16).astype(np.int64)
        spans = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        whole = np.array([self.pieces.names.get(BEGIN + text[a:b], -1) for a, b in spans], dtype=np.int64)
        while self._n_parts + len(codes) > len(self.parts):  # every letter is a piece at most
            self.parts = np.concatenate([self.parts, np.zeros_like(self.parts)])
        ends = self.first[known + 1 : self.n + 1]
        split_words(codes, starts, lengths, whole, *self.pieces.numbers, self.parts[self._n_parts :], ends)
        ends += self._n_parts
        self._n_parts = int(ends[-1])


def _classes() -> NDArray[np.uint8]:
    """What each character is to `cut_words`, as far as there is white space or a mark."""
    spaces = [code for code in range(LAST_SPACE + 1) if chr(code).isspace()]
    classes = np.zeros(LAST_SPACE + 1, dtype=np.uint8)
    classes[spaces] = SPACE
    classes[[ord(mark) for mark in MARKS]] = AROUND
    return classes
