"""How like a row's nearest neighbours are, all told: words less what rests on one term, vectors, age."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.ageing import lagged
from firststory.kernels.fused.layout import Findings, Levels
from firststory.kernels.fused.rule import Rule
from firststory.kernels.jit import kernel

Vectors = NDArray[np.float32]

PRIOR_ROWS = 20.0
"""The weight of what running means begin with: the rows are short, and the best of a row's neighbours has"""

PRIOR_STRONGEST, PRIOR_WORDS, PRIOR_MEANING = 0.15, 0.3, 0.5
"""this strongest term, this likeness in words, and this cosine of the vectors."""


def new_levels() -> Levels:
    """Before the first row."""
    means = (1.0, PRIOR_STRONGEST, PRIOR_WORDS, PRIOR_MEANING)
    return Levels(*(np.array([PRIOR_ROWS * mean, PRIOR_ROWS]) for mean in means))


@kernel
def add_to_level(level: Floats, value: float, keep: float) -> None:
    """A running mean is kept as its sum and its weight."""
    level[0] = level[0] * keep + value
    level[1] = level[1] * keep + 1.0


@kernel
def has_meaning(vector: Vectors) -> bool:
    """Whether it is not all zeros."""
    for value in vector:  # noqa: SIM110 (plain loops are what numba compiles best)
        if value != 0.0:
            return True
    return False


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

    Words: the cosine c less `single_term` of what its strongest term adds. With times, where nearly all rows are short,
    short ones get the mean of that back: it is then credit for being recent, since it ages. Vectors: their cosine v is
    brought to the level of words, v - mean v + mean c, so that rows with and without one compare; then
    (1 - weight) c + weight v. Row i is the ordinal first + i; the vectors of earlier ones from `begun` on lie in the
    ring `past`.
    """
    short_rows, strongest, words, meaning = levels
    slow, quick = 0.5 ** (1.0 / rule.half_life), 0.5 ** (1.0 / rule.level_half_life)
    cosines, ordinals, ages, single, aged = found.cosines, found.ordinals, found.ages, found.strongest, found.aged
    for i in range(len(lengths)):
        short = lengths[i] <= rule.short_terms
        ageing = rule.short if short else rule.long
        beta, told = ageing.beta * found.strength[i], has_meaning(vectors[i])
        share, rows = short_rows[0] * slow + (1.0 if short else 0.0), short_rows[1] * slow + 1.0
        back = strongest[0] / strongest[1] * (share / rows) ** rule.short_power if timed and short else 0.0
        shift = words[0] / words[1] - meaning[0] / meaning[1]
        if learn:
            short_rows[0], short_rows[1] = share, rows
        for t in range(most):
            j = ordinals[i, t]
            if j < 0:
                break
            likeness = max(0.0, cosines[i, t] - rule.single_term * (single[i, t] - back))
            if told and j >= begun:
                other = vectors[j - first] if j >= first else past[j % len(past)]
                if has_meaning(other):
                    dot = 0.0
                    for a in range(len(other)):
                        dot += vectors[i, a] * other[a]
                    if learn and t == 0:
                        add_to_level(words, likeness, quick)
                        add_to_level(meaning, dot, quick)
                    likeness = (1.0 - weight) * likeness + weight * min(max(dot + shift, 0.0), 1.0)
            aged[i, t] = lagged(likeness, ages[i, t], beta, ageing.kappa)
        if learn and ordinals[i, 0] >= 0:
            add_to_level(strongest, single[i, 0], quick)


@kernel
def mean_of_best(aged: Floats, largeness: Floats, best: int) -> Floats:
    """NN = (1 - z) a1 + z (a1 + .. + a_best) / best, the a being each row's entries, largest first."""
    out = np.zeros(len(aged))
    for i in range(len(aged)):
        ordered = np.sort(aged[i])[::-1]
        out[i] = (1.0 - largeness[i]) * ordered[0] + largeness[i] * ordered[:best].sum() / best
    return out
