"""Moments of ordered pairs and triples of words, summed over sparse documents; nothing of size d x d is ever made.

A document is the slice `begin[t]:end[t]` of `indices` and `data` (CSR rows, or the slots of a pool). Every document
must hold at least three words: its L(L-1)(L-2) ordered triples are divided by.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.jit import kernel

Ints = NDArray[Any]


class MomentSums(NamedTuple):
    """The sums of (C4) in a frame of size r over d words; z is a document seen through the frame."""

    pairs: Floats
    """r x r, entries a >= b: s2 z_a z_b."""
    triples: Floats
    """r x r x r, entries a >= b >= e: s3 z_a z_b z_e."""
    word_triples: Floats
    """d x r: s3 c_i z."""
    word_second: Floats
    """d: s2 c_i."""
    word_third: Floats
    """d: s3 c_i."""
    first: Floats
    """d: c_i / L."""


@kernel
def add_documents(
    begin: Ints, end: Ints, indices: Ints, data: Floats, sign: float, basis: Floats, sums: MomentSums
) -> None:
    """Add (sign = 1) documents to the sums in the frame of `basis` (d x r), or take them away (sign = -1)."""
    pairs, triples = sums.pairs, sums.triples
    word_triples, word_second, word_third, first = sums.word_triples, sums.word_second, sums.word_third, sums.first
    r = basis.shape[1]
    z = np.zeros(r)
    for t in range(begin.shape[0]):
        length = 0.0
        z[:] = 0.0
        for p in range(begin[t], end[t]):
            count = data[p]
            length += count
            row = basis[indices[p]]
            for a in range(r):
                z[a] += count * row[a]
        second = sign / (length * (length - 1.0))
        third = second / (length - 2.0)
        for p in range(begin[t], end[t]):
            i = indices[p]
            count = data[p]
            first[i] += sign * count / length
            word_second[i] += second * count
            word_third[i] += third * count
            for a in range(r):
                word_triples[i, a] += third * count * z[a]
        for a in range(r):
            for b in range(a + 1):
                pairs[a, b] += second * z[a] * z[b]
                scale = third * z[a] * z[b]
                for e in range(b + 1):
                    triples[a, b, e] += scale * z[e]


@kernel
def apply_pairs(begin: Ints, end: Ints, indices: Ints, data: Floats, block: Floats, out: Floats) -> None:
    """out += sum_t M2(c_t) block, with M2(c) = (c c' - diag c) / (L(L-1)): the d x d matrix stays an operator."""
    r = block.shape[1]
    y = np.zeros(r)
    for t in range(begin.shape[0]):
        length = 0.0
        y[:] = 0.0
        for p in range(begin[t], end[t]):
            count = data[p]
            length += count
            row = block[indices[p]]
            for a in range(r):
                y[a] += count * row[a]
        second = 1.0 / (length * (length - 1.0))
        for p in range(begin[t], end[t]):
            i = indices[p]
            scale = second * data[p]
            for a in range(r):
                out[i, a] += scale * (y[a] - block[i, a])


@kernel
def project_documents(begin: Ints, end: Ints, indices: Ints, data: Floats, block: Floats, out: Floats) -> None:
    """out[t] = block' c_t."""
    r = block.shape[1]
    for t in range(begin.shape[0]):
        out[t, :] = 0.0
        for p in range(begin[t], end[t]):
            row = block[indices[p]]
            for a in range(r):
                out[t, a] += data[p] * row[a]


@kernel
def mirror(lower: Floats, full: Floats) -> None:
    """Fill a symmetric tensor from its entries a >= b >= e."""
    r = lower.shape[0]
    for a in range(r):
        for b in range(a + 1):
            for e in range(b + 1):
                x = lower[a, b, e]
                full[a, b, e] = x
                full[a, e, b] = x
                full[b, a, e] = x
                full[b, e, a] = x
                full[e, a, b] = x
                full[e, b, a] = x
