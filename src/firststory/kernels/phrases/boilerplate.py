"""What belongs to a source and not to the news: 4-grams of tokens that many of its documents have, and others not."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats, Singles
from firststory.kernels.jit import kernel
from firststory.kernels.phrases.keys import BASE, mix
from firststory.kernels.phrases.layout import (
    BITS_NOW,
    CAPITALS,
    DOCUMENTS,
    HEAD_END,
    LATELY,
    N_DOCUMENTS,
    NOW,
    NUMBER_NOW,
    STOP,
    UNIT_NOW,
    WATCHED,
    Keys,
    Table,
    Tokens,
)
from firststory.kernels.phrases.tables import add_once, count_of, find

GRAM = 4
WARM_UP = 15.0
"""Documents of a source before anything of it is boilerplate."""
SHARE, LEAST = 1.0 / 7.0, 5.0
"""A 4-gram is boilerplate in more than this share of a source's documents, and in more than this many."""
MARK_SHARE, MARK_LEAST = 1.0 / 50.0, 8.0
"""The same for what stands before a colon (VIDEO:)."""
OTHERS = 3.0
"""Times as frequent as in other sources, at least."""
DATELINE = 10
"""Tokens from the beginning of a body within which boilerplate takes with it what stands before."""


@kernel
def mark_boilerplate(
    tokens: Tokens, begin: int, end: int, number: int, source: np.uint64, items: float, clock: Floats, grams: Table,
    words: Singles, seen: Keys, learn: bool,
) -> None:  # fmt: skip
    """Set `dull` for the tokens of a line; `number` is that of the line, `items` how many documents the source had."""
    unit = clock[UNIT_NOW]
    others = max(clock[N_DOCUMENTS] - items, 1.0)
    need = max(LEAST, SHARE * items) if items >= WARM_UP else np.inf
    for t in range(begin, end - GRAM + 1):
        gram = ((tokens[t].key * BASE + tokens[t + 1].key) * BASE + tokens[t + 2].key) * BASE + tokens[t + 3].key
        gram = mix(gram)
        own = own_key(gram, source)
        row = row_of(seen, gram)
        if seen[row, WATCHED] & bit_of(own) == 0:
            if learn:
                _meet(own, gram, row, clock, grams, seen)
            continue
        count = _counted(own, gram, clock, grams, learn)
        if count > need:
            rest = (count_of(grams, gram) / unit - count) / others
            if count / items > OTHERS * rest and _has_word(tokens, t):
                for k in range(GRAM):
                    tokens[t + k].dull = True
    if number == 0:
        _mark_head(tokens, begin, end, source, items, others, clock, grams, words, seen, learn)
    elif number == 1:
        for t in range(min(end, begin + DATELINE) - 1, begin - 1, -1):
            if tokens[t].dull:
                for k in range(begin, t):
                    tokens[k].dull = True
                break


@kernel
def own_key(gram: np.uint64, source: np.uint64) -> np.uint64:
    """The key of a 4-gram in a source, next to that of the 4-gram itself."""
    key = gram ^ source
    return key if key != 0 else np.uint64(1)


@kernel
def row_of(seen: Keys, gram: np.uint64) -> int:
    """The row that has the bits of a 4-gram, of all sources: they lie in one line of the processor's cache."""
    return np.int64((gram >> np.uint64(24)) & np.uint64(seen.shape[0] - 1))


@kernel
def bit_of(key: np.uint64) -> np.uint64:
    return np.uint64(1) << (key & np.uint64(63))


@kernel
def _meet(own: np.uint64, gram: np.uint64, row: int, clock: Floats, grams: Table, seen: Keys) -> None:
    """A 4-gram that is not in the table for this source.

    Nearly all are never seen again, and are not counted: the first time one bit is set, and only what a source has a
    second time, while that bit is remembered, comes into the table.
    """
    unit, number, bit = clock[UNIT_NOW], np.int64(clock[NUMBER_NOW]), bit_of(own)
    if seen[row, WATCHED] & bit_of(gram) != 0 and find(grams, gram) >= 0:  # of another source
        add_once(grams, gram, unit, number)
    if (seen[row, NOW] | seen[row, LATELY]) & bit != 0:
        seen[row, WATCHED] |= bit | bit_of(gram)
        add_once(grams, gram, unit, number)
        add_once(grams, own, unit, number)
    else:
        seen[row, NOW] |= bit
        clock[BITS_NOW] += 1.0


@kernel
def _counted(own: np.uint64, gram: np.uint64, clock: Floats, grams: Table, learn: bool) -> float:
    """In how many earlier documents of the source a watched 4-gram was; counted where that is to be learnt."""
    unit, number = clock[UNIT_NOW], np.int64(clock[NUMBER_NOW])
    if not learn:
        return count_of(grams, own) / unit
    add_once(grams, gram, unit, number)
    return add_once(grams, own, unit, number) / unit


@kernel
def forget_bits(clock: Floats, seen: Keys) -> None:
    """Once a third of the bits is set: those before are forgotten, and those watched must be seen twice again."""
    if 3.0 * clock[BITS_NOW] < 64.0 * seen.shape[0]:
        return
    clock[BITS_NOW] = 0.0
    for row in range(seen.shape[0]):
        seen[row, LATELY] = seen[row, NOW]
        seen[row, NOW] = 0


@kernel
def _has_word(tokens: Tokens, t: int) -> bool:
    for k in range(GRAM):  # noqa: SIM110 (plain loops are what numba compiles best)
        if tokens[t + k].shape <= CAPITALS:
            return True
    return False


@kernel
def _mark_head(
    tokens: Tokens, begin: int, end: int, source: np.uint64, items: float, others: float, clock: Floats, grams: Table,
    words: Singles, seen: Keys, learn: bool,
) -> None:  # fmt: skip
    """The mark of a format before a colon or bar, where a source often has it and its words hardly occur otherwise."""
    stop = -1
    for t in range(begin + 1, min(begin + GRAM + 1, end)):
        if tokens[t].marks & HEAD_END != 0 and tokens[t].shape > CAPITALS:
            stop = t
            break
    if stop < 0:
        return
    unit = clock[UNIT_NOW]
    head = np.uint64(94)
    for t in range(begin, stop + 1):
        head = head * BASE + tokens[t].key
    head = mix(head)
    own = own_key(head, source)
    row = row_of(seen, head)
    if seen[row, WATCHED] & bit_of(own) == 0:
        if learn:
            _meet(own, head, row, clock, grams, seen)
        return
    count = _counted(own, head, clock, grams, learn)
    if items < WARM_UP or count <= max(MARK_LEAST, MARK_SHARE * items):
        return
    if count / items <= OTHERS * (count_of(grams, head) / unit - count) / others:
        return
    for t in range(begin, stop):
        slot = tokens[t].slot
        documents = 0.0 if slot < 0 else words[slot, DOCUMENTS] / unit
        if tokens[t].marks & STOP == 0 and documents > 2.0 * count:
            return
    for t in range(begin, stop + 1):
        tokens[t].dull = True
