"""What belongs to a source and not to the news: 4-grams of tokens that many of its documents have, and others not."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats, Singles
from firststory.kernels.jit import part_of_kernel
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
FIRST_TOKENS, LAST_TOKENS = 60, 100
"""Of a document, where boilerplate is looked for: it stands where texts begin and end."""
DATELINE = 10
"""Tokens from the beginning of a body within which boilerplate takes with it what stands before."""


@part_of_kernel
def mark_boilerplate(
    tokens: Tokens, n_tokens: int, begin: int, end: int, number: int, source: np.uint64, items: float, clock: Floats,
    grams: Table, words: Singles, seen: Keys, learn: bool,
) -> None:  # fmt: skip
    """Set `dull` for the tokens of a line; `number` is that of the line, `items` how many documents the source had."""
    unit = clock[UNIT_NOW]
    others = max(clock[N_DOCUMENTS] - items, 1.0)
    need = max(LEAST, SHARE * items) if items >= WARM_UP else np.inf
    new_bits = 0
    for t in range(begin, end - GRAM + 1):
        if FIRST_TOKENS <= t < n_tokens - LAST_TOKENS:
            continue
        gram = ((tokens[t].key * BASE + tokens[t + 1].key) * BASE + tokens[t + 2].key) * BASE + tokens[t + 3].key
        gram = mix(gram)
        own = own_key(gram, source)
        row = row_of(seen, gram)
        bit, watched = bit_of(own), seen[row, WATCHED]
        if watched & bit == 0 and not learn:
            continue
        if (watched | seen[row, NOW] | seen[row, LATELY]) & bit == 0 and watched & bit_of(gram) == 0:
            seen[row, NOW] |= bit  # as below, without the call: most 4-grams end here
            new_bits += 1
            continue
        if not _is_watched(own, gram, row, clock, grams, seen, learn):
            continue
        count = _counted(own, gram, clock, grams, learn)
        if count > need:
            rest = (count_of(grams, gram) / unit - count) / others
            if count / items > OTHERS * rest and _has_word(tokens, t):
                for k in range(GRAM):
                    tokens[t + k].dull = True
    clock[BITS_NOW] += new_bits
    if number == 0:
        _mark_head(tokens, begin, end, source, items, others, clock, grams, words, seen, learn)
    elif number == 1:
        for t in range(min(end, begin + DATELINE) - 1, begin - 1, -1):
            if tokens[t].dull:
                for k in range(begin, t):
                    tokens[k].dull = True
                break


@part_of_kernel
def own_key(gram: np.uint64, source: np.uint64) -> np.uint64:
    """The key of a 4-gram in a source, next to that of the 4-gram itself."""
    key = gram ^ source
    return key if key != 0 else np.uint64(1)


@part_of_kernel
def row_of(seen: Keys, gram: np.uint64) -> int:
    """The row that has the bits of a 4-gram, of all sources: they lie in one line of the processor's cache."""
    return int(np.int64((gram >> np.uint64(24)) & np.uint64(seen.shape[0] - 1)))


@part_of_kernel
def bit_of(key: np.uint64) -> np.uint64:
    return np.uint64(1) << (key & np.uint64(63))


@part_of_kernel
def _is_watched(
    own: np.uint64, gram: np.uint64, row: int, clock: Floats, grams: Table, seen: Keys, learn: bool
) -> bool:
    """Whether a 4-gram of a source is counted at all.

    Nearly all are never seen again: the first time one bit is set, and only what a source has a second time, while
    that bit is remembered, comes into the table.
    """
    bit = bit_of(own)
    is_watched = bool(seen[row, WATCHED] & bit != 0)
    if not learn or (is_watched and seen[row, NOW] & bit != 0):
        return is_watched
    unit, number = clock[UNIT_NOW], int(clock[NUMBER_NOW])
    if not is_watched and seen[row, WATCHED] & bit_of(gram) != 0 and find(grams, gram) >= 0:  # of another source
        add_once(grams, gram, unit, number)
    is_watched = is_watched or bool((seen[row, NOW] | seen[row, LATELY]) & bit != 0)
    if is_watched:
        seen[row, WATCHED] |= bit | bit_of(gram)
    if seen[row, NOW] & bit == 0:
        seen[row, NOW] |= bit
        clock[BITS_NOW] += 1.0
    return is_watched


@part_of_kernel
def _counted(own: np.uint64, gram: np.uint64, clock: Floats, grams: Table, learn: bool) -> float:
    """In how many earlier documents of the source a watched 4-gram was; counted where that is to be learnt."""
    unit, number = float(clock[UNIT_NOW]), int(clock[NUMBER_NOW])
    if not learn:
        return count_of(grams, own) / unit
    add_once(grams, gram, unit, number)
    return add_once(grams, own, unit, number) / unit


@part_of_kernel
def forget_bits(clock: Floats, seen: Keys) -> None:
    """Once a third of the bits is set, those before are forgotten."""
    if 3.0 * clock[BITS_NOW] < 64.0 * seen.shape[0]:
        return
    clock[BITS_NOW] = 0.0
    for row in range(seen.shape[0]):
        seen[row, LATELY] = seen[row, NOW]
        seen[row, NOW] = seen[row, WATCHED] = 0


@part_of_kernel
def _has_word(tokens: Tokens, t: int) -> bool:
    for k in range(GRAM):  # noqa: SIM110 (plain loops are what numba compiles best)
        if tokens[t + k].shape <= CAPITALS:
            return True
    return False


@part_of_kernel
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
    if not _is_watched(own, head, row, clock, grams, seen, learn):
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
