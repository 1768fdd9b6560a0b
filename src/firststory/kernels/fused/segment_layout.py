"""What travels between the driver of a segmented window and its segments, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firststory.arrays import Flags, Floats, Ints, Slots


class Ask(NamedTuple):
    """Rows that every segment compares with its own: terms and values of row i are at `indptr[i] .. indptr[i + 1] - 1`.

    Days, ticks, strength and unit are what they are for the first row; for later ones, what they are believed to be.
    """

    indptr: Ints
    terms: Ints
    values: Floats
    days: Floats
    ticks: Floats
    oldest: Ints
    """The first ordinal that is alive when a row is judged."""
    exact: Flags
    """Whether all of a row's terms are looked at,"""
    walked: Flags
    """and where not, which of them: one for each of `terms`."""
    strength: float
    unit_days: float


class Entries(NamedTuple):
    """Clusters and the sums of the cosines to their rows, for row i at `indptr[i] .. indptr[i + 1] - 1`."""

    indptr: Ints
    clusters: Slots
    sums: Floats


class Answer(NamedTuple):
    """What a segment has found for each row."""

    cosines: Floats
    """Its best rows by aged cosine, n x k: plain cosines,"""
    ordinals: Ints
    """which they are, -1: none,"""
    strongest: Floats
    """what the strongest term adds,"""
    scores: Floats
    """and the score by which they were chosen: of the terms walked where not all were."""
    plain_cosines: Floats
    """The best by plain cosine,"""
    plain_ordinals: Ints
    """which it is, -1: none,"""
    plain_walked: Floats
    """and its cosine by the terms walked."""
    entries: Entries
    """The clusters that count: those that may change within the step, and the best of the others."""


class SegmentClusters(NamedTuple):
    """What a segment knows of its clusters as of the step's start."""

    scale: Floats
    size: Ints
    day: Floats
    tick: Floats
    label: Ints


class Gathered(NamedTuple):
    """The answers of all segments, with the driver's own numbers of clusters; rows and clusters of row i at
    `row_start[i] ..` and `entry_start[i] ..`."""

    row_start: Ints
    ordinals: Ints
    cosines: Floats
    strongest: Floats
    row_bounds: Floats
    """No other row of the window has a higher score, under what was believed."""
    plain_ordinals: Ints
    """The best of each segment by plain cosine, n x segments, -1: none,"""
    plain_cosines: Floats
    entry_start: Ints
    clusters: Slots
    labels: Ints
    sums: Floats
    fade_bounds: Floats
    """No cluster that is not there has a higher CEN, under what was believed,"""
    join_bounds: Floats
    """nor a higher score for joining."""
    changing: Ints
    """For each cluster the label under which it may change within the step; -1 where it may not."""


WHOLE = float(2**38)
"""Cluster sums are kept as whole multiples of 1 / WHOLE: adding and taking away cancel exactly."""


def empty_entries(n: int) -> Entries:
    """For n rows, none."""
    return Entries(np.zeros(n + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))
