"""How like a row's nearest neighbours are, all told: words less what rests on one term, vectors, age, youth."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.ageing import lagged
from firststory.kernels.fused.layout import Findings, Levels
from firststory.kernels.fused.rule import Rule
from firststory.kernels.jit import kernel, part_of_kernel

Vectors = NDArray[np.float32]

PRIOR_ROWS = 20.0
"""The weight of what running means begin with: the rows are short, and the best of a row's neighbours has"""

PRIOR_STRONGEST, PRIOR_WORDS, PRIOR_MEANING = 0.15, 0.3, 0.5
"""this strongest term, this likeness in words, and this cosine of the vectors."""


def new_levels() -> Levels:
    """Before the first row."""
    means = (1.0, PRIOR_STRONGEST, PRIOR_WORDS, PRIOR_MEANING)
    return Levels(*(np.array([PRIOR_ROWS * mean, PRIOR_ROWS]) for mean in means))


@part_of_kernel
def add_to_level(level: Floats, value: float, keep: float) -> None:
    """A running mean is kept as its sum and its weight."""
    level[0] = level[0] * keep + value
    level[1] = level[1] * keep + 1.0


@part_of_kernel
def has_meaning(vectors: Vectors, row: int) -> bool:
    """Whether a row is not all zeros."""
    for a in range(vectors.shape[1]):  # noqa: SIM110 (plain loops are what numba compiles best)
        if vectors[row, a] != 0.0:
            return True
    return False


@part_of_kernel
def dot_product(vectors: Vectors, row: int, others: Vectors, other: int) -> float:
    """Of one row and another."""
    total = 0.0
    for a in range(vectors.shape[1]):
        total += vectors[row, a] * others[other, a]
    return total


@kernel
def blend_nearest(
    weight: float,
    rule: Rule,
    timed: bool,
    learn: bool,
    lengths: Ints,
    vectors: Vectors,
    first: int,
    begun: int,
    past: Vectors,
    levels: Levels,
    found: Findings,
    most: int,
) -> None:
    """The likeness of each row to its `most` nearest, aged: goes to `found.aged`.

    Words: the cosine c less what rests on one term, `single_term * (1 - c)` of what the strongest one adds; a copy
    loses nothing. With times, where nearly all rows are short, short ones get the mean of that back: it is then credit
    for being recent, since it ages. Vectors: their cosine v is brought to the level of words, v - mean v + mean c, so
    that rows with and without one compare; then (1 - weight) c + weight v. While the stream is young a likeness counts
    less, but for copies: what little was told so far seldom holds the first report. Row i is the ordinal first + i, or,
    if nothing is learnt, the next one like all others; the vectors of earlier ones from `begun` on lie in `past`.
    """
    short_rows, strongest, words, meaning = levels
    slow, quick = 0.5 ** (1.0 / rule.half_life), 0.5 ** (1.0 / rule.level_half_life)
    cosines, ordinals, ages, single, aged = found.cosines, found.ordinals, found.ages, found.strongest, found.aged
    strength = found.strength
    for i in range(len(lengths)):
        short = lengths[i] <= rule.short_terms
        ageing = rule.short if short else rule.long
        beta, told = ageing.beta * strength[i], has_meaning(vectors, i)
        share, rows = short_rows[0] * slow + (1.0 if short else 0.0), short_rows[1] * slow + 1.0
        back = strongest[0] / strongest[1] * (share / rows) ** rule.short_power if timed and short else 0.0
        shift = words[0] / words[1] - meaning[0] / meaning[1]
        known = 1.0 + (first + i if learn else first)
        youth = rule.young_power * math.log(known / (known + rule.young_rows))
        if learn:
            short_rows[0], short_rows[1] = share, rows
        for t in range(most):
            j = ordinals[i, t]
            if j < 0:
                break
            c = cosines[i, t]
            likeness = max(0.0, c - rule.single_term * (1.0 - c) * (single[i, t] - back))
            if told and j >= begun:
                ours = j >= first
                other = j - first if ours else j % len(past)
                if has_meaning(vectors, other) if ours else has_meaning(past, other):
                    v = dot_product(vectors, i, vectors, other) if ours else dot_product(vectors, i, past, other)
                    if learn and t == 0:
                        add_to_level(words, likeness, quick)
                        add_to_level(meaning, v, quick)
                    likeness = (1.0 - weight) * likeness + weight * min(max(v + shift, 0.0), 1.0)
            aged[i, t] = lagged(likeness, ages[i, t], beta, ageing.kappa) * math.exp(youth * (1.0 - likeness))
        if learn and ordinals[i, 0] >= 0:
            add_to_level(strongest, single[i, 0], quick)


@kernel
def fuse(found: Findings, most: int) -> tuple[Floats, Floats]:
    """NN and w of each row. The stronger its best match, the less its second and third and the cluster count.

    With a1 >= a2 >= a3 the best of its `most` nearest, aged: NN = (1 - y) a1 + y (a1 + a2 + a3) / 3, y = z (1 - a1).
    """
    aged, largeness, weights = found.aged, found.largeness, found.cluster_weights
    neighbour, cluster_weight = np.zeros(len(aged)), np.zeros(len(aged))
    for i in range(len(aged)):
        first, second, third = 0.0, 0.0, 0.0
        for t in range(most):
            likeness = aged[i, t]
            if likeness > first:
                first, second, third = likeness, first, second
            elif likeness > second:
                second, third = likeness, second
            elif likeness > third:
                third = likeness
        y = largeness[i] * (1.0 - first)
        neighbour[i] = (1.0 - y) * first + y * (first + second + third) / 3.0
        cluster_weight[i] = weights[i] * (1.0 - first)
    return neighbour, cluster_weight
