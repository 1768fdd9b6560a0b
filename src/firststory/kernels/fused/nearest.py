"""One row against the window: its nearest neighbours and its nearest cluster."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.clusters import nearest_cluster
from firststory.kernels.fused.layout import Clusters, Lists, Log, Rows, Scratch
from firststory.kernels.fused.rows import nearest_rows
from firststory.kernels.fused.tally import (
    BETA,
    JOIN_BETA,
    SHORT,
    SHORT_BETA,
    SHORT_JOIN_BETA,
    SHORT_STRONG,
    STRONG,
    THETA,
)
from firststory.kernels.jit import kernel


@kernel
def look(
    terms: Ints,
    values: Floats,
    day: float,
    tick: float,
    budget: int,
    fresh: float,
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    lists: Lists,
    log: Log,
    rows: Rows,
    idf2: Floats,
    common: NDArray[np.bool_],
    held: Lists,
    clusters: Clusters,
    scratch: Scratch,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
) -> tuple[float, float, float, int, float]:
    """NN, CEN, the row's own norm, the cluster to join (slot, -1: none) and the cosine to it.

    `fresh` is the weight of terms that nobody has seen; the k best rows go to `scores`, `cosines` and `ordinals`.
    """
    query, square = np.empty(len(terms)), 0.0
    for a in range(len(terms)):
        query[a] = values[a] * (idf2[terms[a]] if terms[a] < len(idf2) else fresh)
        square += values[a] * query[a]
    norm = math.sqrt(square + 1e-30)
    beta, join_beta, strong = knobs[BETA], knobs[JOIN_BETA], knobs[STRONG]
    if len(terms) <= knobs[SHORT]:
        beta, join_beta, strong = knobs[SHORT_BETA], knobs[SHORT_JOIN_BETA], knobs[SHORT_STRONG]
    centroid, best, best_score, best_cosine = nearest_cluster(
        terms, query, 1.0 / norm, day, tick, join_beta, strong, knobs, tally, held, clusters, scratch
    )
    nearest_rows(
        terms, values, query, 1.0 / norm, day, beta, strong, budget, meta, lists, log, rows, common, scratch,
        scores, cosines, ordinals,
    )  # fmt: skip
    return scores[0], centroid, norm, best if best_score > knobs[THETA] else -1, best_cosine
