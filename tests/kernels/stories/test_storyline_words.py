"""The words of the storylines beside dictionaries that do the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.kernels.jit import kernel
from firststory.kernels.stories.storyline_words import BLOCK, add_counts, forget_words
from firststory.stories.storyline_model import new_model, reserve

LINES, WORDS = 5, 30


@kernel
def use(table, line, words, counts):
    add_counts(table, line, words, counts, len(words), 1.0, 10.0)


def entries(table):
    """Of each line its words with their counts, those that came first first."""
    used = {}
    for word in range(WORDS):
        block = table.of_word[word]
        while block >= 0:
            for place in range(BLOCK * block, BLOCK * block + table.filled[block]):
                used[int(table.line[place]), word] = float(table.used[place])
            block = table.following[block]
    found = {}
    for line in range(LINES):
        words, block = [], table.of_line[line]
        while block >= 0:
            words[:0] = table.word[BLOCK * block : BLOCK * block + table.words_filled[block]].tolist()
            block = table.words_following[block]
        found[line] = [(word, used.pop((line, word))) for word in words]
    assert not used
    return found


def n_blocks(first, following):
    n = 0
    for block in first:
        while block >= 0:
            n, block = n + 1, following[block]
    return n


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, LINES - 1), st.sets(st.integers(0, WORDS - 1), min_size=1)), max_size=40),
    st.sets(st.integers(0, WORDS - 1)),
)
def test_words_that_are_forgotten_leave_all_else_as_it_was(texts, gone):
    table = reserve(new_model(0), lines=LINES, entries=LINES * WORDS, columns=WORDS).words
    twin = {line: {} for line in range(LINES)}
    for rest in (texts, texts[::2]):  # and after some are forgotten, the table takes more
        for line, words in rest:
            chosen = sorted(words)
            use(table, line, np.array(chosen, dtype=np.int32), np.ones(len(chosen)))
            for word in chosen:
                twin[line][word] = twin[line].get(word, 0.0) + 1.0
        goes = np.zeros(len(table.of_word), dtype=bool)
        goes[list(gone)] = True
        seen, total = table.seen.copy(), table.total.copy()
        forget_words(table, goes)
        twin = {line: {word: n for word, n in words.items() if word not in gone} for line, words in twin.items()}
        assert entries(table) == {line: list(words.items()) for line, words in twin.items()}
        assert np.array_equal(table.seen, seen) and np.array_equal(table.total, total)
        assert len(table.free) == table.n_free[0] + n_blocks(table.of_word, table.following)
        assert len(table.words_free) == table.n_words_free[0] + n_blocks(table.of_line, table.words_following)
