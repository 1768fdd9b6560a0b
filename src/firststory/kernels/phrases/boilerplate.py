"""What belongs to a source and not to the news: 4-grams of tokens that many of its documents have, and others not."""

from __future__ import annotations

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.phrases.keys import BASE, mix, two
from firststory.kernels.phrases.layout import (
    BITS_NOW,
    CAPITALS,
    DOCUMENTS,
    HEAD_END,
    LATELY,
    N_DOCUMENTS,
    NOW,
    NUMBER_NOW,
    OF_SOURCE,
    STOP,
    UNIT_NOW,
    WATCHED,
    Bytes,
    Tables,
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
    tokens: Tokens, begin: int, end: int, number: int, source: np.uint64, tables: Tables, learn: bool
) -> None:
    """Set `dull` for the tokens of a line; `number` is that of the line, `source` a key."""
    unit = tables.clock[UNIT_NOW]
    items = count_of(tables.counts, source ^ OF_SOURCE) / unit
    others = max(tables.clock[N_DOCUMENTS] - items, 1.0)
    need = max(LEAST, SHARE * items) if items >= WARM_UP else np.inf
    for t in range(begin, end - GRAM + 1):
        gram = tokens[t].key
        for k in range(1, GRAM):
            gram = gram * BASE + tokens[t + k].key
        gram = mix(gram)
        count = _counted(tables, gram, source, learn, unit)
        if count > need:
            rest = (count_of(tables.grams, gram) / unit - count) / others
            if count / items > OTHERS * rest and _has_word(tokens, t):
                for k in range(GRAM):
                    tokens[t + k].dull = True
    if number == 0:
        _mark_head(tokens, begin, end, source, items, others, tables, learn)
    elif number == 1:
        for t in range(min(end, begin + DATELINE) - 1, begin - 1, -1):
            if tokens[t].dull:
                for k in range(begin, t):
                    tokens[k].dull = True
                break


@kernel
def _counted(tables: Tables, gram: np.uint64, source: np.uint64, learn: bool, unit: float) -> float:
    """In how many earlier documents of the source it was; counted where that is to be learnt.

    Nearly all 4-grams are never seen again, so that most are not counted: the first time one bit is set, and only what
    a source has a second time, while that bit is remembered, comes into the table.
    """
    own, seen = two(source, gram), tables.seen
    is_watched = _has_bit(seen[WATCHED], own)
    if not learn:
        return count_of(tables.grams, own) / unit if is_watched else 0.0
    number = np.int64(tables.clock[NUMBER_NOW])
    if not is_watched:
        if _has_bit(seen[WATCHED], gram):  # of another source
            slot = find(tables.grams, gram)
            if slot >= 0:
                add_once(tables.grams, gram, unit, number)
        is_known = _has_bit(seen[LATELY], own)
        if _has_bit(seen[NOW], own):
            is_known = True
        else:
            _set_bit(seen[NOW], own)
            tables.clock[BITS_NOW] += 1.0
        if not is_known:
            return 0.0
        _set_bit(seen[WATCHED], own)
        _set_bit(seen[WATCHED], gram)
        add_once(tables.grams, gram, unit, number)
        return add_once(tables.grams, own, unit, number) / unit
    add_once(tables.grams, gram, unit, number)
    return add_once(tables.grams, own, unit, number) / unit


@kernel
def forget_bits(tables: Tables) -> None:
    """Once a third of the bits is set: those before are forgotten, and only what is in the table stays watched."""
    seen, clock = tables.seen, tables.clock
    if 3.0 * clock[BITS_NOW] < 8.0 * seen.shape[1]:
        return
    clock[BITS_NOW] = 0.0
    seen[LATELY] = seen[NOW]
    seen[NOW] = 0
    seen[WATCHED] = 0
    for key in tables.grams.keys:
        if key != 0:
            _set_bit(seen[WATCHED], key)


@kernel
def _has_bit(bits: Bytes, key: np.uint64) -> bool:
    place = (key >> np.uint64(24)) & np.uint64(8 * bits.shape[0] - 1)
    return bool((bits[place >> np.uint64(3)] >> (place & np.uint64(7))) & np.uint64(1))


@kernel
def _set_bit(bits: Bytes, key: np.uint64) -> None:
    place = (key >> np.uint64(24)) & np.uint64(8 * bits.shape[0] - 1)
    bits[place >> np.uint64(3)] |= np.uint8(np.uint64(1) << (place & np.uint64(7)))


@kernel
def _has_word(tokens: Tokens, t: int) -> bool:
    for k in range(GRAM):  # noqa: SIM110 (plain loops are what numba compiles best)
        if tokens[t + k].shape <= CAPITALS:
            return True
    return False


@kernel
def _mark_head(
    tokens: Tokens, begin: int, end: int, source: np.uint64, items: float, others: float, tables: Tables, learn: bool
) -> None:
    """The mark of a format before a colon or bar, where a source often has it and its words hardly occur otherwise."""
    stop = -1
    for t in range(begin + 1, min(begin + GRAM + 1, end)):
        if tokens[t].marks & HEAD_END != 0 and tokens[t].shape > CAPITALS:
            stop = t
            break
    if stop < 0:
        return
    unit = tables.clock[UNIT_NOW]
    head = np.uint64(94)
    for t in range(begin, stop + 1):
        head = head * BASE + tokens[t].key
    head = mix(head)
    count = _counted(tables, head, source, learn, unit)
    if items < WARM_UP or count <= max(MARK_LEAST, MARK_SHARE * items):
        return
    if count / items <= OTHERS * (count_of(tables.grams, head) / unit - count) / others:
        return
    for t in range(begin, stop):
        slot = tokens[t].slot
        seen = 0.0 if slot < 0 else tables.words.counts[slot, DOCUMENTS] / unit
        if tokens[t].marks & STOP == 0 and seen > 2.0 * count:
            return
    for t in range(begin, stop + 1):
        tokens[t].dull = True
