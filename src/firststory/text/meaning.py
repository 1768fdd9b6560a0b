"""What a short text is about, as a vector: two headlines may tell of one event and share hardly a word."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.meaning import UNKNOWN, sum_pieces, to_unit
from firststory.text.word_pieces import WordPieces, load_pieces

MAX_LENGTH = 64
"""Characters of a word at most."""
MAX_WORDS = 1 << 17
"""Words whose pieces are kept; then the table starts afresh."""
AROUND = ".,:;!?…-–—'\"‘’“”«»()[]{}<>*#|/\\"
"""What may stand around a word and is no part of it."""
LANGUAGES = frozenset({"en"})
"""The languages that the table was trained for."""

Vectors = NDArray[np.float32]


class ShortTextVectors:
    """The direction of the sum of a text's word pieces, in a table of static vectors.

    A pure function of the text: it learns nothing and has no state. Text of more than `short` words has the zero vector
    (whole articles are better compared by their words), and so has text whose words are mostly unknown to the table
    (other scripts); web addresses and @names do not count. The table was trained on English.

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

    def transform(self, texts: Iterable[str]) -> Vectors:
        """A row of length one, or of zeros, for each text."""
        if self._words is None:
            self._words = _Words(load_pieces(self.dimensions))
        if len(self._words) > MAX_WORDS:
            self._words.clear()
        pieces_of = self._words.__getitem__
        found = []
        for text in texts:
            words = text.split(None, self.short)
            found.append(b"".join(map(pieces_of, words)) if len(words) <= self.short else b"")
        vectors = np.zeros((len(found), self.dimensions), dtype=np.float32)
        ends = np.cumsum([0, *map(len, found)]) // 4
        sum_pieces(np.frombuffer(b"".join(found), dtype=np.int32), ends, self._words.pieces.vectors, vectors)
        to_unit(vectors)
        return vectors


class _Words(dict[str, bytes]):
    """The pieces of each word as int32 numbers: to join bytes is the quickest way to list those of a whole text.

    A word that is not there yet is taken in when it is asked for.
    """

    def __init__(self, pieces: WordPieces) -> None:
        super().__init__()
        self.pieces = pieces

    def __missing__(self, word: str) -> bytes:
        if word[0] == "@" or "://" in word or len(word) > MAX_LENGTH:
            return b""  # hardly any comes twice
        bare = word.strip(AROUND).removesuffix("'s").removesuffix("’s")
        if bare == word:
            found = array("i", self.pieces.of(word) or [UNKNOWN]).tobytes()
        else:
            found = self[bare] if bare else b""
        self[word] = found
        return found
