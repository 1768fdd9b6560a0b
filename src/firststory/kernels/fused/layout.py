"""The arrays of the fused detector's index by what they are about: kernels take a handful of these, not fifty."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints, Singles, Slots
from firststory.kernels.neighbours.layout import Lists, Log


class Rows(NamedTuple):
    """What is known of each row: its day, 1 / norm and cluster; 1 / norm once more and the share of the norm that its
    common terms have, for the search in single precision."""

    born: Floats
    inverse: Floats
    cluster: Slots
    scale: Singles
    share: Singles


class Clusters(NamedTuple):
    """What is known of each cluster: the square of its length, 1 / length, rows, day and tick of the last one, label;
    and the stack of slots that are free."""

    square: Floats
    scale: Floats
    size: Ints
    day: Floats
    tick: Floats
    label: Ints
    free: Slots


class Tally(NamedTuple):
    """Counts that kernels change, each an array of one."""

    free: Ints
    """Cluster slots on the free stack."""
    opened: Ints
    """Clusters ever opened."""
    in_use: Ints
    """Cluster slots that were ever used are those below this."""
    refreshed_at: Ints
    """Rows ever seen when idf was last refreshed."""
    refreshed_rows: Ints
    """Rows in the window then."""


class Pace(NamedTuple):
    """What is learnt of the stream as a whole; those not said to be bins are arrays of one."""

    lag_mass: Floats
    """How many documents back nearest neighbours lay, in bins of half an octave (`clock`)."""
    day_rows: Floats
    """How many documents without times make a day."""
    match_ages: Floats
    """How many days old nearest neighbours were, in such bins,"""
    chance_ages: Floats
    """and how old rows taken by chance."""
    matches: Floats
    """The weight of all nearest neighbours,"""
    old_matches: Floats
    """and of those in the older half of the past."""
    strength: Floats
    """How much matches age, from 0 to 1."""
    unit_days: Floats
    """In what unit: days, where documents have times."""
    log_size: Floats
    """The running mean of the logarithm of the nearest clusters' sizes."""
    day: Floats
    """The day of the last row."""
    tick: Floats
    """The same on the clock whose gaps are capped."""


class Levels(NamedTuple):
    """Running means of what is blended (`blend`), each as its sum and its weight."""

    short_rows: Floats
    """The share of short rows."""
    strongest: Floats
    """Of the nearest neighbour: what its strongest term adds to the cosine,"""
    words: Floats
    """its likeness in words where both rows have vectors,"""
    meaning: Floats
    """and the cosine of the vectors."""


class Window(NamedTuple):
    """The rows among which neighbours are looked for."""

    meta: Ints
    lists: Lists
    log: Log
    rows: Rows
    common: NDArray[np.bool_]
    """Terms whose lists need not be walked to find neighbours."""


class Past(NamedTuple):
    """All that a row is judged by. Kernels hand on only what is needed: a call counts the references of its arrays."""

    window: Window
    tally: Tally
    pace: Pace
    idf2: Floats
    """The square of each term's idf weight."""
    unseen_idf2: float
    """That of a term that no row has had."""
    cluster_lists: Lists
    clusters: Clusters


class Scratch(NamedTuple):
    """Zero before and after every row: dot products with rows, sums of cosines to clusters, the row itself spread over
    all terms. Then room for lists of what was touched."""

    dots: Singles
    sums: Floats
    spread: Floats
    touched: Ints


class Batch(NamedTuple):
    """The rows that come: terms and `1 + ln x` of row i are at `indptr[i] .. indptr[i + 1] - 1`."""

    indptr: Ints
    terms: Ints
    values: Floats


class Query(NamedTuple):
    """One row that is compared with the past: `weighted` is `values * idf2`."""

    terms: Ints
    values: Floats
    weighted: Floats
    inverse_norm: float
    day: float
    tick: float
    per_day: float
    """1 / the unit of ages."""
    beta: float
    join_beta: float
    kappa: float
    silence_floor: float


class Nearest(NamedTuple):
    """The k best earlier rows, best first: aged and plain cosines, which they are, their ages in units, and what the
    strongest term adds to each cosine. And the best one by its plain cosine, whatever its age (arrays of one)."""

    scores: Floats
    cosines: Floats
    ordinals: Ints
    ages: Floats
    strongest: Floats
    plain_cosine: Floats
    plain_ordinal: Ints


class Findings(NamedTuple):
    """What was found of each row of a batch."""

    days: Floats
    """When it came."""
    aged: Floats
    """Its k best earlier rows: aged cosines,"""
    cosines: Floats
    """plain cosines,"""
    ordinals: Ints
    """which they are, -1: none,"""
    ages: Floats
    """how old, in the unit of then,"""
    strongest: Floats
    """and what the strongest term adds to each plain cosine."""
    strength: Floats
    """How much matches aged when it came."""
    centroid: Floats
    """CEN, the faded cosine to the nearest cluster."""
    largeness: Floats
    """z, from 0 to 1: how large the nearest clusters of the rows before it were."""
    cluster_weights: Floats
    """How much CEN counts, if no earlier row is alike."""
    labels: Ints
    """Its cluster,"""
    joined_cosines: Floats
    """the cosine to it,"""
    joined_sizes: Ints
    """and its size before; 0 where the row opened it."""


def new_scratch(capacity: int, width: int) -> Scratch:
    """For an index of this many slots and terms."""
    # One more than there are slots: the entry after the last is written before it is known whether it stays.
    touched = np.empty(capacity + 1, dtype=np.int64)
    return Scratch(np.zeros(capacity, dtype=np.float32), np.zeros(capacity), np.zeros(width), touched)


def new_findings(n: int, k: int) -> Findings:
    """For n rows and their k best neighbours each."""
    return Findings(
        days=np.zeros(n),
        aged=np.zeros((n, k)),
        cosines=np.zeros((n, k)),
        ordinals=np.full((n, k), -1, dtype=np.int64),
        ages=np.zeros((n, k)),
        strongest=np.zeros((n, k)),
        strength=np.zeros(n),
        centroid=np.zeros(n),
        largeness=np.zeros(n),
        cluster_weights=np.zeros(n),
        labels=np.zeros(n, dtype=np.int64),
        joined_cosines=np.zeros(n),
        joined_sizes=np.zeros(n, dtype=np.int64),
    )
