"""Find the words of a text and number its surface forms: one pass each over the code points of a chunk.

A chunk is an array of code points in which documents are separated by a line feed; `classes` gives every code point
its class (see `firststory.text.characters`). Tokens come out as spans of the chunk, so they slice the original text.
"""

from __future__ import annotations

import numpy as np

from firststory.arrays import Array
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.prefetch import prefetch

# Classes of code points. LETTER and DIGIT are neighbours, for a quick test of both.
SEPARATOR, LETTER, DIGIT, MARK, IGNORABLE, APOSTROPHE, NUMBER_JOIN, HYPHEN, HASH, AT, UNSPACED, AMPERSAND = range(12)

# Kinds of tokens.
WORD, HASHTAG, MENTION, HOST, RUN = range(5)

BLOCK = 32
"""Tokens whose rows of the table are asked for together: it is larger than a processor's cache."""
LARGEST_HEADER = np.uint64(0xFFFFFFFF)
"""Of a form that is known by its characters."""

_DOT, _SLASH, _COLON, _SEMICOLON, _UNDERSCORE, _LINE_FEED = 46, 47, 58, 59, 95, 10


@part_of_kernel
def word_end(codes: Array, classes: Array, start: int, n: int) -> int:
    """One past the last character of the word at `start`, or of the number, date or acronym."""
    i = start + 1
    while i < n and LETTER <= classes[codes[i]] <= DIGIT:  # most words end here
        i += 1
    if i == n or classes[codes[i]] == SEPARATOR:
        return i
    end = i
    previous = classes[codes[i - 1]]
    run = i - start  # letters and digits since the last joining punctuation
    while i < n:
        kind = classes[codes[i]]
        if kind in (LETTER, DIGIT):
            run += 1
            previous = kind
            i += 1
            end = i
        elif kind == MARK:
            i += 1
            end = i
        elif kind == IGNORABLE:
            i += 1  # zero-width: inside a word it is part of the span, behind it it is not
        elif i + 1 < n and i == end:
            following = classes[codes[i + 1]]
            joins = False
            if kind == APOSTROPHE:
                joins = previous == LETTER and following == LETTER
            elif kind == NUMBER_JOIN:
                if previous == DIGIT:
                    joins = following == DIGIT
                elif codes[i] == _DOT and previous == LETTER and run == 1 and following == LETTER:
                    # U.S, a.m: single letters only, so that a missing space after a full stop does not glue words
                    beyond = classes[codes[i + 2]] if i + 2 < n else SEPARATOR
                    joins = beyond != LETTER and beyond != DIGIT and beyond != MARK
            elif kind == HYPHEN and previous == DIGIT:
                joins = _inside_date(codes, classes, start, i, n)
            if not joins:
                break
            run = 0
            i += 1
        else:
            break
    return end


@part_of_kernel
def _inside_date(codes: Array, classes: Array, start: int, i: int, n: int) -> bool:
    """Whether the hyphen at `i` stands in an ISO date (2026-11-15) that begins at `start`."""
    if i - start == 7:
        i = start + 4
    if i - start != 4 or start + 10 > n:
        return False
    for j in range(10):
        kind = classes[codes[start + j]]
        if j == 4 or j == 7:
            if kind != HYPHEN:
                return False
        elif kind != DIGIT:
            return False
    return start + 10 == n or classes[codes[start + 10]] != DIGIT


@part_of_kernel
def _url_prefix(codes: Array, i: int, n: int) -> int:
    """How many characters of http://, https:// or www. stand at `i`; 0 for none. ASCII letters in either case."""
    c = codes[i] | 32
    if c == 119:  # w
        if i + 4 < n and codes[i + 1] | 32 == 119 and codes[i + 2] | 32 == 119 and codes[i + 3] == _DOT:
            return 4
        return 0
    if c != 104 or i + 7 >= n:  # h
        return 0
    if codes[i + 1] | 32 != 116 or codes[i + 2] | 32 != 116 or codes[i + 3] | 32 != 112:
        return 0
    j = i + 4
    if codes[j] | 32 == 115:
        j += 1
    if j + 2 < n and codes[j] == _COLON and codes[j + 1] == _SLASH and codes[j + 2] == _SLASH:
        return j + 3 - i
    return 0


@part_of_kernel
def _in_url(code: int, kind: int) -> bool:
    if code < 128:
        return code > 32 and code != 34 and code != 60 and code != 62
    return kind in (LETTER, DIGIT, MARK)


@part_of_kernel
def _entity_end(codes: Array, i: int, n: int) -> int:
    """One past an HTML entity (&amp; &#39;) at `i`, or `i` where there is none."""
    j = i + 1
    while j < n and j - i <= 8:
        c = codes[j]
        if c == _SEMICOLON:
            return j + 1 if j - i > 2 else i
        if not (97 <= c <= 122 or 48 <= c <= 57 or (c == 35 and j == i + 1)):
            return i
        j += 1
    return i


@kernel
def find_tokens(
    codes: Array, classes: Array, plain: bool, bigrams: bool, starts: Array, ends: Array, kinds: Array
) -> int:
    """Fill `starts`, `ends`, `kinds` (as long as `codes`) and return how many tokens there are.

    `plain`: maximal runs of letters and digits and nothing else. `bigrams`: scripts without spaces come out as
    overlapping pairs of characters; otherwise as whole runs, for a segmenter to cut.
    """
    n = codes.shape[0]
    m = 0
    i = 0
    before = SEPARATOR
    while i < n:
        kind = classes[codes[i]]
        if kind == SEPARATOR:
            before = kind
            i += 1
            continue
        if plain:
            if kind in (LETTER, DIGIT):
                j = i + 1
                while j < n and (classes[codes[j]] == LETTER or classes[codes[j]] == DIGIT):
                    j += 1
                starts[m] = i
                ends[m] = j
                kinds[m] = WORD
                m += 1
                i = j
            else:
                i += 1
            continue
        if kind in (LETTER, DIGIT):
            prefix = _url_prefix(codes, i, n) if kind == LETTER else 0
            if prefix > 0:
                begin = i + prefix
                j = begin
                while j < n and _in_url(codes[j], classes[codes[j]]):
                    j += 1
                stop = begin
                while stop < j and (
                    classes[codes[stop]] == LETTER
                    or classes[codes[stop]] == DIGIT
                    or codes[stop] == 45
                    or codes[stop] == _DOT
                ):
                    stop += 1
                while stop > begin and codes[stop - 1] == _DOT:
                    stop -= 1
                if stop > begin:
                    starts[m] = begin
                    ends[m] = stop
                    kinds[m] = HOST
                    m += 1
                i = j
                before = SEPARATOR
                continue
            j = word_end(codes, classes, i, n)
            starts[m] = i
            ends[m] = j
            kinds[m] = WORD
            m += 1
            i = j
            before = LETTER
        elif kind == UNSPACED:
            j = i + 1
            last = j
            while j < n:
                follow = classes[codes[j]]
                if follow in (UNSPACED, MARK):
                    j += 1
                    last = j
                elif follow == IGNORABLE:
                    j += 1
                else:
                    break
            if bigrams:
                m = _pairs(codes, classes, i, last, starts, ends, kinds, m)
            else:
                starts[m] = i
                ends[m] = last
                kinds[m] = RUN
                m += 1
            i = last
            before = LETTER
        elif (kind in (HASH, AT)) and before != LETTER and i + 1 < n:
            follow = classes[codes[i + 1]]
            if kind == AT and (follow in (LETTER, DIGIT) or codes[i + 1] == _UNDERSCORE):
                j = i + 2
                while j < n and (classes[codes[j]] == LETTER or classes[codes[j]] == DIGIT or codes[j] == _UNDERSCORE):
                    j += 1
                starts[m] = i
                ends[m] = j
                kinds[m] = MENTION
                m += 1
                i = j
                before = LETTER
            elif kind == HASH and (follow in (LETTER, DIGIT)):
                j = word_end(codes, classes, i + 1, n)
                starts[m] = i
                ends[m] = j
                kinds[m] = HASHTAG
                m += 1
                i = j
                before = LETTER
            else:
                i += 1
                before = SEPARATOR
        elif kind == AMPERSAND:
            j = _entity_end(codes, i, n)
            i = j if j > i else i + 1
            before = SEPARATOR
        else:
            if kind != IGNORABLE and kind != MARK:
                before = SEPARATOR
            i += 1
    return m


@part_of_kernel
def _pairs(codes: Array, classes: Array, begin: int, end: int, starts: Array, ends: Array, kinds: Array, m: int) -> int:
    """Overlapping pairs of characters, marks going with the character before; a lone character stands alone."""
    first = begin
    second = -1
    behind = begin + 1  # one past the last character that can be seen
    for i in range(begin + 1, end + 1):
        if i == end or classes[codes[i]] == UNSPACED:
            if second >= 0 or i == end:
                starts[m] = first
                ends[m] = behind
                kinds[m] = RUN
                m += 1
            if second >= 0:
                first = second
            second = i
        if i < end and classes[codes[i]] != IGNORABLE:
            behind = i + 1
    return m


@kernel
def number_forms(
    codes: Array,
    starts: Array,
    ends: Array,
    kinds: Array,
    languages: Array,
    n_tokens: int,
    longest: int,
    table: Array,
    arena: Array,
    used: int,
    n_forms: int,
    forms: Array,
    places: Array,
    simple: Array,
) -> tuple[int, int]:
    """Write the number of every token's surface form to `forms` (-1: longer than `longest`).

    A form is its letters, its kind and its language: equal letters in two languages are two forms. It stands in `arena`
    as one word of 65536 * length + 256 * language + kind, then its code points. `table` (a power of two of rows,
    at most half full) is open addressing; a row is [key, key, header, number of the form + 1 (0: empty)]. The keys of a
    form of up to 16 Latin-1 characters are those characters, so that equal rows are equal forms; those of any other
    are a hash and the form's place, and its characters are compared. New forms are numbered in the order of their
    first appearance; `places` gets where each stands, `simple` whether it is ASCII letters and digits only.
    Returns (forms, words of the arena) in use.
    """
    mask = np.uint64(table.shape[0] - 1)
    keys = np.empty((BLOCK, 3), np.uint64)
    for begin_block in range(0, n_tokens, BLOCK):
        end_block = min(begin_block + BLOCK, n_tokens)
        for t in range(begin_block, end_block):
            first, second, header = form_keys(codes, starts[t], ends[t], kinds[t], languages[t])
            keys[t - begin_block, 0], keys[t - begin_block, 1], keys[t - begin_block, 2] = first, second, header
            prefetch(table, np.int64(_spread(first, second, header) & mask) * table.shape[1])
        for t in range(begin_block, end_block):
            begin = starts[t]
            end = ends[t]
            if end - begin > longest:
                forms[t] = -1
                continue
            first, second, header = keys[t - begin_block]
            short = header <= LARGEST_HEADER
            slot = _spread(first, second, header) & mask
            while True:
                if table[slot, 3] == 0:
                    table[slot, 0] = first
                    table[slot, 1] = second if short else np.uint64(used)
                    table[slot, 2] = header
                    table[slot, 3] = np.uint64(n_forms + 1)
                    places[n_forms] = used
                    arena[used] = np.uint32(header & LARGEST_HEADER)
                    plain = kinds[t] == WORD
                    for j in range(begin, end):
                        used += 1
                        c = codes[j]
                        arena[used] = c
                        plain &= 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122
                    used += 1
                    simple[n_forms] = plain
                    forms[t] = n_forms
                    n_forms += 1
                    break
                if table[slot, 0] == first and table[slot, 2] == header:
                    if short:
                        same = table[slot, 1] == second
                    else:
                        at = np.int64(table[slot, 1])
                        j = begin
                        same = True
                        while same and j < end:
                            at += 1
                            same = arena[at] == codes[j]
                            j += 1
                    if same:
                        forms[t] = np.int64(table[slot, 3]) - 1
                        break
                slot = (slot + np.uint64(1)) & mask
    return n_forms, used


@part_of_kernel
def form_keys(codes: Array, begin: int, end: int, kind: int, language: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """What a form is known by: its characters, or a hash of them and 0, and the header, which tells the two apart."""
    eight = np.uint64(8)
    length = end - begin
    header = np.uint64(65536 * length + 256 * np.int64(language) + kind)
    first = np.uint64(0)
    second = np.uint64(0)
    spread = np.uint64(0)
    if length <= 16:
        for j in range(begin, min(end, begin + 8)):
            c = np.uint64(codes[j])
            first = (first << eight) | c
            spread |= c
        for j in range(begin + 8, end):
            c = np.uint64(codes[j])
            second = (second << eight) | c
            spread |= c
        if spread < np.uint64(256):
            return first, second, header
    first = np.uint64(14695981039346656037)
    for j in range(begin, end):
        first = (first ^ np.uint64(codes[j])) * np.uint64(1099511628211)
    return first, np.uint64(0), header | np.uint64(1 << 32)


@part_of_kernel
def _spread(first: np.uint64, second: np.uint64, header: np.uint64) -> np.uint64:
    """Keys to a slot: two odd multipliers, the high bits folded down."""
    h = (first ^ (second * np.uint64(0x9E3779B97F4A7C15)) ^ header) * np.uint64(0xD6E8FEB86659FD93)
    return h ^ (h >> np.uint64(32))


@kernel
def rehash(old: Array, new: Array) -> None:
    """Put the rows of a table into a larger, empty one."""
    mask = np.uint64(new.shape[0] - 1)
    for row in range(old.shape[0]):
        if old[row, 3] != 0:
            short = old[row, 2] < np.uint64(1 << 32)
            slot = _spread(old[row, 0], old[row, 1] if short else np.uint64(0), old[row, 2]) & mask
            while new[slot, 3] != 0:
                slot = (slot + np.uint64(1)) & mask
            for column in range(4):
                new[slot, column] = old[row, column]
