"""What is learnt of time: how long a day is where documents have no times, in what unit matches age, and how much."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats
from firststory.kernels.fused.layout import Pace
from firststory.kernels.fused.rule import Rule
from firststory.kernels.jit import part_of_kernel

LAG_BINS, AGE_BINS, MIDDLE_BIN = 64, 80, 32
"""Bins of half an octave each; the middle one begins at PRIOR_LAG_ROWS documents, or at one day."""

PRIOR_LAG_ROWS = 10.0
"""One sure match this many documents back is believed beforehand."""

UNCAPPED_ROWS = 20
"""The first gaps are not capped, and nothing is learnt of the first matches, for want of a past."""

GOLDEN = 0.6180339887498949
"""Multiples of this, less their whole parts, are spread evenly: rows by chance without a random number."""


@part_of_kernel
def advanced(
    given: float, timed: bool, count: int, gap_cap: float, before: float, tick: float, day_rows: float
) -> tuple[float, float]:
    """Day and tick of the next row, `count` having come before, the last at day `before` and this tick; `given` is its
    day where it has a time.

    The tick is the stream's own clock, for the silence of clusters: a gap counts at most `gap_cap` times the mean gap
    so far, and never less than a day's worth. A long silence of the whole stream then says nothing about any one
    cluster. Without times each row is a part of a day, and nothing is capped.
    """
    if count == 0:
        return (given if timed else before), tick
    day = max(before, given) if timed else before + 1.0 / day_rows
    gap = day - before
    if timed and count > UNCAPPED_ROWS:
        gap = min(gap, max(gap_cap * tick / count, 1.0))
    return day, tick + gap


@part_of_kernel
def half_octave(ratio: float, bins: int) -> int:
    """The bin of a lag or an age, as a multiple of where the middle bin begins."""
    return min(max(int(2.0 * (math.log2(max(ratio, 1e-9)) + MIDDLE_BIN // 2)), 0), bins - 1)


@part_of_kernel
def median_beyond(matches: Floats, chance: Floats, explained: float, total: float, prior: float) -> float:
    """The weighted median of `matches - explained * chance`, which add up to `total`, with `prior` in the middle bin.

    As a multiple of where the middle bin begins; within a bin on a logarithmic scale.
    """
    half, below = (total + prior) / 2.0, 0.0
    for b in range(len(matches)):
        own = matches[b] - explained * chance[b] + (prior if b == MIDDLE_BIN else 0.0)
        if below + own >= half:
            return float(2.0 ** ((b + (half - below) / max(own, 1e-9)) / 2.0 - MIDDLE_BIN // 2))
        below += own
    return 1.0


@part_of_kernel
def learn_match(
    lag: int, alive: int, age: float, chance_age: float, timed: bool, cosine: float, rule: Rule, keep: float, pace: Pace
) -> None:
    """The nearest of the rows alive, by its plain cosine, lies `lag` rows back and is `age` days old; one taken by
    chance is `chance_age` days old. What was learnt before counts less with every row (`keep`).

    - Strength: chance puts as many matches into the older half of the past as into the newer one. Twice the share of
      those that lie in the older half is what chance explains at most; matches age by what it does not explain.
    - Unit, with times: a part of the median age of matches beyond chance, and at least a day.
    - Day, without times: as many rows as half of the matches go back, each counting with its cosine ** 4; copies do
      not count. Where the order of arrival says nothing, matches lie anywhere in the past; a day is then of the order
      of the stream's length.
    """
    weight = cosine * (1.0 - cosine)
    pace.matches[0] = pace.matches[0] * keep + weight
    pace.old_matches[0] = pace.old_matches[0] * keep + (weight if 2 * lag > alive else 0.0)
    explained = min(1.0, 2.0 * pace.old_matches[0] / (pace.matches[0] + rule.prior_matches))
    pace.strength[0] = min(1.0, (1.0 - explained) / rule.full_share)
    if timed:
        matches, chance = pace.match_ages, pace.chance_ages
        for b in range(AGE_BINS):
            matches[b] *= keep
            chance[b] *= keep
        matches[half_octave(age, AGE_BINS)] += weight
        chance[half_octave(chance_age, AGE_BINS)] += weight
        beyond = (1.0 - explained) * pace.matches[0]
        median = median_beyond(matches, chance, explained, beyond, rule.prior_matches)
        pace.unit_days[0] = max(1.0, median / rule.unit_part)
    else:
        lags = pace.lag_mass
        for b in range(LAG_BINS):
            lags[b] *= keep
        lags[half_octave(lag / PRIOR_LAG_ROWS, LAG_BINS)] += cosine**4 * (1.0 - cosine**rule.copy_power)
        pace.day_rows[0] = PRIOR_LAG_ROWS * median_beyond(lags, lags, 0.0, lags.sum(), 1.0)


@part_of_kernel
def row_by_chance(count: int, alive: int) -> int:
    """How many rows after the oldest, of those alive; another one for each count."""
    share = count * GOLDEN
    return int((share - math.floor(share)) * alive)


@part_of_kernel
def learnt_size(log_size: float, size: int, keep: float) -> float:
    """The running mean of ln(size) after a row whose nearest cluster had this many rows; 0: there was none."""
    return log_size + (1.0 - keep) * (math.log(max(size, 1)) - log_size)


@part_of_kernel
def largeness(log_size: float, count: int, rule: Rule, keep: float) -> tuple[float, float]:
    """z for the neighbours, and the weight of clusters, of the row that `count` others have come before.

    g is the geometric mean of the sizes of the latest rows' nearest clusters, which begins at one. The weight of
    clusters goes mostly by g / (g + large_size), which is slow to rise; z forgets sooner that g began at one, and asks
    for less while the stream is young.
    """
    size = math.exp(log_size)
    slow = size / (size + rule.large_size)
    larger = math.exp(log_size / (1.0 - keep ** (count + 1 + rule.start_rows))) - 1.0
    z = larger / (larger + rule.large_size * (1.0 - keep ** (count + 1)))
    return z, rule.max_cluster_weight * ((1.0 - rule.early_part) * slow + rule.early_part * z)


def new_pace() -> Pace:
    """Before the first row."""
    return Pace(
        lag_mass=np.zeros(LAG_BINS),
        day_rows=np.full(1, PRIOR_LAG_ROWS),
        match_ages=np.zeros(AGE_BINS),
        chance_ages=np.zeros(AGE_BINS),
        matches=np.zeros(1),
        old_matches=np.zeros(1),
        strength=np.ones(1),
        unit_days=np.ones(1),
        log_size=np.zeros(1),
        day=np.zeros(1),
        tick=np.zeros(1),
    )
