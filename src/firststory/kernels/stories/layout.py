"""The arrays of stories and their members by what they are about, and the rule of joining: what the kernels take."""

from __future__ import annotations

from typing import NamedTuple

from firststory.arrays import Columns, Floats, Ints, Singles


class PairWeights(NamedTuple):
    """The log-odds that two documents tell of one happening: a weighted sum of what is known of the pair."""

    cosine: float
    """Of their rows."""
    title: float
    """Of the cosine of their titles."""
    vector: float
    """Of the cosine of their vectors."""
    lag: float
    """Of ln(1 + days between them)."""
    constant: float


class JoinRule(NamedTuple):
    """When a document joins a story; `firststory.stories.tracker` has the formulas."""

    long: PairWeights
    sparse: PairWeights
    """In place of `long` where the documents of a stream have little in common."""
    sparse_background: float
    """The background up to which `sparse` holds; from `dense_background` on `long` does, between them in proportion."""
    dense_background: float
    short: PairWeights
    wordy: PairWeights
    """In place of `short` where the vector of one of the two is not known."""
    log_short_terms: float
    """The logarithm of the most terms that a short text has."""
    log_long_terms: float
    """The logarithm of the fewest terms that a long text has."""
    n_best: Ints
    """How many of a story's n members speak for a document, for n = 0, 1, ..."""
    largest_odds: float
    """The log-odds of a pair are cut there, on both sides."""
    age: float
    """How much more old stories ask for, per ln(1 + age / `age_days`)."""
    age_days: float
    documents_per_day: float
    """How many documents make a day where there are no times."""
    threshold: float
    """The log-odds from which on a long text joins."""
    short_threshold: float
    """The same for a short text where every second document opens a story."""
    pull: float
    """How much `short_threshold` follows the share of documents that open stories."""
    link: float
    """The log-odds with a long text, time left aside, from which on two stories are looked at again."""
    short_link: float
    """The same for a short text."""
    fade_days: float
    """Days without a document after which a story is not joined any more."""
    merge: float
    """How alike the members of two stories of long texts must be, as a part of how alike they are within each."""
    short_merge: float
    merge_days: float
    """The most days between two stories that merge."""


class Members(NamedTuple):
    """The latest documents of all stories; member m has `columns[start[m] : start[m] + length[m]]`, in order."""

    columns: Columns
    weights: Singles
    title_weights: Singles
    """The weights of the title, of unit length; 0 for what it does not have."""
    start: Ints
    length: Ints
    log_terms: Floats
    """The logarithm of the number of terms."""
    time: Floats
    """In seconds; NaN where there is none."""
    ordinal: Ints
    """Its number in the order of arrival."""
    vector: Singles
    """What a short text means, one row per member; zeros where that is not known."""


class Stories(NamedTuple):
    """What is known of the story in each slot."""

    key: Ints
    """The number of the story."""
    size: Ints
    """Documents, also those that are no longer kept as members."""
    n_members: Ints
    members: Ints
    """The latest members in the order of arrival, one row per story."""
    first: Floats
    """The time of the first document in seconds; NaN where none had a time."""
    last: Floats
    first_ordinal: Ints
    last_ordinal: Ints
    squared_norm: Floats
    """Of the sum of the members' rows."""
    vector_sum: Floats
    """The sum of the members' vectors, one row per story."""
    n_pairs: Ints
    """Pairs of documents whose cosine is known: each that joined with the members before it."""
    pair_sum: Floats
    """The sum of those cosines."""


class Arrivals(NamedTuple):
    """Documents that look for their story, in the order of the stream."""

    indptr: Ints
    columns: Columns
    weights: Singles
    title_weights: Singles
    times: Floats
    """In seconds; NaN where a document has none."""
    first_ordinal: int
    """The number of the first of them in the order of arrival."""
    vectors: Singles
    candidates: Ints
    """The slots of the stories that each may join; -2 - j is the slot where document j of these went, -1 none."""


class Free(NamedTuple):
    """Free slots and free numbers of members: the first `count` entries, taken from the end.

    `counts` has how many slots and members are free, and where the tail of the members' rows begins.
    """

    slots: Ints
    members: Ints
    counts: Ints


class Learnt(NamedTuple):
    """What the rule learns from the stream: arrays of one number, so that kernels can change it."""

    opening_share: Floats
    """Share of recent documents that opened a story."""
    background: Floats
    """Fading sum of the cosines of long texts with the candidates that are not the best, and of their number."""
    usual_cosine: Floats
    """Fading sum of the cosines of documents that joined with the members, and of their number."""


class Placed(NamedTuple):
    """Where documents went."""

    slot: Ints
    opened: Ints
    """1 where the document opened the story."""
    odds: Floats
    """The log-odds with the best candidate; -inf where there was none."""
    linked: Ints
    """The slots of other stories that are near, one row per document; -1 where there are no more."""
