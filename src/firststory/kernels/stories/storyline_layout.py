"""The arrays of the storylines by what they are about, and the rule: what the kernels take.

Lines, stories and rows each have a slot; slots that are free wait in a stack.
"""

from __future__ import annotations

from typing import NamedTuple

from firststory.arrays import Array, Columns, Floats, Ints, Singles, Slots
from firststory.kernels.stories.storyline_words import WordTable

N_STORY_ROWS = 24
"""The last documents of a story that are kept."""
N_LINE_STORIES = 48
"""The last stories of a storyline that are kept."""
N_ROW_TERMS = 40
"""Terms of a document that are kept: the heaviest."""
MAX_WORDS = N_STORY_ROWS * N_ROW_TERMS
"""Of a text that looks for its storyline: it may be all rows of a story."""
N_GAPS = 16
"""Classes of gaps: 1, 2, 3-4, 5-8, ... documents ago."""

# Places in `Model.counters`.
N_SEEN, NEXT_KEY, FREE_LINES, FREE_STORIES, FREE_ROWS, N_MERGED = 0, 1, 2, 3, 4, 5


class Rule(NamedTuple):
    """The constants; `firststory.stories.storylines` has the formulas."""

    size_weight: float
    most_size: float
    """Documents of a line that count."""
    threshold: float
    """The score that is enough to join a line where every second story founds one."""
    look_ease: float
    """How much less is enough for a small line that is asked again."""
    odds_weight: float
    """How much the threshold follows the odds that a story founds a line."""
    mixture: float
    """The part of a text that is about its line."""
    smoothing: float
    """Words of the stream that are mixed into a line's."""
    most_count: float
    """How often a line counts among those that have used a word."""
    least_share: float
    """For a long text no word is rarer in the stream than that."""
    length: float
    """The most words that a short text counts for."""
    long_length: float
    """The same for a long one."""
    vector_weight: float
    vector_zero: float
    """The cosine that speaks neither for nor against."""
    most_lift: float
    voters: int
    """The last documents of a line that vote."""
    votes: float
    """The part of them that is enough for lines to become one."""
    vote_margin: float
    """How much better the own line may fit a document that votes for another."""
    growth: float
    """A line is asked again when it is so many times as large."""
    first_look: float
    """Documents of the stream after which a small line is asked for the first time."""
    look_factor: float
    """It is asked again when it is so many times as old."""
    decay: float
    """Of what is known of the gaps, at each document."""


class Lines(NamedTuple):
    """One place per slot."""

    key: Ints
    """-1 for a free slot."""
    size: Floats
    """Documents whose words it has."""
    total: Floats
    """The sum of its words' counts."""
    pull: Floats
    """min(size, most_size) ** size_weight: what it would get by its size alone."""
    unused: Floats
    """ln of the share, against the stream's, that a word has which it never used."""
    slope: Floats
    """How that share grows with each time it uses the word, times the stream's share."""
    last_number: Ints
    last_time: Floats
    checked: Floats
    """The size when it was last asked whether it should go into another."""
    founded: Ints
    """The number of documents that there were."""
    due: Ints
    """The same when it is to be asked next if it is still small."""
    n_stories: Slots
    stories: Array
    """Slots of its last stories, in the order in which they came."""
    vector: Floats
    free: Slots


class StorySlots(NamedTuple):
    """One place per slot."""

    key: Ints
    line: Slots
    size: Ints
    asked: Ints
    """The size when it last chose its storyline."""
    n_rows: Slots
    rows: Array
    """Slots of its last rows, oldest first."""
    free: Slots


class RowSlots(NamedTuple):
    """Documents: their words and what they mean."""

    number: Ints
    length: Slots
    columns: Array
    counts: Floats
    total: Floats
    vector: Singles
    free: Slots


class Model(NamedTuple):
    """All of it."""

    lines: Lines
    words: WordTable
    stories: StorySlots
    rows: RowSlots
    found: Floats
    """How often a document that joins a story finds its storyline told so long ago, by gap; fading."""
    chance: Floats
    """How often it would by the storylines' sizes alone."""
    weights: Floats
    """The same at present."""
    founding: Floats
    """A number: the share of recent stories that founded a line."""
    counters: Ints
    merged: Ints
    """Lines that were merged: the key that is gone, the key it went into, the votes for it, those asked."""
    gains: Floats
    """Scratch: one place per line."""
    reached: Slots
    """Scratch: the lines that have a gain. One place more than there are lines."""
    places: Slots
    """Scratch: where to read on of each word of a text, or which entries of a word count; as long, `MAX_WORDS` at
    least."""
    rarities: Floats
    """Scratch: one over the share of each word of a text; `MAX_WORDS`."""


class Documents(NamedTuple):
    """Documents that have their story, one per row."""

    stories: Slots
    indptr: Ints
    columns: Columns
    counts: Floats
    weights: Floats
    vectors: Singles
    times: Floats
