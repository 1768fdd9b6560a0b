"""One row against the window: nearest neighbour and nearest cluster in one pass over the posting lists.

A row whose lists are too long is judged in a shorter way with the same sums. From time to time it is gathered, for each
common term, what every cluster holds of it, so that the cosines to clusters need only the newest part of the long
lists. The nearest rows are found by the rarer terms, and by what an average row of their cluster has in common with
this one otherwise; then they get their exact cosine.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.ageing import faded, lagged, too_old
from firststory.kernels.cosine import keep_best
from firststory.kernels.fused_lanes import BORN, CLUSTER, DOT, INVERSE, MEAN, SQUARE, SUM, accumulate_lanes
from firststory.kernels.fused_tally import (
    BETA,
    FLOOR,
    JOIN_BETA,
    SHORT,
    SHORT_BETA,
    SHORT_JOIN_BETA,
    SHORT_STRONG,
    STRONG,
    SUMMED_AT,
    TAU,
    THETA,
)
from firststory.kernels.jit import kernel
from firststory.kernels.sparse_sums import product
from firststory.kernels.window import NEXT, OLDEST

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]


@kernel
def sum_newest(
    v: int,
    q: float,
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    lanes: Floats,
    c_lanes: Floats,
    clusters: Ints,
    n: int,
) -> int:
    """Add a common term's cosines with the rows since clusters were summed (the tail of its list) to their clusters."""
    mask, summed = len(lanes) - 1, tally[SUMMED_AT]
    newest = meta[NEXT] - summed
    p = start[v] + length[v] - 1
    while p >= start[v] and ((members[p] - summed) & mask) < newest:
        j = members[p]
        c = int(lanes[j, CLUSTER])
        before = c_lanes[c, SUM]
        clusters[n] = c
        n += before == 0.0
        c_lanes[c, SUM] = before + q * weights[p] * lanes[j, INVERSE]
        p -= 1
    return n


@kernel
def sum_common(
    terms: Ints,
    query: Floats,
    rare: NDArray[np.bool_],
    inverse_norm: float,
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    lanes: Floats,
    common: Slots,
    common_begin: Ints,
    holders: Slots,
    held: Floats,
    summed: Slots,
    portion: Floats,
    c_lanes: Floats,
    gathered: Floats,
    clusters: Ints,
) -> int:
    """What the common terms add to the clusters' sums; returns how many clusters are listed."""
    n = 0
    for a in range(len(terms)):
        if not rare[a]:
            g, q = common[terms[a]], query[a] * inverse_norm
            for p in range(common_begin[g], common_begin[g + 1]):
                gathered[holders[p]] += q * held[p]
            n = sum_newest(
                terms[a], q, meta, tally, start, length, members, weights, lanes, c_lanes, clusters, n
            )  # fmt: skip
    for k in range(len(summed)):
        c, value = summed[k], gathered[k]
        gathered[k] = 0.0
        if c >= 0 and value > 0.0:
            if c_lanes[c, SUM] == 0.0:
                clusters[n] = c
                n += 1
            c_lanes[c, SUM] += value
            c_lanes[c, MEAN] = value * portion[k]
    return n


@kernel
def look(
    terms: Ints,
    values: Floats,
    day: float,
    tick: float,
    k: int,
    budget: int,
    fresh: float,
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    idf2: Floats,
    lanes: Floats,
    common: Slots,
    common_begin: Ints,
    holders: Slots,
    held: Floats,
    summed: Slots,
    portion: Floats,
    c_lanes: Floats,
    c_day: Floats,
    c_tick: Floats,
    c_label: Ints,
    gathered: Floats,
    touched: Ints,
    clusters: Ints,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
) -> tuple[float, float, float, int, float]:
    """NN, CEN, the row's own norm, the cluster to join (slot, -1: none) and the cosine to it.

    When the row's lists hold more than `budget` postings together, those of common terms are walked for the newest
    rows only.
    """
    capacity, oldest = len(lanes), meta[OLDEST]
    mask, alive = capacity - 1, meta[NEXT] - oldest  # the capacity is a power of two
    query, square, total = np.empty(len(terms)), 0.0, 0
    for a in range(len(terms)):
        known = terms[a] < len(idf2)
        query[a] = values[a] * (idf2[terms[a]] if known else fresh)
        square += values[a] * query[a]
        total += length[terms[a]] if known else 0
    norm = math.sqrt(square + 1e-30)
    beta, join_beta, strong = knobs[BETA], knobs[JOIN_BETA], knobs[STRONG]
    if len(terms) <= knobs[SHORT]:
        beta, join_beta, strong = knobs[SHORT_BETA], knobs[SHORT_JOIN_BETA], knobs[SHORT_STRONG]
    inverse_norm = 1.0 / norm
    short = total > budget and len(holders) > 0
    n_clusters = 0
    if not short:
        scores, cosines, ordinals = scores[:k], cosines[:k], ordinals[:k]
        n = accumulate_lanes(terms, query, start, length, members, weights, lanes, touched, alive)
    else:
        rare = np.ones(len(terms), np.bool_)
        for a in range(len(terms)):
            rare[a] = terms[a] >= len(common) or common[terms[a]] < 0
        n_clusters = sum_common(
            terms, query, rare, inverse_norm, meta, tally, start, length, members, weights, lanes, common,
            common_begin, holders, held, summed, portion, c_lanes, gathered, clusters,
        )  # fmt: skip
        n = accumulate_lanes(terms[rare], query[rare], start, length, members, weights, lanes, touched, alive)
    for t in range(alive if n < 0 else n):
        j = (oldest + t) & mask if n < 0 else touched[t]
        dot = lanes[j, DOT]
        if dot <= 0.0:
            continue
        lanes[j, DOT] = 0.0
        cosine = min(1.0, dot * lanes[j, INVERSE] * inverse_norm)
        c = int(lanes[j, CLUSTER])
        before = c_lanes[c, SUM]
        clusters[n_clusters] = c
        n_clusters += before == 0.0
        c_lanes[c, SUM] = before + cosine
        if short:
            cosine = min(1.0, cosine + c_lanes[c, MEAN])
        if cosine >= scores[-1] and not too_old(cosine, day - lanes[j, BORN], beta, strong, scores[-1]):
            score = lagged(cosine, day - lanes[j, BORN], beta, strong)
            if score >= scores[-1]:
                keep_best(score, cosine, oldest + ((j - oldest) & mask), scores, cosines, ordinals)
    if short:
        found = ordinals.copy()
        scores[:], cosines[:], ordinals[:] = 0.0, 0.0, -1
        for ordinal in found:
            if ordinal >= 0:
                j = ordinal % capacity
                log = slice(log_start[j], log_start[j] + log_length[j])
                dot = product(terms, query, log_terms[log], log_weights[log])
                cosine = min(1.0, dot * lanes[j, INVERSE] * inverse_norm)
                score = lagged(cosine, day - lanes[j, BORN], beta, strong)
                keep_best(score, cosine, ordinal, scores, cosines, ordinals)
    centroid, best, best_score, best_cosine = 0.0, -1, 0.0, 0.0
    for t in range(n_clusters):
        c = clusters[t]
        cosine = c_lanes[c, SUM] / math.sqrt(c_lanes[c, SQUARE])
        c_lanes[c, SUM], c_lanes[c, MEAN] = 0.0, 0.0
        capped = min(1.0, cosine)
        # Ageing only lowers a cosine, so that most clusters are out without their age being looked at.
        if capped > centroid:
            centroid = max(centroid, faded(capped, tick - c_tick[c], knobs[FLOOR], knobs[TAU], strong))
        if capped < best_score or too_old(capped, day - c_day[c], join_beta, strong, best_score):
            continue
        score = lagged(capped, day - c_day[c], join_beta, strong)
        if score > best_score or (score == best_score and best >= 0 and c_label[c] < c_label[best]):
            best, best_score, best_cosine = c, score, cosine
    return scores[0], centroid, norm, best if best_score > knobs[THETA] else -1, best_cosine
