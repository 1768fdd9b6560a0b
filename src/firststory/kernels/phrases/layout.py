"""The arrays that the kernels share, and the numbers that stand for shapes, forms, places and marks of words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Singles

Codes = NDArray[np.uint32]
Keys = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Marks = NDArray[np.uint32]
Texts = NDArray[np.uint16]

# Classes of characters.
(OTHER, SPACE, BREAK, LOWER, UPPER, DIGIT, INVISIBLE, APOSTROPHE, HYPHEN, AMPERSAND, HASH, AT, CURRENCY, OPENING, DOT,
 JOIN, UNSPACED) = range(17)  # fmt: skip

# Shapes of tokens: words in lower case, capitalised and in capitals come first.
SMALL, CAPITALISED, CAPITALS, NUMBER, HASHTAG, SIGN = range(6)

# How the capitals of a line are to be read.
SENTENCE_CASE, TITLE_CASE, ALL_CAPITALS = range(3)

# Forms of phrases.
NAME, FIGURE, TAG, WORDS = range(4)

# Where a phrase stands.
TITLE, LEAD, BODY = range(3)

# Marks of words, from the word lists; several may be set.
(FIRST_NAME, PLACE_NAME, PERSON_TITLE, PARTICLE, TAKES_OF, PLACE_WORD, ORGANISATION_WORD, SAYS, INSIDE, NEAR, DATE,
 UNIT, MAGNITUDE, STOP, ABBREVIATION, WHO, ROYAL, ORGANISATION_HEAD, PLACE_HEAD, DIRECTION, OF, THE, DATE_OR_NAME,
 ORDINAL) = (1 << bit for bit in range(24))  # fmt: skip

# Marks of numbers and signs.
WHOLE_FIGURE, NO_FIGURE, COMMA, HEAD_END = (1 << bit for bit in range(24, 28))

# More marks of words.
THING, ORGANISATION_ALONE, NAME_OR_WORD = (1 << bit for bit in range(28, 31))

# Columns of tables. The first is the weight by which an entry is kept.
DOCUMENTS, IN_LOWER, IN_UPPER, AFTER_NUMBER = range(4)  # of words
MENTIONS, IN_SENTENCE, PERSON, PLACE, ORGANISATION, TEXT_LEAD, HOLDERS, HOLDER_LEAD, NAME_DOCUMENTS = range(
    9
)  # of names

# What the clock counts.
UNIT_NOW, N_DOCUMENTS, FIRST_LOWER, FIRST_UPPER, NUMBER_NOW, BITS_NOW = range(6)

# Columns of `seen`.
NOW, LATELY, WATCHED = range(3)

TITLE_CHARACTERS, LEAD_CHARACTERS = 240, 320
LONGEST_WORD = 64
"""Characters; what is longer is no word."""
LONGEST_NAME = 7
"""Words; what is longer is a list or a heading."""
NAME_TEXT = 40
"""Characters of a name that are kept for people."""
MAIN_PHRASES = 12
"""Phrases of a title and lead that are counted together."""


# What tells the keys of one kind from those of another that share a table.
OF_PAIR, OF_PHRASE, OF_TOGETHER, OF_SOURCE = (np.uint64(0x9E3779B97F4A7C15 * n % 2**64) for n in (1, 3, 5, 7))


class Table(NamedTuple):
    """Fading counts of a bounded number of keys; see `tables`."""

    keys: Keys
    counts: Singles
    last: Marks
    """The number of the document that was counted last."""


class Tables(NamedTuple):
    """All that is learnt."""

    clock: Floats
    words: Table
    word_marks: Marks
    names: Table
    name_texts: Texts
    """How a name mostly reads; a row per slot, zeros behind it."""
    holders: Keys
    """Of a last word: the key of the name that mostly ends in it."""
    counts: Table
    """Pairs of words, phrases of titles and leads, those that came together, documents of sources."""
    grams: Table
    """4-grams of tokens that a source has had twice: in how many of its documents, and of all, they were."""
    seen: Keys
    """Bits of the 4-grams of late, of those before, and of those that were put into the table; four columns."""
    neighbours: Table
    """Of short words: what stands left and right of them, hashed into bins."""


class Alphabet(NamedTuple):
    """What is known of characters and words beforehand."""

    classes: Bytes
    folded: Codes
    """Without case and accents."""
    keys: Keys
    marks: Marks


class Known(NamedTuple):
    """What is asked of names while a line is read: fewer arrays are quicker to hand on."""

    name_keys: Keys
    name_counts: Singles
    list_keys: Keys
    list_marks: Marks
    unit: float
    prior: float
    """Of a word never seen to be a name."""


# Rows of records: one argument each, and what belongs together lies together in memory.

TOKEN = np.dtype(
    [
        ("key", np.uint64),
        ("start", np.int32),
        ("end", np.int32),  # without a possessive
        ("slot", np.int32),  # in the table of words, or -1
        ("marks", np.uint32),
        ("lower", np.float32),  # how often it was seen in lower case so far,
        ("upper", np.float32),  # and capitalised
        ("shape", np.uint8),
        ("words", np.uint8),  # how many words it is: Jong-un is two
        ("opens", np.bool_),  # begins a sentence
        ("glued", np.bool_),  # one space stands before it, and nothing else
        ("owns", np.bool_),  # ends in a possessive
        ("inner", np.bool_),  # has a capital behind a small letter, or dots between capitals
        ("dull", np.bool_),  # part of the source's boilerplate
        ("big", np.bool_),  # capitalised, and not for being a date
        ("ok", np.bool_),  # part of a name
        ("taken", np.bool_),  # part of a name, figure or hashtag that was found
        ("counted", np.bool_),  # often stands behind numbers
    ],
    align=True,
)
LINE = np.dtype([("first", np.int64), ("style", np.int64)])
FOUND = np.dtype(
    [
        ("key", np.uint64),
        ("last", np.uint64),  # the key of its last word, 0 where that is none by itself
        ("document", np.int32),
        ("start", np.int32),
        ("end", np.int32),
        ("person", np.float32),  # votes for its kind
        ("place", np.float32),
        ("organisation", np.float32),
        ("form", np.uint8),
        ("zone", np.uint8),
        ("style", np.uint8),
        ("words", np.uint8),
    ],
    align=True,
)
SPAN = np.dtype([("document", np.int32), ("start", np.int32), ("end", np.int32)], align=True)

Tokens = NDArray[Any]
Lines = NDArray[Any]
Found = NDArray[Any]
Spans = NDArray[Any]
