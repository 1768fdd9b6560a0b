"""The arrays of the fused detector's index by what they are about: kernels take a handful of these, not fifty."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firststory.arrays import Floats, Ints, Singles, Slots
from firststory.kernels.neighbours.layout import Lists, Log

__all__ = ["Clusters", "Lists", "Log", "Rows", "Scratch", "scratch"]


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


class Scratch(NamedTuple):
    """Zero before and after every row: dot products with rows, sums of cosines to clusters, the row itself spread over
    all terms. Then room for lists of what was touched."""

    dots: Singles
    sums: Floats
    spread: Floats
    touched: Ints


def scratch(capacity: int, width: int) -> Scratch:
    """For an index of so many slots and terms."""
    # One more than there are slots: the entry after the last is written before it is known whether it stays.
    touched = np.empty(capacity + 1, dtype=np.int64)
    return Scratch(np.zeros(capacity, dtype=np.float32), np.zeros(capacity), np.zeros(width), touched)
