"""Vectors of short texts: the sum of their words' vectors, and likeness in words blended with likeness in meaning."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.ageing import lagged
from firststory.kernels.fused.tally import BETA, SHORT, SHORT_BETA, SHORT_STRONG, STRONG
from firststory.kernels.jit import kernel

Vectors = NDArray[np.float32]

UNKNOWN = -1
"""In the place of the pieces of a word that the table does not know."""


@kernel
def to_unit(vectors: Vectors) -> None:
    """Every row to length one, in place; a row of zeros stays."""
    for i in range(vectors.shape[0]):
        square = 0.0
        for a in range(vectors.shape[1]):
            square += float(vectors[i, a]) * float(vectors[i, a])
        if square > 0.0:
            inverse = 1.0 / math.sqrt(square)
            for a in range(vectors.shape[1]):
                vectors[i, a] *= inverse


@kernel
def sum_pieces(
    words: NDArray[np.int32], begin: Ints, first: Ints, parts: NDArray[np.int32], table: Vectors, out: Vectors
) -> None:
    """out[i] += table[p] for the pieces p of the words of text i, unless it has more unknown words than known pieces.

    The words of text i are words[begin[i]:begin[i + 1]], the pieces of word w parts[first[w]:first[w + 1]].
    """
    for i in range(len(begin) - 1):
        unknown, pieces = 0, 0
        for a in range(begin[i], begin[i + 1]):
            w = words[a]
            unknown += parts[first[w]] == UNKNOWN
            pieces += first[w + 1] - first[w]
        if 2 * unknown > pieces:
            continue
        for a in range(begin[i], begin[i + 1]):
            for p in range(first[words[a]], first[words[a] + 1]):
                if parts[p] != UNKNOWN:
                    for b in range(table.shape[1]):
                        out[i, b] += table[parts[p], b]


@kernel
def has_meaning(vector: Vectors) -> bool:
    """Whether it is not all zeros."""
    for value in vector:  # noqa: SIM110 (plain loops are what numba compiles best)
        if value != 0.0:
            return True
    return False


@kernel
def blend_nearest(
    weight: float,
    lengths: Ints,
    days: Floats,
    vectors: Vectors,
    cosines: Floats,
    ordinals: Ints,
    neighbour: Floats,
    knobs: Floats,
    first: int,
    begun: int,
    past: Vectors,
    past_days: Floats,
    blended: Floats,
) -> None:
    """NN of the rows that have a vector, over their nearest earlier rows: c -> (1 - weight) c + weight max(0, v).

    c is the cosine of two rows and v that of their vectors, c itself where the earlier row has none. `neighbour` is NN
    without vectors. Row i is the ordinal first + i; earlier ones from `begun` on lie in the ring `past`; what lies
    before that has NN without vectors as its score. Other rows of `blended` are left as they are.
    """
    for i in range(len(lengths)):
        if not has_meaning(vectors[i]):
            continue
        beta, strong = knobs[BETA], knobs[STRONG]
        if lengths[i] <= knobs[SHORT]:
            beta, strong = knobs[SHORT_BETA], knobs[SHORT_STRONG]
        best = 0.0
        for t in range(ordinals.shape[1]):
            j = ordinals[i, t]
            if j < 0:
                continue
            if j < begun:
                best = max(best, neighbour[i])
                continue
            if j >= first:
                other, day = vectors[j - first], days[j - first]
            else:
                other, day = past[j % len(past)], past_days[j % len(past)]
            likeness = cosines[i, t]
            if has_meaning(other):
                dot = 0.0
                for a in range(len(other)):
                    dot += vectors[i, a] * other[a]
                likeness = (1.0 - weight) * likeness + weight * min(max(dot, 0.0), 1.0)
            best = max(best, lagged(likeness, days[i] - day, beta, strong))
        blended[i] = best
