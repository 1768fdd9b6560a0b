"""Vectors of short texts: the sum of their words' vectors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Ints
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
