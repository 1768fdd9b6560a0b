"""How much speaks for a document and a story telling of one happening."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from firststory.arrays import Floats, Singles
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.stories.layout import JoinRule, Learnt, Members, PairWeights, Stories
from firststory.kernels.stories.row_table import RowTable, dots_with, fill
from firststory.units import DAY_SECONDS

MIN_OPENING_SHARE = 0.2
"""Where fewer documents open stories the threshold falls no further."""


class Newcomer(NamedTuple):
    """A document that is compared with stories; its row is in the table."""

    log_terms: float
    time: float
    """In seconds; NaN where there is none."""
    ordinal: int
    vector: Singles


class Pairs(NamedTuple):
    """Room for what is known of a document and each member of a story."""

    cosine: Floats
    odds: Floats
    """The log-odds, days between the two considered and cut at `largest_odds`."""
    timeless_odds: Floats


@kernel
def new_pairs(n: int) -> Pairs:
    """Room for n members."""
    return Pairs(np.empty(n), np.empty(n), np.empty(n))


@part_of_kernel
def days_between(time: float, ordinal: int, other_time: float, other_ordinal: int, documents_per_day: float) -> float:
    """Days from the other to this one; where one has no time, by the documents that came between."""
    if math.isnan(time) or math.isnan(other_time):
        return (ordinal - other_ordinal) / documents_per_day
    return (time - other_time) / DAY_SECONDS


@part_of_kernel
def longness(log_terms: float, rule: JoinRule) -> float:
    """0 for a short text, 1 for a long one, between them by the logarithm of the number of terms."""
    share = (log_terms - rule.log_short_terms) / (rule.log_long_terms - rule.log_short_terms)
    return min(max(share, 0.0), 1.0)


@part_of_kernel
def weights_of_long(learnt: Learnt, rule: JoinRule) -> PairWeights:
    """The weights for long texts: where documents have little in common, a cosine says more."""
    background = learnt.background[0] / learnt.background[1]
    share = (background - rule.sparse_background) / (rule.dense_background - rule.sparse_background)
    share = min(max(share, 0.0), 1.0)
    sparse, dense = rule.sparse, rule.long
    return PairWeights(
        sparse.cosine + share * (dense.cosine - sparse.cosine),
        sparse.title + share * (dense.title - sparse.title),
        sparse.vector + share * (dense.vector - sparse.vector),
        sparse.lag + share * (dense.lag - sparse.lag),
        sparse.constant + share * (dense.constant - sparse.constant),
    )


@part_of_kernel
def weights_of_short(alike: float, rule: JoinRule) -> PairWeights:
    """The weights for short texts, given the product of their vectors: exactly 0 where one of them is not known."""
    return rule.wordy if alike == 0.0 else rule.short


@kernel
def mean_of_best(values: Floats, n: int, n_best: int) -> float:
    """The mean of the n_best largest of the first n values."""
    if n == 1:
        return float(values[0])
    largest = values[:n] if n_best >= n else np.sort(values[:n])[n - n_best :]
    return float(largest.mean())


@kernel
def row_of(members: Members, m: int) -> tuple:  # type: ignore[type-arg]
    """The columns, weights and title weights of a member."""
    span = slice(members.start[m], members.start[m] + members.length[m])
    return members.columns[span], members.weights[span], members.title_weights[span]


@part_of_kernel
def fill_with(table: RowTable, members: Members, m: int) -> None:
    """Replace the row in the table by that of a member."""
    span = slice(members.start[m], members.start[m] + members.length[m])
    fill(table, members.columns[span], members.weights[span], members.title_weights[span])


@part_of_kernel
def dots_with_member(table: RowTable, members: Members, m: int) -> tuple[float, float]:
    """The dot products of the row in the table with that of a member, of the texts and of the titles."""
    span = slice(members.start[m], members.start[m] + members.length[m])
    return dots_with(table, members.columns[span], members.weights[span], members.title_weights[span])


@part_of_kernel
def weigh(
    table: RowTable,
    newcomer: Newcomer,
    members: Members,
    stories: Stories,
    slot: int,
    long: PairWeights,
    rule: JoinRule,
    pairs: Pairs,
) -> tuple[float, float]:
    """The log-odds of a document with a story, and the same with time left aside; `pairs` is filled.

    The mean of those with the members that speak for it most. Short texts say too little one by one: for them it is
    the log-odds with the sum of the members.
    """
    n = stories.n_members[slot]
    # Of a short text and several members only the sum is asked.
    is_sum_enough = n > 1 and longness(newcomer.log_terms, rule) == 0.0
    cosine_sum, least_lag, u = 0.0, math.inf, 0.0
    for k in range(n):
        m = stories.members[slot, k]
        cosine, title = dots_with_member(table, members, m)
        days = days_between(
            newcomer.time, newcomer.ordinal, members.time[m], members.ordinal[m], rule.documents_per_day
        )
        lag = math.log1p(abs(days))
        pairs.cosine[k] = cosine
        cosine_sum += cosine
        least_lag = min(least_lag, lag)
        if is_sum_enough:
            continue
        u = longness(min(newcomer.log_terms, members.log_terms[m]), rule)
        alike = 0.0
        if u < 1.0 or long.vector != 0.0:
            for d in range(members.vector.shape[1]):
                alike += np.float64(newcomer.vector[d]) * np.float64(members.vector[m, d])
        short = weights_of_short(alike, rule)
        timeless = u * (long.cosine * cosine + long.title * title + long.vector * alike + long.constant)
        timeless += (1.0 - u) * (short.cosine * cosine + short.title * title + short.vector * alike + short.constant)
        odds = timeless + (u * long.lag + (1.0 - u) * short.lag) * lag
        pairs.timeless_odds[k] = timeless
        pairs.odds[k] = min(max(odds, -rule.largest_odds), rule.largest_odds)
    odds, timeless = 0.0, 0.0
    if not is_sum_enough:
        odds = mean_of_best(pairs.odds, n, rule.n_best[n])
        timeless = mean_of_best(pairs.timeless_odds, n, rule.n_best[n])
    if u < 1.0 and n > 1:
        alike, squared = 0.0, 0.0
        for d in range(members.vector.shape[1]):
            alike += newcomer.vector[d] * stories.vector_sum[slot, d]
            squared += stories.vector_sum[slot, d] ** 2
        short = weights_of_short(alike, rule)
        whole = (
            short.cosine * cosine_sum / max(math.sqrt(max(stories.squared_norm[slot], 0.0)), 1e-9)
            + short.vector * alike / max(math.sqrt(squared), 1e-9)
            + short.constant
        )
        odds = u * odds + (1.0 - u) * min(whole + short.lag * least_lag, rule.largest_odds)
        timeless = u * timeless + (1.0 - u) * whole
    return odds, timeless


@part_of_kernel
def threshold_for(log_terms: float, learnt: Learnt, rule: JoinRule) -> float:
    """The log-odds from which on a document joins, as the stream is at present."""
    u = longness(log_terms, rule)
    short = rule.short_threshold + rule.pull * math.log(max(learnt.opening_share[0], MIN_OPENING_SHARE))
    return u * rule.threshold + (1.0 - u) * short
