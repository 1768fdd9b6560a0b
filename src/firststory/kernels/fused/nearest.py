"""One row against the window: its nearest neighbours and its nearest cluster."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.clusters import nearest_cluster
from firststory.kernels.fused.layout import Clusters, Nearest, Query, Scratch, Window
from firststory.kernels.fused.rows import nearest_rows
from firststory.kernels.fused.rule import Rule
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.layout import Lists


@kernel
def as_query(
    terms: Ints, values: Floats, day: float, tick: float, rule: Rule, strength: float, unit_days: float, idf2: Floats,
    unseen_idf2: float,
) -> tuple[float, Query]:  # fmt: skip
    """The row's norm, and the row as it is compared with the past."""
    weighted, square = np.empty(len(terms)), 0.0
    for a in range(len(terms)):
        weighted[a] = values[a] * (idf2[terms[a]] if terms[a] < len(idf2) else unseen_idf2)
        square += values[a] * weighted[a]
    norm = math.sqrt(square + 1e-30)
    ageing = rule.short if len(terms) <= rule.short_terms else rule.long
    query = Query(
        terms, values, weighted, 1.0 / norm, day, tick, 1.0 / unit_days, strength * ageing.beta,
        strength * ageing.join_beta, ageing.kappa, 1.0 - strength * (1.0 - rule.silence_floor),
    )  # fmt: skip
    return norm, query


@kernel
def compare_row(
    terms: Ints,
    values: Floats,
    day: float,
    tick: float,
    max_postings: int,
    rule: Rule,
    strength: float,
    unit_days: float,
    idf2: Floats,
    unseen_idf2: float,
    window: Window,
    cluster_lists: Lists,
    clusters: Clusters,
    in_use: int,
    scratch: Scratch,
    nearest: Nearest,
) -> tuple[float, float, int, int, float]:
    """The row's norm; CEN, and the size of that cluster; the cluster to join (slot, -1: none), and the cosine to it.

    The k best rows go to `nearest`.
    """
    norm, query = as_query(terms, values, day, tick, rule, strength, unit_days, idf2, unseen_idf2)
    centroid, size, joined, cosine = nearest_cluster(
        query, rule, cluster_lists, clusters, in_use, scratch.sums, scratch.touched
    )
    nearest_rows(query, max_postings, window, scratch, nearest)
    return norm, centroid, size, joined, cosine
