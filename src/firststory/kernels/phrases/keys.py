"""The key of a phrase: a number that knows no case, accent, hyphen, dot or possessive.

The key of a word is a hash of its folded letters. The key of a phrase is a polynomial in the keys of its words, so
that the keys of parts give the key of the whole: key(A B) = key(A) * BASE^(words of B) + key(B). That makes
Kim Jong-un, which is two tokens, and KIM JONG UN, which is three, the same.
"""

from __future__ import annotations

import numpy as np

from firststory.arrays import Ints
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.phrases.layout import (
    APOSTROPHE,
    DIGIT,
    DOT,
    HYPHEN,
    INVISIBLE,
    JOIN,
    SPACE,
    Bytes,
    Codes,
    Keys,
)

SEED = np.uint64(14695981039346656037)
PRIME = np.uint64(1099511628211)
COMMA = 44
BASE = np.uint64(0x9E3779B97F4A7C15)


@part_of_kernel
def mix(h: np.uint64) -> np.uint64:
    """The bits of a hash spread over all of it; never 0, which means none."""
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0xFF51AFD7ED558CCD)
    h ^= h >> np.uint64(32)
    return h if h != 0 else np.uint64(1)


@part_of_kernel
def joined(left: np.uint64, right: np.uint64, words: int) -> np.uint64:
    """The key of two phrases one behind the other; `words` are those of the right one."""
    for _ in range(words):
        left *= BASE
    key = left + right
    return key if key != 0 else np.uint64(1)


@part_of_kernel
def two(left: np.uint64, right: np.uint64) -> np.uint64:
    """A key for two keys that belong together, in this order."""
    return mix(left * BASE ^ (right + np.uint64(0x165667B19E3779F9)))


@kernel
def keys_of(codes: Codes, ends: Ints, classes: Bytes, folded: Codes, keys: Keys) -> None:
    """The keys of phrases that lie one behind the other, a character between them; for word lists and questions."""
    begin = 0
    for i in range(ends.shape[0]):
        key, h, letters = np.uint64(0), SEED, 0
        for j in range(begin, ends[i] + 1):
            kind = SPACE if j == ends[i] else classes[codes[j]]
            if kind in (SPACE, HYPHEN):
                if letters > 0:
                    key = joined(key, mix(h), 1)
                h, letters = SEED, 0
            elif kind in (DOT, JOIN, INVISIBLE):
                # Of 1,000.5 only the point is written, of U.S. nothing.
                between = begin < j < ends[i] - 1 and classes[codes[j - 1]] == DIGIT and classes[codes[j + 1]] == DIGIT
                if between and kind != INVISIBLE and codes[j] != COMMA:
                    h = (h ^ np.uint64(codes[j])) * PRIME
            else:
                h = (h ^ np.uint64(39 if kind == APOSTROPHE else folded[codes[j]])) * PRIME
                letters += 1
        keys[i] = key
        begin = ends[i] + 1
