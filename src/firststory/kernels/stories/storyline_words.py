"""The words of the storylines: how often each line has used each word, and the stream.

A sparse table. The entries of a word are a list, and so are the entries of a line: a text finds the lines that have its
words, and a line that leaves finds its words.
"""

from __future__ import annotations

from typing import NamedTuple

from firststory.arrays import Array, Floats, Ints, Slots
from firststory.kernels.jit import kernel

PSEUDO_COUNT = 0.5
"""How often the stream is taken to have used a word before it came for the first time."""
LEAST_COUNT = 1e-6
"""A word that a line has less often is not one of its words."""

# Columns of `WordTable.links`.
NEXT_OF_WORD, PREVIOUS_OF_WORD, NEXT_OF_LINE, PREVIOUS_OF_LINE, LINE, WORD = 0, 1, 2, 3, 4, 5


class WordTable(NamedTuple):
    """Entries with two links."""

    links: Array
    """Of each entry: the next and the previous of its word, the next and the previous of its line, line, word."""
    used: Floats
    """How often the line has used the word."""
    free: Slots
    n_free: Ints
    """A number: the entries that are free."""
    of_word: Slots
    """The first entry of each word; -1 for none."""
    of_line: Slots
    """The first entry of each line; -1 for none."""
    seen: Floats
    """How often the stream has used each word, each line counted `most_count` times at most."""
    total: Floats
    """A number: the sum of `seen`."""


@kernel
def find_entry(table: WordTable, line: int, word: int) -> int:
    """Where a line has a word; -1 where it has not. The entry comes to the front: it will be looked for again.

    The entries of the word and those of the line are walked side by side: the shorter list decides.
    """
    links, first = table.links, table.of_word[word]
    of_word, of_line, entry = first, table.of_line[line], -1
    while entry < 0 and of_word >= 0 and of_line >= 0:
        if links[of_word, LINE] == line:
            entry = of_word
        elif links[of_line, WORD] == word:
            entry = of_line
        of_word, of_line = links[of_word, NEXT_OF_WORD], links[of_line, NEXT_OF_LINE]
    if entry >= 0 and entry != first:
        before, after = links[entry, PREVIOUS_OF_WORD], links[entry, NEXT_OF_WORD]
        links[before, NEXT_OF_WORD] = after
        if after >= 0:
            links[after, PREVIOUS_OF_WORD] = before
        links[entry, NEXT_OF_WORD], links[entry, PREVIOUS_OF_WORD] = first, -1
        links[first, PREVIOUS_OF_WORD] = entry
        table.of_word[word] = entry
    return int(entry)


@kernel
def share_of(table: WordTable, word: int) -> float:
    """The share of a word in the stream."""
    return float(max(table.seen[word], PSEUDO_COUNT) / max(table.total[0], 1.0))


@kernel
def _new_entry(table: WordTable, line: int, word: int) -> int:
    links = table.links
    table.n_free[0] -= 1
    entry = table.free[table.n_free[0]]
    after, behind = table.of_word[word], table.of_line[line]
    links[entry, NEXT_OF_WORD], links[entry, PREVIOUS_OF_WORD] = after, -1
    links[entry, NEXT_OF_LINE], links[entry, PREVIOUS_OF_LINE] = behind, -1
    links[entry, LINE], links[entry, WORD] = line, word
    if after >= 0:
        links[after, PREVIOUS_OF_WORD] = entry
    if behind >= 0:
        links[behind, PREVIOUS_OF_LINE] = entry
    table.of_word[word] = table.of_line[line] = entry
    table.used[entry] = 0.0
    return int(entry)


@kernel
def _remove_entry(table: WordTable, entry: int) -> None:
    links = table.links
    after, before = links[entry, NEXT_OF_WORD], links[entry, PREVIOUS_OF_WORD]
    if before >= 0:
        links[before, NEXT_OF_WORD] = after
    else:
        table.of_word[links[entry, WORD]] = after
    if after >= 0:
        links[after, PREVIOUS_OF_WORD] = before
    after, before = links[entry, NEXT_OF_LINE], links[entry, PREVIOUS_OF_LINE]
    if before >= 0:
        links[before, NEXT_OF_LINE] = after
    else:
        table.of_line[links[entry, LINE]] = after
    if after >= 0:
        links[after, PREVIOUS_OF_LINE] = before
    links[entry, LINE] = -1
    table.free[table.n_free[0]] = entry
    table.n_free[0] += 1


@kernel
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
            _remove_entry(table, entry)


@kernel
def drop_words(table: WordTable, line: int) -> None:
    """A line leaves; the stream has used its words all the same."""
    while table.of_line[line] >= 0:
        _remove_entry(table, table.of_line[line])


@kernel
def move_words(table: WordTable, line: int, other: int, most: float) -> None:
    """All that a line has used goes to another line."""
    words, counts = table.links[:1, WORD].copy(), table.used[:1].copy()
    while table.of_line[line] >= 0:
        entry = table.of_line[line]
        words[0], counts[0] = table.links[entry, WORD], table.used[entry]
        less = min(counts[0], most)  # which the other line adds again, as far as it may
        table.seen[words[0]] -= less
        table.total[0] -= less
        _remove_entry(table, entry)
        add_counts(table, other, words, counts, 1, 1.0, most)
