"""One row against the window: its nearest neighbours and its nearest cluster."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.clusters import nearest_cluster
from firststory.kernels.fused.layout import Nearest, Past, Query, Scratch
from firststory.kernels.fused.rows import nearest_rows
from firststory.kernels.fused.rule import Rule
from firststory.kernels.jit import kernel


@kernel
def compare_row(
    terms: Ints,
    values: Floats,
    day: float,
    tick: float,
    max_postings: int,
    rule: Rule,
    past: Past,
    scratch: Scratch,
    nearest: Nearest,
) -> tuple[float, float, int, int, float]:
    """The row's norm; CEN, and the size of that cluster; the cluster to join (slot, -1: none), and the cosine to it.

    The k best rows go to `nearest`.
    """
    weighted, square = np.empty(len(terms)), 0.0
    for a in range(len(terms)):
        weighted[a] = values[a] * (past.idf2[terms[a]] if terms[a] < len(past.idf2) else past.unseen_idf2)
        square += values[a] * weighted[a]
    norm = math.sqrt(square + 1e-30)
    ageing = rule.short if len(terms) <= rule.short_terms else rule.long
    strength = past.pace.strength[0]
    query = Query(
        terms, values, weighted, 1.0 / norm, day, tick, 1.0 / past.pace.unit_days[0], strength * ageing.beta,
        strength * ageing.join_beta, ageing.kappa, 1.0 - strength * (1.0 - rule.silence_floor),
    )  # fmt: skip
    centroid, size, joined, cosine = nearest_cluster(query, rule, past, scratch)
    nearest_rows(query, max_postings, past, scratch, nearest)
    return norm, centroid, size, joined, cosine
