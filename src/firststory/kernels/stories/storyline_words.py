"""The words of the storylines: how often each line has used each word, and the stream.

A sparse table. Each word has a list of entries, one for each line that has it: a text finds the lines that have its
words. Each line has a list of its words: a line that leaves finds its entries.

A list is a chain of blocks; only the first one is not full. What lies in one block comes from memory at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firststory.arrays import Array, Flags, Floats, Ints, Slots
from firststory.kernels.jit import kernel, part_of_kernel

BLOCK = 8
"""Places of a block: those of block b are 8 b, 8 b + 1, ..."""
PSEUDO_COUNT = 0.5
"""How often the stream is taken to have used a word before it came for the first time."""
LEAST_COUNT = 1e-6
"""A word that a line has less often is not one of its words."""


class WordTable(NamedTuple):
    """Two kinds of lists; places that are not in use hold -1."""

    of_word: Slots
    """The first block of each word's entries; -1 for none."""
    line: Slots
    """Of each entry, its line."""
    used: Floats
    """How often the line has used the word."""
    filled: Slots
    """Entries of each block."""
    following: Slots
    """The next block of the list; -1 for none."""
    free: Slots
    n_free: Ints
    """A number: the blocks that are free."""

    of_line: Slots
    """The first block of each line's words; -1 for none. The word that came last is the last of that block."""
    word: Slots
    words_filled: Slots
    words_following: Slots
    words_free: Slots
    n_words_free: Ints

    seen: Floats
    """How often the stream has used each word, each line counted `most_count` times at most."""
    total: Floats
    """A number: the sum of `seen`."""


@part_of_kernel
def _next_place(first: Slots, i: int, filled: Slots, following: Slots, free: Slots, n_free: Ints) -> int:
    """A place at the head of list i."""
    block = first[i]
    if block < 0 or filled[block] == BLOCK:
        n_free[0] -= 1
        block = free[n_free[0]]
        following[block], filled[block] = first[i], 0
        first[i] = block
    filled[block] += 1
    return int(BLOCK * block + filled[block] - 1)


@part_of_kernel
def _drop_head(first: Slots, i: int, filled: Slots, following: Slots, free: Slots, n_free: Ints) -> None:
    """The last place of the head of list i is not in use any more."""
    block = first[i]
    filled[block] -= 1
    if filled[block] == 0:
        first[i] = following[block]
        free[n_free[0]] = block
        n_free[0] += 1


@part_of_kernel
def find_entry(table: WordTable, line: int, word: int) -> int:
    """Where a line has a word; -1 where it has not."""
    block = table.of_word[word]
    while block >= 0:
        for entry in range(BLOCK * block, BLOCK * block + table.filled[block]):
            if table.line[entry] == line:
                return int(entry)
        block = table.following[block]
    return -1


@part_of_kernel
def share_of(table: WordTable, word: int, least: float) -> float:
    """The share of a word in the stream, but no less than `least`."""
    return float(max(least, max(table.seen[word], PSEUDO_COUNT) / max(table.total[0], 1.0)))


@part_of_kernel
def _new_entry(table: WordTable, line: int, word: int) -> int:
    entry = _next_place(table.of_word, word, table.filled, table.following, table.free, table.n_free)
    table.line[entry], table.used[entry] = line, 0.0
    place = _next_place(
        table.of_line, line, table.words_filled, table.words_following, table.words_free, table.n_words_free
    )
    table.word[place] = word
    return entry


@part_of_kernel
def _remove_entry(table: WordTable, line: int, word: int, entry: int) -> None:
    # The last entry of the head takes its place.
    block = table.of_word[word]
    last = BLOCK * block + table.filled[block] - 1
    table.line[entry], table.used[entry] = table.line[last], table.used[last]
    table.line[last] = -1
    _drop_head(table.of_word, word, table.filled, table.following, table.free, table.n_free)
    # The words of a line stay in order: those that came later move up by one place.
    block, moving = table.of_line[line], -1
    place = BLOCK * block + table.words_filled[block] - 1
    while table.word[place] != word:
        moving, table.word[place] = table.word[place], moving
        if place == BLOCK * block:
            block = table.words_following[block]
            place = BLOCK * block + BLOCK
        place -= 1
    table.word[place] = moving
    _drop_head(table.of_line, line, table.words_filled, table.words_following, table.words_free, table.n_words_free)


@part_of_kernel
def add_counts(table: WordTable, line: int, words: Array, counts: Floats, n: int, sign: float, most: float) -> None:
    """A line uses words more often (sign 1) or less often (sign -1); all words differ."""
    is_new = table.of_line[line] < 0
    for k in range(n):
        word, more = words[k], sign * counts[k]
        entry = -1 if is_new else find_entry(table, line, word)
        if entry < 0:
            if more < LEAST_COUNT:
                continue
            entry = _new_entry(table, line, word)
        if table.seen[word] == 0.0:
            table.seen[word] = PSEUDO_COUNT
            table.total[0] += PSEUDO_COUNT
        before, after = table.used[entry], max(table.used[entry] + more, 0.0)
        table.used[entry] = after
        table.seen[word] += min(after, most) - min(before, most)
        table.total[0] += min(after, most) - min(before, most)
        if after < LEAST_COUNT:
            _remove_entry(table, line, word, entry)


@part_of_kernel
def _last_word(table: WordTable, line: int) -> int:
    """The word of a line that came last."""
    block = table.of_line[line]
    return int(table.word[BLOCK * block + table.words_filled[block] - 1])


@part_of_kernel
def drop_words(table: WordTable, line: int) -> None:
    """A line leaves; the stream has used its words all the same."""
    while table.of_line[line] >= 0:
        word = _last_word(table, line)
        _remove_entry(table, line, word, find_entry(table, line, word))


@kernel
def forget_words(table: WordTable, goes: Flags) -> None:
    """Words leave the lines that have them; lines and stream have used them all the same."""
    kept = np.empty(len(table.word), dtype=np.int32)
    for line in range(len(table.of_line)):
        n = 0
        while table.of_line[line] >= 0:
            block = table.of_line[line]
            place = BLOCK * block + table.words_filled[block] - 1
            if not goes[table.word[place]]:
                kept[n] = table.word[place]
                n += 1
            table.word[place] = -1
            _drop_head(
                table.of_line, line, table.words_filled, table.words_following, table.words_free, table.n_words_free
            )
        for k in range(n - 1, -1, -1):
            place = _next_place(
                table.of_line, line, table.words_filled, table.words_following, table.words_free, table.n_words_free
            )
            table.word[place] = kept[k]
    for word in range(len(table.of_word)):
        while goes[word] and table.of_word[word] >= 0:
            block = table.of_word[word]
            table.line[BLOCK * block + table.filled[block] - 1] = -1
            _drop_head(table.of_word, word, table.filled, table.following, table.free, table.n_free)


@kernel
def move_words(table: WordTable, line: int, other: int, most: float) -> None:
    """All that a line has used goes to another line."""
    words, counts = table.word[:1].copy(), table.used[:1].copy()
    while table.of_line[line] >= 0:
        words[0] = _last_word(table, line)
        entry = find_entry(table, line, words[0])
        counts[0] = table.used[entry]
        less = min(counts[0], most)  # which the other line adds again, as far as it may
        table.seen[words[0]] -= less
        table.total[0] -= less
        _remove_entry(table, line, words[0], entry)
        add_counts(table, other, words, counts, 1, 1.0, most)
