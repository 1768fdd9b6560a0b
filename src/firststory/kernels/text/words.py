"""Where the words of short texts stand: cut at white space, without what stands around them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Ints, Slots
from firststory.kernels.jit import kernel, part_of_kernel

Codes = NDArray[np.uint32]
Bytes = NDArray[np.uint8]

SPACE, AROUND = 1, 2
"""Classes of characters; all others, and all beyond the table, are parts of words."""
HTTP, WWW, THREE, FOUR = np.uint64(0x68747470), np.uint64(0x777777), np.uint64(0xFFFFFF), np.uint64(0xFFFFFFFF)
"""Letters as one number, and the last three and four of a number."""
AT, COLON, SLASH, LETTER_S, QUOTE, CURLY, BLANK = 64, 58, 47, 115, 39, 0x2019, 32


@part_of_kernel
def class_of(code: int, classes: Bytes) -> int:
    return int(classes[code]) if code < len(classes) else 0


@part_of_kernel
def is_address(codes: Codes, begin: int, end: int) -> bool:
    """Whether it has :// in it."""
    for j in range(begin, end - 2):  # noqa: SIM110 (plain loops are what numba compiles best)
        if codes[j] == COLON and codes[j + 1] == SLASH and codes[j + 2] == SLASH:
            return True
    return False


@part_of_kernel
def bare_word(codes: Codes, begin: int, end: int, classes: Bytes) -> tuple[int, int]:
    """The word without marks around it and without the s of a possessive; empty where nothing is left."""
    while True:
        a, b = begin, end
        while a < b and class_of(codes[a], classes) == AROUND:
            a += 1
        while a < b and class_of(codes[b - 1], classes) == AROUND:
            b -= 1
        for quote in (QUOTE, CURLY):
            if b - a >= 2 and codes[b - 1] == LETTER_S and codes[b - 2] == quote:
                b -= 2
        if a == begin and b == end:
            return a, b
        begin, end = a, b


@kernel
def cut_words(
    codes: Codes, ends: Ints, classes: Bytes, most: int, longest: int, starts: Slots, stops: Slots, bounds: Ints
) -> int:
    """The words of texts that lie one behind the other, `ends` one past the last character of each.

    The words of text i are bounds[i] .. bounds[i + 1]; a text of more than `most` words has none. Addresses, @names and
    words of more than `longest` characters are passed over. `starts` and `stops` have room for `most` words a text.
    """
    n = 0
    begin = 0
    for i in range(len(ends)):
        first, seen, j = n, 0, begin
        while j < ends[i]:
            if class_of(codes[j], classes) == SPACE:
                j += 1
                continue
            a = j
            while j < ends[i] and class_of(codes[j], classes) != SPACE:
                j += 1
            seen += 1
            if seen > most:
                n = first
                break
            if codes[a] == AT or j - a > longest or is_address(codes, a, j):
                continue
            b, e = bare_word(codes, a, j, classes)
            if b < e and codes[b] != AT:
                starts[n], stops[n] = b, e
                n += 1
        bounds[i + 1] = n
        begin = ends[i] + 1  # a line break between texts
    return n


@kernel
def spaced_words(codes: NDArray[np.uint16], letters: Bytes, out: Bytes) -> int:
    """`single_spaced` of the letters that the characters are written as, in `out`, which has room for as many and one.

    Returns how many they are; -1 where a character has none, or where a link may stand: behind http or www.
    """
    n, before, last = 0, np.uint8(BLANK), np.uint64(0)
    for code in codes:
        letter = letters[code] if code < len(letters) else np.uint8(0)
        last = (last << np.uint64(8)) | np.uint64(letter)
        if letter == 0 or last & FOUR == HTTP or last & THREE == WWW:
            return -1
        out[n] = letter  # stays only if n moves on: no branch to guess
        n += (letter != BLANK) | (before != BLANK)
        before = letter
    return n - 1 if n > 0 and before == BLANK else n


@kernel
def single_spaced(letters: Bytes) -> Bytes:
    """The bytes with every run of spaces as one, and none at either end."""
    out, n, before = np.empty(len(letters) + 1, np.uint8), 0, np.uint8(BLANK)
    for letter in letters:
        out[n] = letter  # stays only if n moves on: no branch to guess
        n += (letter != BLANK) | (before != BLANK)
        before = letter
    return out[: n - 1] if n > 0 and before == BLANK else out[:n]
