"""Phrases of common words: runs of words that are neither names nor stop words, of three words at most."""

from __future__ import annotations

import numpy as np

from firststory.kernels.jit import part_of_kernel
from firststory.kernels.phrases.layout import (
    CAPITALS,
    DATE,
    PERSON_TITLE,
    STOP,
    WORDS,
    Found,
    Table,
    Tokens,
)
from firststory.kernels.phrases.lines import pair_key
from firststory.kernels.phrases.names import run_key
from firststory.kernels.phrases.tables import count_of

MOST_WORDS = 3
SHORTEST = 3
"""Characters."""


@part_of_kernel
def read_words(
    tokens: Tokens, begin: int, end: int, style: int, pairs: Table, unit: float, found: Found, n: int
) -> int:
    """Put the runs of common words of a line behind the n phrases found so far; returns how many there are now."""
    t = begin
    while t < end:
        if not _is_content(tokens, t, end):
            t += 1
            continue
        stop = t + 1
        while stop < end and tokens[stop].glued and _is_content(tokens, stop, end):
            stop += 1
        while t < stop:
            cut = stop if stop - t <= MOST_WORDS else t + _least_usual(tokens, t, stop, pairs, unit)
            found[n].start, found[n].end = t, cut
            found[n].key = run_key(tokens, t, cut)
            found[n].form, found[n].style, found[n].words = WORDS, style, cut - t
            found[n].last = np.uint64(0)
            found[n].person = found[n].place = found[n].organisation = 0.0
            n += 1
            t = cut
    return n


@part_of_kernel
def _is_content(tokens: Tokens, t: int, end: int) -> bool:
    if tokens[t].shape > CAPITALS or tokens[t].dull or tokens[t].taken or tokens[t].marks & (STOP | DATE) != 0:
        return False
    is_title = tokens[t].marks & PERSON_TITLE != 0 and t + 1 < end and tokens[t + 1].glued and tokens[t + 1].taken
    return bool(tokens[t].end - tokens[t].start >= SHORTEST and not is_title)


@part_of_kernel
def _least_usual(tokens: Tokens, t: int, stop: int, pairs: Table, unit: float) -> int:
    """After how many words to cut: at the pair seen least often, among equals so that whole threes are left."""
    best, best_count, best_rest = 1, np.inf, 0
    for c in range(1, MOST_WORDS + 1):
        pair = pair_key(tokens[t + c - 1].key, tokens[t + c].key)
        count, rest = count_of(pairs, pair) / unit // 2.0, abs(stop - t - c - MOST_WORDS)
        if count < best_count or (count == best_count and rest < best_rest):
            best, best_count, best_rest = c, count, rest
    return best
