"""A table of vectors for pieces of words, and how a word falls into pieces.

The table is that of WordLlama (MIT licence): 32,000 pieces, trained so that the mean over a text says what it is about.
Only the two data files of the package are read; none of its code is run.
"""

from __future__ import annotations

import json
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Ints, Slots
from firststory.errors import DataError, MissingExtraError

PACKAGE, WEIGHTS, TOKENISER = (
    "wordllama",
    "weights/l2_supercat_256.safetensors",
    "tokenizers/l2_supercat_tokenizer_config.json",
)
BEGIN = "▁"
"""Stands before the first letter of a word."""
ORDINARY = 259
"""The pieces before are signs of control and single bytes; from here on they are sorted by how frequent they are."""


class PieceNumbers(NamedTuple):
    """Pieces by number."""

    begin: int
    """Before the first letter of a word."""
    letters: Ints
    """The piece of each code point; -1 for none."""
    first: Slots
    others: Slots
    """Pieces that make one with the piece p before them, in order: others[first[p] : first[p + 1]]."""
    made: Slots


class WordPieces:
    """The pieces by name, and the vector of each, less what all text has in common.

    What is common is the mean piece of running text: by Zipf's law the r-th piece comes up 1/r as often as the first.
    A whole text's mean is then near zero where it says nothing in particular.
    """

    def __init__(self, names: dict[str, int], vectors: NDArray[np.float32]) -> None:
        self.names = names
        often = 1.0 / np.arange(9, 9 + len(vectors) - ORDINARY)
        common = (often / often.sum()) @ vectors[ORDINARY:].astype(np.float64)
        self.vectors = vectors - common.astype(np.float32)

    def of(self, word: str) -> list[int]:
        """The pieces of a word, joined pair by pair, the most frequent first; none where a letter has no piece.

        This is byte-pair encoding: the rank of a pair is that of the piece that it makes. `kernels.text.pieces` does
        the same with numbers.
        """
        get = self.names.get
        whole = get(BEGIN + word)
        if whole is not None:
            return [whole]
        parts, none = [BEGIN, *word], len(self.names)
        ranks = [get(one + other, none) for one, other in pairwise(parts)]
        while ranks and (best := min(ranks)) < none:
            at = ranks.index(best)
            parts[at] = joined = parts[at] + parts[at + 1]
            del parts[at + 1], ranks[at]
            if at < len(ranks):
                ranks[at] = get(joined + parts[at + 1], none)
            if at:
                ranks[at - 1] = get(parts[at - 1] + joined, none)
        found = [get(part, none) for part in parts]
        return [] if none in found else found

    @cached_property
    def numbers(self) -> PieceNumbers:
        """What the kernel needs."""
        letters = {ord(name): number for name, number in self.names.items() if len(name) == 1}
        of_letter = np.full(max(letters, default=0) + 1, -1, dtype=np.int64)
        of_letter[list(letters)] = list(letters.values())
        get, made = self.names.get, dict[int, int]()
        for name, number in self.names.items():
            for k in range(1, len(name)):
                one, other = get(name[:k]), get(name[k:])
                if one is not None and other is not None:
                    made[one << 32 | other] = number
        pairs = np.array(sorted(made), dtype=np.int64)
        first = np.searchsorted(pairs >> 32, np.arange(max(self.names.values(), default=0) + 2)).astype(np.int32)
        others, makes = (pairs & (2**32 - 1)).astype(np.int32), np.array([made[pair] for pair in pairs.tolist()])
        return PieceNumbers(self.names.get(BEGIN, -1), of_letter, first, others, makes.astype(np.int32))


@cache
def load_pieces(dimensions: int) -> WordPieces:
    """The table with the first `dimensions` of its 256 columns: it was trained so that it can be cut."""
    folder = _folder()
    names = json.loads((folder / TOKENISER).read_text(encoding="utf-8"))["model"]["vocab"]
    raw = (folder / WEIGHTS).read_bytes()
    # safetensors: the length of the header, the header, the numbers.
    begin = 8 + int.from_bytes(raw[:8], "little")
    shape = json.loads(raw[8:begin])["embedding.weight"]["shape"]
    table = np.frombuffer(raw[begin:], dtype=np.float16).reshape(shape)
    return WordPieces(names, table[:, :dimensions].astype(np.float32))


def _folder() -> Path:
    """Where the package lies; it is not imported."""
    spec = find_spec(PACKAGE)
    folder = Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None
    if folder is None:
        raise MissingExtraError("ShortTextVectors", PACKAGE, "meaning")
    if not (folder / WEIGHTS).is_file() or not (folder / TOKENISER).is_file():
        raise DataError(
            owner="ShortTextVectors",
            parameter=f"the package {PACKAGE!r}",
            allowed=f"one with {WEIGHTS} and {TOKENISER}",
            received=folder,
            remedy="Type: pip install --force-reinstall 'firststory[meaning]'",
            message=f"The package {PACKAGE!r} in {folder} has no {WEIGHTS} or no {TOKENISER}.",
        )
    return folder


def is_installed() -> bool:
    """Whether the package with the table is there; it comes with the extra `meaning`."""
    return find_spec(PACKAGE) is not None
