"""Words into pieces, by byte-pair encoding: the pair that makes the most frequent piece is joined first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Ints, Slots
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.text.meaning import UNKNOWN

NO_PAIR = 1 << 31


@part_of_kernel
def joined(first: Slots, others: Slots, made: Slots, one: int, other: int) -> int:
    """The piece that two pieces make; `NO_PAIR` where they make none.

    What follows piece p, in order, is others[first[p] : first[p + 1]].
    """
    if one < 0:
        return NO_PAIR
    low, high = np.int64(first[one]), np.int64(first[one + 1])
    end = high
    while low < high:
        middle = (low + high) >> 1
        if others[middle] < other:
            low = middle + 1
        else:
            high = middle
    return int(made[low]) if low < end and others[low] == other else NO_PAIR


@kernel
def split_words(
    codes: NDArray[np.uint32],
    starts: Ints,
    lengths: Ints,
    whole: Ints,
    begin: int,
    letters: Ints,
    first: Slots,
    others: Slots,
    made: Slots,
    parts: NDArray[np.int32],
    ends: Ints,
) -> None:
    """The pieces of word i go to parts[ends[i - 1] : ends[i]]: `UNKNOWN` alone where a letter has no piece.

    `whole` is the piece that a word is as a whole, or -1; `begin` stands before the first letter of the others;
    `letters` has the piece of each code point, or -1.
    """
    longest = lengths.max() + 1
    pieces, ranks, used = np.empty(longest, np.int64), np.empty(longest, np.int64), 0
    for i in range(len(starts)):
        pieces[0], n, is_known = begin, 1, True
        for code in codes[starts[i] : starts[i] + lengths[i]]:
            pieces[n] = letters[code] if code < len(letters) else -1
            is_known = is_known and pieces[n] >= 0
            n += 1
        if whole[i] >= 0 or not is_known:
            pieces[0], n = whole[i] if whole[i] >= 0 else UNKNOWN, 1
        for a in range(n - 1):
            ranks[a] = joined(first, others, made, pieces[a], pieces[a + 1])
        while n > 1:
            at = np.argmin(ranks[: n - 1])
            if ranks[at] == NO_PAIR:
                break
            pieces[at] = ranks[at]
            n -= 1
            for a in range(at + 1, n):
                pieces[a], ranks[a - 1] = pieces[a + 1], ranks[a]
            if at < n - 1:
                ranks[at] = joined(first, others, made, pieces[at], pieces[at + 1])
            if at > 0:
                ranks[at - 1] = joined(first, others, made, pieces[at - 1], pieces[at])
        parts[used : used + n] = pieces[:n]
        used += n
        ends[i] = used
