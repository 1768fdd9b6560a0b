"""Which topic of now is which topic of before: the assignment with the largest total cosine (Hungarian method)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from firststory.arrays import Floats


def match_topics(previous: Floats, current: Floats) -> NDArray[Any]:
    """`order` such that `current[order]` stands row by row beside `previous`; current may have more columns."""
    overlap = previous @ current[:, : previous.shape[1]].T
    lengths = np.outer(np.linalg.norm(previous, axis=1), np.linalg.norm(current, axis=1))
    order: NDArray[Any] = linear_sum_assignment(-overlap / np.maximum(lengths, 1e-300))[1]
    return order
