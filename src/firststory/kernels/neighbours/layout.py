"""The arrays of posting lists by what they are about, so that kernels take a handful of arguments."""

from __future__ import annotations

from typing import NamedTuple

from firststory.arrays import Floats, Ints, Slots


class Lists(NamedTuple):
    """For each term the members that have it and their weights: list v is `members[start[v] : start[v] + length[v]]`.

    Members are rows of a window, or clusters. A list may grow to `room[v]` entries where it lies.
    """

    start: Ints
    length: Ints
    room: Ints
    members: Slots
    weights: Floats


class Log(NamedTuple):
    """The rows themselves, by slot."""

    start: Ints
    length: Ints
    terms: Slots
    weights: Floats


class Limits(NamedTuple):
    """What is forgotten, and how similarity fades: `rate` is ln 2 / half-life, 0 where age does not matter."""

    window: int
    max_age: float
    rate: float


class Best(NamedTuple):
    """The k best of each row (n x k, best first): score, plain cosine, and ordinal, -1 where there is none."""

    scores: Floats
    cosines: Floats
    ordinals: Ints


class ClusterTable(NamedTuple):
    """What is known of each cluster slot: |C|^2, members, label, row and time of its latest member."""

    squares: Floats
    sizes: Ints
    labels: Ints
    last_row: Ints
    last_time: Floats


class ClusterRules(NamedTuple):
    """When a row joins a cluster, and when a cluster is forgotten."""

    threshold: float
    window: int
    max_age: float
    decay: bool
    weigh: bool
    """Whether counts get ltc weights."""


class NearestClusters(NamedTuple):
    """For each row: label, cosine, size and age of the nearest cluster."""

    labels: Ints
    cosines: Floats
    sizes: Ints
    ages: Floats
