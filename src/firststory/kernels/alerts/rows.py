"""Rows for links: of a long text the title twice and its heaviest terms."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Flags, Floats, Ints
from firststory.kernels.jit import kernel

MAX_TERMS = 60
"""Heaviest terms that a row keeps: the rest hardly changes a cosine, and costs most of the time."""
N_HEAVY = 12
"""Heaviest terms by which, besides the title's, a document is named."""
TITLE_WEIGHT = 1.7
"""1 + ln 2: a word of the title counts as if it stood there twice."""
LEAST_WEIGHT = 0.02


@kernel
def link_row(columns: Ints, weights: Floats, in_title: Flags) -> tuple[Ints, Floats, int]:
    """The terms of a row for links and their weights, of unit length; those that name the document come first.

    The third value is how many they are: the terms of the title and the `N_HEAVY` heaviest.
    """
    n = len(columns)
    raised = np.empty(n)
    for a in range(n):
        raised[a] = weights[a] * (TITLE_WEIGHT if in_title[a] else 1.0)
    if n > N_HEAVY:
        order = np.argsort(-raised)
    else:
        order = np.arange(n)
    kept = min(n, MAX_TERMS)
    squares = 0.0
    for b in range(kept):
        squares += raised[order[b]] ** 2
    norm = math.sqrt(squares) if squares > 0.0 else 1.0
    terms, values = np.empty(kept, np.int64), np.empty(kept)
    out = n_named = 0
    for b in range(min(kept, N_HEAVY)):
        terms[out], values[out] = columns[order[b]], raised[order[b]] / norm
        out += 1
    for naming in (True, False):
        for b in range(N_HEAVY, kept):
            value = raised[order[b]] / norm
            if in_title[order[b]] == naming and value >= LEAST_WEIGHT:
                terms[out], values[out] = columns[order[b]], value
                out += 1
        if naming:
            n_named = out
    return terms[:out], values[:out], n_named


@kernel
def in_titles(indptr: Ints, columns: Ints, title_indptr: Ints, title_columns: Ints) -> Flags:
    """Of each term of each row, whether it is one of the row's title columns."""
    width = 0
    for column in columns:
        width = max(width, column + 1)
    owner, found = np.full(width, -1, np.int64), np.zeros(len(columns), np.bool_)
    for i in range(len(indptr) - 1):
        for p in range(title_indptr[i], title_indptr[i + 1]):
            if title_columns[p] < width:
                owner[title_columns[p]] = i
        for p in range(indptr[i], indptr[i + 1]):
            found[p] = owner[columns[p]] == i
    return found
