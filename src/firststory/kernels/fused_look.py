"""One row against the window: nearest neighbour and nearest cluster in one pass over the posting lists.

A row whose lists are too long is judged in a shorter way with the same sums. From time to time it is gathered, for each
common term, what every cluster holds of it, so that the cosines to clusters need only the newest part of the long
lists. The nearest rows are found by the rarer terms and then get their exact cosine.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.ageing import faded, lagged
from firststory.kernels.cosine import accumulate, keep_best
from firststory.kernels.fused_tally import BETA, FLOOR, JOIN_BETA, STRONG, SUMMED_AT, SUMMED_OPENED, TAU, THETA
from firststory.kernels.jit import kernel
from firststory.kernels.window import NEXT, OLDEST

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]


@kernel
def shared_mass(terms: Ints, values: Floats, other: Slots, weights: Floats) -> float:
    """The dot product of two rows whose terms are in order."""
    a, b, total = 0, 0, 0.0
    while a < len(terms) and b < len(other):
        if terms[a] == other[b]:
            total += values[a] * weights[b]
            a += 1
            b += 1
        elif terms[a] < other[b]:
            a += 1
        else:
            b += 1
    return total


@kernel
def walk_newest(
    terms: Ints,
    query: Floats,
    rare: NDArray[np.bool_],
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    dots: Floats,
    touched: Ints,
    n: int,
) -> int:
    """Add the products of common terms with the rows since clusters were summed: the tails of the lists."""
    mask, summed = len(dots) - 1, tally[SUMMED_AT]
    newest = meta[NEXT] - summed
    for a in range(len(terms)):
        if rare[a]:
            continue
        p = start[terms[a]] + length[terms[a]] - 1
        while p >= start[terms[a]] and ((members[p] - summed) & mask) < newest:
            j = members[p]
            if n >= 0 and dots[j] == 0.0:
                touched[n] = j
                n += 1
            dots[j] += query[a] * weights[p]
            p -= 1
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
    inverse: Floats,
    born: Floats,
    cluster: Slots,
    common: Slots,
    common_begin: Ints,
    holders: Slots,
    held: Floats,
    summed: Slots,
    c_square: Floats,
    c_size: Ints,
    c_day: Floats,
    c_tick: Floats,
    c_label: Ints,
    dots: Floats,
    sums: Floats,
    touched: Ints,
    clusters: Ints,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
) -> tuple[float, float, float, int, float]:
    """NN, CEN, the row's own norm, the cluster to join (slot, -1: none) and the cosine to it.

    `dots` and `sums` are all zero before and after. When the row's lists hold more than `budget` postings together,
    those of common terms are walked for the newest rows only.
    """
    capacity, oldest = len(born), meta[OLDEST]
    mask, alive = capacity - 1, meta[NEXT] - oldest  # the capacity is a power of two
    query, square, total = np.empty(len(terms)), 0.0, 0
    for a in range(len(terms)):
        known = terms[a] < len(idf2)
        query[a] = values[a] * (idf2[terms[a]] if known else fresh)
        square += values[a] * query[a]
        total += length[terms[a]] if known else 0
    norm = math.sqrt(square + 1e-30)
    inverse_norm = 1.0 / norm
    short = total > budget and len(holders) > 0
    if not short:
        scores, cosines, ordinals = scores[:k], cosines[:k], ordinals[:k]
        n = accumulate(terms, query, start, length, members, weights, dots, touched, alive)
        n_clusters = 0
    else:
        rare = np.ones(len(terms), np.bool_)
        for a in range(len(terms)):
            rare[a] = terms[a] >= len(common) or common[terms[a]] < 0
        n = accumulate(terms[rare], query[rare], start, length, members, weights, dots, touched, alive)
        n = walk_newest(terms, query, rare, meta, tally, start, length, members, weights, dots, touched, n)
        n_clusters = 0
        for a in range(len(terms)):
            if not rare[a]:
                g = common[terms[a]]
                q = query[a] * inverse_norm
                for p in range(common_begin[g], common_begin[g + 1]):
                    sums[holders[p]] += q * held[p]
        for c in summed:
            # A slot that was given back since may belong to another cluster by now.
            if c_label[c] >= tally[SUMMED_OPENED] or c_size[c] == 0:
                sums[c] = 0.0
            elif sums[c] > 0.0:
                clusters[n_clusters] = c
                n_clusters += 1
    for t in range(alive if n < 0 else n):
        j = (oldest + t) & mask if n < 0 else touched[t]
        dot = dots[j]
        if dot <= 0.0:
            continue
        dots[j] = 0.0
        cosine = min(1.0, dot * inverse[j] * inverse_norm)
        c = cluster[j]
        if sums[c] == 0.0:
            clusters[n_clusters] = c
            n_clusters += 1
        sums[c] += cosine
        if cosine >= scores[-1]:
            score = lagged(cosine, day - born[j], knobs[BETA], knobs[STRONG])
            if score >= scores[-1]:
                keep_best(score, cosine, oldest + ((j - oldest) & mask), scores, cosines, ordinals)
    if short:
        found = ordinals.copy()
        scores[:], cosines[:], ordinals[:] = 0.0, 0.0, -1
        for ordinal in found:
            if ordinal >= 0:
                j = ordinal % capacity
                log = slice(log_start[j], log_start[j] + log_length[j])
                dot = shared_mass(terms, query, log_terms[log], log_weights[log])
                cosine = min(1.0, dot * inverse[j] * inverse_norm)
                score = lagged(cosine, day - born[j], knobs[BETA], knobs[STRONG])
                keep_best(score, cosine, ordinal, scores, cosines, ordinals)
    centroid, best, best_score, best_cosine = 0.0, -1, 0.0, 0.0
    for t in range(n_clusters):
        c = clusters[t]
        cosine = sums[c] / math.sqrt(c_square[c])
        sums[c] = 0.0
        capped = min(1.0, cosine)
        # Ageing only lowers a cosine, so that most clusters are out without their age being looked at.
        if capped > centroid:
            centroid = max(centroid, faded(capped, tick - c_tick[c], knobs[FLOOR], knobs[TAU], knobs[STRONG]))
        if capped < best_score:
            continue
        score = lagged(capped, day - c_day[c], knobs[JOIN_BETA], knobs[STRONG])
        if score > best_score or (score == best_score and best >= 0 and c_label[c] < c_label[best]):
            best, best_score, best_cosine = c, score, cosine
    return scores[0], centroid, norm, best if best_score > knobs[THETA] else -1, best_cosine
