"""How the capitals of a line are to be read, and what a line teaches: case, pairs, what follows numbers."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats, Singles
from firststory.kernels.jit import part_of_kernel
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
    NUMBER_NOW,
    OF_PAIR,
    PLACE_NAME,
    SENTENCE_CASE,
    SMALL,
    STOP,
    TITLE_CASE,
    UNIT_NOW,
    Keys,
    Marks,
    Table,
    Tokens,
)
from firststory.kernels.phrases.tables import add, claim, expect, find, marks_of

SHORT_WORD = 5
"""Characters of the words whose neighbours are counted."""
BINS = 48
"""Into which the words left, and those right, of a short word are hashed."""
_FORGET = 0.998
AHEAD = 8
"""How many tokens before its turn a word is asked for in the tables."""


@part_of_kernel
def look_up(
    tokens: Tokens,
    n: int,
    list_keys: Keys,
    list_marks: Marks,
    table: Table,
    word_marks: Marks,
    clock: Floats,
    learn: bool,
) -> None:
    """Give the n tokens of a document their slots and marks; with `learn` each word is counted once."""
    number, unit = np.uint32(clock[NUMBER_NOW]), clock[UNIT_NOW]
    counts, last = table.counts, table.last
    for t in range(min(AHEAD, n)):
        expect(table, tokens[t].key)
    for t in range(n):
        if t + AHEAD < n:
            expect(table, tokens[t + AHEAD].key)
        tokens[t].slot = -1
        if tokens[t].shape > CAPITALS:
            continue
        key = tokens[t].key
        slot = claim(table, key) if learn else find(table, key)
        if slot < 0:
            tokens[t].marks = marks_of(list_keys, list_marks, key)
            continue
        tokens[t].slot = slot
        if learn and last[slot] != number:
            last[slot] = number
            if counts[slot, DOCUMENTS] == 0.0:
                word_marks[slot] = marks_of(list_keys, list_marks, key)
            counts[slot, DOCUMENTS] += unit
        tokens[t].marks = word_marks[slot]


@part_of_kernel
def ask_case(tokens: Tokens, n: int, counts: Singles, unit: float) -> None:
    """Give the n tokens of a document what is known of their case, and whether they follow numbers.

    A word follows numbers if it stands behind one in a tenth of its documents.
    """
    for t in range(n):
        slot = tokens[t].slot
        if slot < 0:
            tokens[t].lower = tokens[t].upper = 0.0
            tokens[t].counted = False
            continue
        tokens[t].lower, tokens[t].upper = counts[slot, IN_LOWER] / unit, counts[slot, IN_UPPER] / unit
        tokens[t].counted = counts[slot, AFTER_NUMBER] > max(1.5 * unit, 0.1 * counts[slot, DOCUMENTS])


@part_of_kernel
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


@part_of_kernel
def learn_line(
    tokens: Tokens,
    begin: int,
    end: int,
    style: int,
    lead: int,
    counts: Singles,
    clock: Floats,
    pairs: Table,
    neighbours: Table,
) -> None:
    """Only sentence case, and not the first word of a sentence, teaches case.

    Pairs and neighbours are learnt from titles and leads, up to character `lead`: only those are cut into phrases for
    people, and in long texts this saves most of the work.
    """
    unit = clock[UNIT_NOW]
    before = -1
    for t in range(begin + 1, end):
        if tokens[t].start >= lead:
            break
        if tokens[t].glued and tokens[t].marks & STOP == 0 and tokens[t - 1].marks & STOP == 0:
            expect(pairs, pair_key(tokens[t - 1].key, tokens[t].key))
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
                add(pairs, pair_key(tokens[before].key, tokens[t].key), unit)
            _meet(neighbours, tokens, before, t, unit)
        before = t


@part_of_kernel
def pair_key(left: np.uint64, right: np.uint64) -> np.uint64:
    """The key of two words one behind the other."""
    return two(left, right) ^ OF_PAIR


@part_of_kernel
def _meet(table: Table, tokens: Tokens, left: int, right: int, unit: float) -> None:
    """Count two words as neighbours of each other, where they are short."""
    if tokens[left].end - tokens[left].start <= SHORT_WORD:
        slot = claim(table, tokens[left].key)
        table.counts[slot, 0] += unit
        table.counts[slot, 1 + BINS + np.int64((tokens[right].key >> np.uint64(20)) % np.uint64(BINS))] += unit
    if tokens[right].end - tokens[right].start <= SHORT_WORD:
        slot = claim(table, tokens[right].key)
        table.counts[slot, 1 + np.int64((tokens[left].key >> np.uint64(20)) % np.uint64(BINS))] += unit


@part_of_kernel
def is_name_word(tokens: Tokens, t: int, prior: float) -> bool:
    """Whether a capitalised word is a name where capitals say nothing: by its case elsewhere, and a prior.

    The prior of a word never seen is the share of capitals among the words that were first seen lately; that of a known
    first name or place is one.
    """
    marks = tokens[t].marks
    if marks & (STOP | DATE) != 0:
        return False
    if marks & (FIRST_NAME | PLACE_NAME) != 0:
        prior = 1.0
    upper, lower = tokens[t].upper, tokens[t].lower
    return bool(upper + 2.0 * prior >= 0.5 * (upper + lower + 2.0))
