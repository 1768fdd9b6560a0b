"""How the capitals of a line are to be read, and what a line teaches: case, pairs, what follows numbers."""

from __future__ import annotations

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.phrases.keys import two
from firststory.kernels.phrases.layout import (
    AFTER_NUMBER,
    ALL_CAPITALS,
    CAPITALS,
    DATE,
    DOCUMENTS,
    FIRST_LOWER,
    FIRST_NAME,
    FIRST_UPPER,
    IN_LOWER,
    IN_UPPER,
    NUMBER,
    OF_PAIR,
    PLACE_NAME,
    SENTENCE_CASE,
    SMALL,
    STOP,
    TITLE_CASE,
    UNIT_NOW,
    Tables,
    Tokens,
)
from firststory.kernels.phrases.tables import add, claim

SHORT_WORD = 5
"""Characters of the words whose neighbours are counted."""
BINS = 48
"""Into which the words left, and those right, of a short word are hashed."""
_FORGET = 0.998


@kernel
def style_of(tokens: Tokens, begin: int, end: int) -> int:
    """By the longer words of a line, the first one apart."""
    n = capitals = capitalised = 0
    for t in range(begin + 1, end):
        shape = tokens[t].shape
        if shape <= CAPITALS and tokens[t].end - tokens[t].start > 3 and tokens[t].marks & STOP == 0:
            n += 1
            capitals += shape == CAPITALS
            capitalised += shape != SMALL
    if n > 1 and capitals > 0.7 * n:
        return ALL_CAPITALS
    return TITLE_CASE if capitalised >= 0.75 * max(n, 2) else SENTENCE_CASE


@kernel
def learn_line(tokens: Tokens, begin: int, end: int, style: int, lead: int, tables: Tables) -> None:
    """Only sentence case, and not the first word of a sentence, teaches case.

    Pairs and neighbours are learnt from titles and leads, up to character `lead`: only those are cut into phrases for
    people, and in long texts this saves most of the work.
    """
    unit, counts, clock = tables.clock[UNIT_NOW], tables.words.counts, tables.clock
    before = -1
    for t in range(begin, end):
        shape = tokens[t].shape
        if shape > CAPITALS:
            if shape == NUMBER and t + 1 < end and tokens[t + 1].glued and tokens[t + 1].shape == SMALL:
                counts[tokens[t + 1].slot, AFTER_NUMBER] += unit
            before = -1
            continue
        slot = tokens[t].slot
        if style == SENTENCE_CASE and not tokens[t].opens:
            is_upper = shape != SMALL
            if counts[slot, IN_LOWER] + counts[slot, IN_UPPER] == 0.0:
                clock[FIRST_LOWER] = _FORGET * clock[FIRST_LOWER] + (not is_upper)
                clock[FIRST_UPPER] = _FORGET * clock[FIRST_UPPER] + is_upper
            counts[slot, IN_UPPER if is_upper else IN_LOWER] += unit
        if before >= 0 and tokens[t].start < lead:
            if tokens[t].glued and tokens[t].marks & STOP == 0 and tokens[before].marks & STOP == 0:
                add(tables.counts, pair_key(tokens[before].key, tokens[t].key), unit)
            _meet(tables, tokens, before, t, unit)
        before = t


@kernel
def pair_key(left: np.uint64, right: np.uint64) -> np.uint64:
    """The key of two words one behind the other."""
    return two(left, right) ^ OF_PAIR


@kernel
def _meet(tables: Tables, tokens: Tokens, left: int, right: int, unit: float) -> None:
    """Count two words as neighbours of each other, where they are short."""
    table = tables.neighbours
    if tokens[left].end - tokens[left].start <= SHORT_WORD:
        slot = claim(table, tokens[left].key)
        table.counts[slot, 0] += unit
        table.counts[slot, 1 + BINS + np.int64((tokens[right].key >> np.uint64(20)) % np.uint64(BINS))] += unit
    if tokens[right].end - tokens[right].start <= SHORT_WORD:
        slot = claim(table, tokens[right].key)
        table.counts[slot, 1 + np.int64((tokens[left].key >> np.uint64(20)) % np.uint64(BINS))] += unit


@kernel
def is_name_word(tables: Tables, slot: int, marks: int) -> bool:
    """Whether a capitalised word is a name where capitals say nothing: by its case elsewhere, and a prior.

    The prior of a word never seen is the share of capitals among the words that were first seen lately; that of a known
    first name or place is one.
    """
    if marks & (STOP | DATE) != 0:
        return False
    clock = tables.clock
    unit = clock[UNIT_NOW]
    prior = clock[FIRST_UPPER] / (clock[FIRST_UPPER] + clock[FIRST_LOWER])
    if marks & (FIRST_NAME | PLACE_NAME) != 0:
        prior = 1.0
    upper = lower = 0.0
    if slot >= 0:
        upper, lower = tables.words.counts[slot, IN_UPPER] / unit, tables.words.counts[slot, IN_LOWER] / unit
    return upper + 2.0 * prior >= 0.5 * (upper + lower + 2.0)


@kernel
def case_count(tables: Tables, slot: int, column: int) -> float:
    """How often a word was seen in lower (or upper) case."""
    return 0.0 if slot < 0 else tables.words.counts[slot, column] / tables.clock[UNIT_NOW]


@kernel
def follows_numbers(tables: Tables, slot: int) -> bool:
    """Whether a word stands behind a number in a tenth of its documents."""
    if slot < 0:
        return False
    counts, unit = tables.words.counts, tables.clock[UNIT_NOW]
    return bool(counts[slot, AFTER_NUMBER] > max(1.5 * unit, 0.1 * counts[slot, DOCUMENTS]))
