"""Vectors of short texts: the sum of their words' vectors, and likeness in words blended with likeness in meaning."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.ageing import lagged
from firststory.kernels.fused.rule import Rule
from firststory.kernels.jit import kernel

Vectors = NDArray[np.float32]

UNKNOWN = -1
"""In place of the pieces of a word that the table does not know."""


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
    rule: Rule,
    lengths: Ints,
    days: Floats,
    vectors: Vectors,
    cosines: Floats,
    ordinals: Ints,
    first: int,
    begun: int,
    past: Vectors,
    past_days: Floats,
    aged: Floats,
) -> None:
    """Where two rows have vectors, their cosine becomes (1 - weight) c + weight max(0, v), and ages as before.

    c is the cosine of the rows and v that of the vectors; the result goes to `aged`, for the neighbours that `cosines`
    and `ordinals` list. Row i is the ordinal first + i; earlier ones from `begun` on lie in the ring `past`.
    """
    for i in range(len(lengths)):
        if not has_meaning(vectors[i]):
            continue
        ageing = rule.short if lengths[i] <= rule.short_terms else rule.long
        for t in range(ordinals.shape[1]):
            j = ordinals[i, t]
            if j < begun or j < 0:
                continue
            if j >= first:
                other, day = vectors[j - first], days[j - first]
            else:
                other, day = past[j % len(past)], past_days[j % len(past)]
            if has_meaning(other):
                dot = 0.0
                for a in range(len(other)):
                    dot += vectors[i, a] * other[a]
                likeness = (1.0 - weight) * cosines[i, t] + weight * min(max(dot, 0.0), 1.0)
                aged[i, t] = lagged(likeness, days[i] - day, ageing.beta, ageing.kappa)


@kernel
def mean_of_best(aged: Floats, largeness: Floats, best: int) -> Floats:
    """NN = (1 - z) a1 + z (a1 + .. + a_best) / best, the a being each row's entries, largest first."""
    out = np.zeros(len(aged))
    for i in range(len(aged)):
        ordered = np.sort(aged[i])[::-1]
        out[i] = (1.0 - largeness[i]) * ordered[0] + largeness[i] * ordered[:best].sum() / best
    return out
