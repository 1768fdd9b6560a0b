"""The arrays of the stories' sums by what they are about, and the rule of joining: what the kernels take."""

from __future__ import annotations

from typing import NamedTuple

from firststory.arrays import Columns, Floats, Ints


class JoinRule(NamedTuple):
    """When a row joins a sum; `firststory.stories.tracker` has the formulas."""

    join: float
    """The threshold where every second row begins a sum."""
    short_join: float
    """The same for a short row."""
    short_terms: int
    """The most terms that a short row has."""
    pull: float
    """How much the threshold follows the share of rows that begin sums."""
    least_threshold: float
    cohesion: float
    """The part of the usual cosine with a sum that a row must reach to join it."""
    gap_exponent: float
    """With which the closeness falls with the days since the last row."""
    opening_decay: float
    """Of the share of rows that begin sums, at each row."""


class Sums(NamedTuple):
    """Sums of sparse rows, all in one buffer: slot s has `columns[start[s] : start[s] + length[s]]`, in order."""

    columns: Columns
    weights: Floats
    start: Ints
    length: Ints
    room: Ints
    """Entries that a sum may have where it lies."""


class SlotStatistics(NamedTuple):
    """What is known of the sum S in each slot."""

    squared_norm: Floats
    """|S|^2."""
    n_joined: Ints
    """Rows that joined after the first."""
    cosine_sum: Floats
    """The sum of the cosines that those rows had with S as it was before them."""
    last: Floats
    """The latest time of a row, in seconds; NaN where none had a time."""
    key: Ints
    """The number of the story whose sum it is."""


class Rows(NamedTuple):
    """Sparse rows that look for their place, in the order of the stream."""

    indptr: Ints
    columns: Columns
    weights: Floats
    times: Floats
    """In seconds; NaN where a row has none."""
    candidates: Ints
    """The slots that each row may join; -2 - j is the slot where row j of these went, -1 none."""


class Placed(NamedTuple):
    """Where rows went."""

    slot: Ints
    runner_up: Ints
    """The slot that the row could have joined as well; -1 where there is none."""
    closeness: Floats
    """To the closest sum, days since its last row considered."""
    cosine: Floats
    """With the sum that it joined; 1 where it began one."""
