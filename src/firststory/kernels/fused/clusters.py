"""The nearest cluster: cosines to all of them by what each holds of the row's terms, without a look at their rows."""

from __future__ import annotations

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.ageing import faded, lagged, too_old
from firststory.kernels.fused.layout import Clusters, Lists, Scratch
from firststory.kernels.fused.tally import FLOOR, IN_USE, TAU
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.walk import walk


@kernel
def nearest_cluster(
    terms: Ints,
    query: Floats,
    inverse_norm: float,
    day: float,
    tick: float,
    join_beta: float,
    strong: float,
    knobs: Floats,
    tally: Ints,
    held: Lists,
    clusters: Clusters,
    scratch: Scratch,
) -> tuple[float, int, float, float]:
    """CEN; the cluster that the row is nearest to when aged like a neighbour (slot, -1: none), its score and cosine."""
    sums, touched, scale, known = scratch.sums, scratch.touched, clusters.scale, terms < len(held.start)
    n = walk(terms, query * inverse_norm, known, held, sums, touched, tally[IN_USE])
    centroid, best, best_score, best_cosine = 0.0, -1, 0.0, 0.0
    for t in range(tally[IN_USE] if n < 0 else n):
        c = t if n < 0 else touched[t]
        cosine = sums[c] * scale[c]
        sums[c] = 0.0
        # Ageing only lowers a cosine, so that most clusters are out without their age being looked at.
        if cosine <= 0.0 or (cosine <= centroid and cosine < best_score) or clusters.size[c] == 0:
            continue
        capped = min(1.0, cosine)
        if capped > centroid:
            centroid = max(centroid, faded(capped, tick - clusters.tick[c], knobs[FLOOR], knobs[TAU], strong))
        if capped < best_score or too_old(capped, day - clusters.day[c], join_beta, strong, best_score):
            continue
        score = lagged(capped, day - clusters.day[c], join_beta, strong)
        if score > best_score or (score == best_score and best >= 0 and clusters.label[c] < clusters.label[best]):
            best, best_score, best_cosine = c, score, cosine
    return centroid, best, best_score, best_cosine
