"""Clusters of the window: the nearest one to a row, and rows that join, open and leave one."""

from __future__ import annotations

import math

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.ageing import faded, lagged, too_old
from firststory.kernels.fused.layout import Clusters, Query, Tally
from firststory.kernels.fused.rule import Rule
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.layout import Lists
from firststory.kernels.neighbours.walk import walk


@kernel
def best_cluster(
    query: Query, rule: Rule, clusters: Clusters, n: int, every: bool, sums: Floats, touched: Ints
) -> tuple[float, int, int, float, float]:
    """What `nearest_cluster` finds, from the sums of cosines to the n clusters touched, or to `every` one of the first
    n, which become 0; and the score of the best to join, joined or not."""
    scale, size, label = clusters.scale, clusters.size, clusters.label
    day, tick, per_day, join_beta, kappa = query.day, query.tick, query.per_day, query.join_beta, query.kappa
    centroid, nearest = 0.0, -1
    best, best_score, best_cosine = -1, 0.0, 0.0
    for t in range(n):
        c = t if every else touched[t]
        cosine = sums[c] * scale[c]
        sums[c] = 0.0
        # Ageing only lowers a cosine, so that most clusters are out without their age being looked at.
        if cosine <= 0.0 or (cosine < centroid and cosine < best_score) or size[c] == 0:
            continue
        capped = min(1.0, cosine)
        if capped >= centroid:
            fading = faded(capped, tick - clusters.tick[c], query.silence_floor, rule.silence_days, kappa)
            # Of equals the one that was opened first.
            if fading > centroid or (fading == centroid and nearest >= 0 and label[c] < label[nearest]):
                centroid, nearest = fading, c
        if capped < best_score:
            continue
        age = (day - clusters.day[c]) * per_day
        if too_old(capped, age, join_beta, kappa, best_score):
            continue
        score = lagged(capped, age, join_beta, kappa)
        if score > best_score or (score == best_score and best >= 0 and label[c] < label[best]):
            best, best_score, best_cosine = c, score, cosine
    joins = best_score > rule.join_cosine
    return centroid, (size[nearest] if nearest >= 0 else 0), (best if joins else -1), best_cosine, best_score


@kernel
def nearest_cluster(
    query: Query, rule: Rule, lists: Lists, clusters: Clusters, in_use: int, sums: Floats, touched: Ints
) -> tuple[float, int, int, float]:
    """CEN, and the size of the cluster that it is to; the cluster to join (slot, -1: none) and the cosine to it.

    Cosines to all clusters follow from what each holds of the row's terms, without a look at their rows.
    """
    n = walk(query.terms, query.weighted * query.inverse_norm, query.terms < len(lists.start), lists, sums, touched,
             in_use)  # fmt: skip
    centroid, its_size, joined, cosine, _ = best_cluster(
        query, rule, clusters, in_use if n < 0 else n, n < 0, sums, touched
    )
    return centroid, its_size, joined, cosine


@kernel
def join_cluster(c: int, cosine: float, clusters: Clusters) -> None:
    """One member more, of this cosine to the cluster as it was."""
    clusters.square[c] += 1.0 + 2.0 * cosine * math.sqrt(clusters.square[c])
    clusters.scale[c] = 1.0 / math.sqrt(clusters.square[c])
    clusters.size[c] += 1


@kernel
def leave_cluster(c: int, tally: Tally, clusters: Clusters) -> None:
    """One member less: |S|^2 = m + m(m-1) c for a mean cosine c between members, which the leaver does not change."""
    m = clusters.size[c]
    if m == 1:
        clusters.free[tally.free[0]] = c
        tally.free[0] += 1
    else:
        mean = max(0.0, clusters.square[c] - m) / (m * (m - 1.0))
        clusters.square[c] = m - 1.0 + (m - 1.0) * (m - 2.0) * mean
        clusters.scale[c] = 1.0 / math.sqrt(clusters.square[c])
    clusters.size[c] = m - 1


@kernel
def open_cluster(tally: Tally, clusters: Clusters) -> int:
    """A cluster of one row in a free slot; labels are never used twice."""
    tally.free[0] -= 1
    c = clusters.free[tally.free[0]]
    clusters.square[c], clusters.scale[c], clusters.size[c], clusters.label[c] = 1.0, 1.0, 1, tally.opened[0]
    tally.opened[0] += 1
    tally.in_use[0] = max(tally.in_use[0], c + 1)
    return int(c)
