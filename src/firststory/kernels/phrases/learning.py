"""What a document teaches beyond its words: its names, their kinds and how they read, and what comes together."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats, Singles
from firststory.kernels.jit import part_of_kernel
from firststory.kernels.phrases.keys import two
from firststory.kernels.phrases.layout import (
    BODY,
    FIGURE,
    HOLDER_LEAD,
    HOLDERS,
    IN_SENTENCE,
    MAIN_PHRASES,
    MENTIONS,
    NAME,
    NAME_DOCUMENTS,
    NAME_TEXT,
    NUMBER_NOW,
    OF_PHRASE,
    OF_TOGETHER,
    ORGANISATION,
    PERSON,
    PLACE,
    SENTENCE_CASE,
    TEXT_LEAD,
    UNIT_NOW,
    Codes,
    Found,
    Keys,
    Table,
    Texts,
)
from firststory.kernels.phrases.tables import add, add_once, claim, expect

TITLE_CASE_VOTE = 0.3
"""What the spelling of a name outside sentence case counts."""


@part_of_kernel
def learn_names(
    found: Found,
    begin: int,
    end: int,
    codes: Codes,
    shift: int,
    names: Table,
    texts: Texts,
    holders: Keys,
    clock: Floats,
) -> None:
    """Count the names among the rows from begin to end; the document begins at codes[shift]."""
    unit, number = clock[UNIT_NOW], np.uint32(clock[NUMBER_NOW])
    counts = names.counts
    for n in range(begin, end):
        if found[n].form == NAME:
            expect(names, found[n].key)
    for n in range(begin, end):
        if found[n].form != NAME:
            continue
        slot = claim(names, found[n].key)
        counts[slot, MENTIONS] += unit
        is_plain = found[n].style == SENTENCE_CASE
        if is_plain:
            counts[slot, IN_SENTENCE] += unit
        if names.last[slot] != number:
            names.last[slot] = number
            counts[slot, NAME_DOCUMENTS] += unit
        counts[slot, PERSON] += unit * found[n].person
        counts[slot, PLACE] += unit * found[n].place
        counts[slot, ORGANISATION] += unit * found[n].organisation
        vote = unit if is_plain else TITLE_CASE_VOTE * unit
        _vote_text(counts, texts, slot, codes, found[n].start + shift, found[n].end + shift, vote)
        if is_plain and found[n].words > 1 and found[n].last != 0:
            _hold(names, holders, found[n].last, found[n].key, unit)


@part_of_kernel
def _vote_text(counts: Singles, texts: Texts, slot: int, codes: Codes, begin: int, end: int, vote: float) -> None:
    """How the name mostly reads, by a vote that needs room for one candidate (Boyer and Moore's)."""
    lead = counts[slot, TEXT_LEAD]
    size = end - begin
    if size > NAME_TEXT:
        return
    same = lead > 0.0
    for k in range(size if same else 0):
        if texts[slot, k] != codes[begin + k]:
            same = False
            break
    if same and (size == NAME_TEXT or texts[slot, size] == 0):
        counts[slot, TEXT_LEAD] = lead + vote
    elif lead > vote:
        counts[slot, TEXT_LEAD] = lead - vote
    else:
        for k in range(size):
            if codes[begin + k] > 0xFFFF:
                return
        counts[slot, TEXT_LEAD] = vote
        for k in range(NAME_TEXT):
            texts[slot, k] = codes[begin + k] if k < size else 0


@part_of_kernel
def _hold(names: Table, holders: Keys, last: np.uint64, key: np.uint64, unit: float) -> None:
    """Which name mostly ends in this last word, by the same vote."""
    slot = claim(names, last)
    counts = names.counts
    counts[slot, HOLDERS] += unit
    if counts[slot, HOLDER_LEAD] > 0.0 and holders[slot] == key:
        counts[slot, HOLDER_LEAD] += unit
    elif counts[slot, HOLDER_LEAD] > unit:
        counts[slot, HOLDER_LEAD] -= unit
    else:
        holders[slot] = key
        counts[slot, HOLDER_LEAD] = unit


@part_of_kernel
def learn_phrases(found: Found, begin: int, end: int, table: Table, clock: Floats, main: Keys) -> None:
    """Count the phrases of a title and lead, and which of them come together; `main` has room for MAIN_PHRASES keys."""
    unit, number = clock[UNIT_NOW], int(clock[NUMBER_NOW])
    n = 0
    for row in range(begin, end):
        if found[row].zone != BODY and found[row].form != NAME:
            expect(table, found[row].key ^ OF_PHRASE)
    for row in range(begin, end):
        if found[row].zone == BODY:
            continue
        key = found[row].key
        if found[row].form != NAME:
            add_once(table, key ^ OF_PHRASE, unit, number)
        if found[row].form == FIGURE or n == MAIN_PHRASES:
            continue
        is_new = True
        for k in range(n):
            is_new &= main[k] != key
        if is_new:
            main[n] = key
            n += 1
    for a in range(n):
        for b in range(a + 1, n):
            expect(table, together_key(main[a], main[b]))
        for b in range(a + 1, n):
            add(table, together_key(main[a], main[b]), unit)


@part_of_kernel
def together_key(a: np.uint64, b: np.uint64) -> np.uint64:
    """The key of two phrases in one document, in whatever order."""
    return two(min(a, b), max(a, b)) ^ OF_TOGETHER
