"""The clock that matches age by: the documents' own times, or a day as long as the stream's matches go back."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats
from firststory.kernels.fused.layout import Pace
from firststory.kernels.jit import kernel

LAG_BINS = 64
"""Of half an octave each; the middle one begins at PRIOR_LAG_ROWS."""

PRIOR_LAG_ROWS = 10.0
"""One sure match this many documents back is believed beforehand."""

UNCAPPED_ROWS = 20
"""The first gaps are not capped, and the first lags not learnt, for want of a past."""


@kernel
def advanced(given: float, timed: bool, count: int, gap_cap: float, pace: Pace) -> tuple[float, float]:
    """Day and tick of the next row, `count` having come before; `given` is its day where it has a time.

    The tick is the stream's own clock, for the silence of clusters: a gap counts at most `gap_cap` times the mean gap
    so far, and never less than a day's worth. A long silence of the whole stream then says nothing about any one
    cluster. Without times each row is a part of a day, and nothing is capped.
    """
    before = pace.day[0]
    if count == 0:
        return (given if timed else before), pace.tick[0]
    day = max(before, given) if timed else before + 1.0 / pace.day_rows[0]
    gap = day - before
    if timed and count > UNCAPPED_ROWS:
        gap = min(gap, max(gap_cap * pace.tick[0] / count, 1.0))
    return day, pace.tick[0] + gap


@kernel
def learn_lag(lag: int, cosine: float, keep: float, pace: Pace) -> None:
    """The nearest earlier row, by its plain cosine, lies `lag` rows back: a day is as many rows as half of such
    matches go back, each counting with its cosine ** 4 and less with every row since (`keep`).

    Where the order of arrival says nothing, matches lie anywhere in the past; a day is then of the order of the
    stream's length, and hardly anything ages.
    """
    mass = pace.lag_mass
    mass *= keep
    mass[min(max(int(2.0 * (math.log2(lag / PRIOR_LAG_ROWS) + LAG_BINS // 4)), 0), LAG_BINS - 1)] += cosine**4
    pace.day_rows[0] = median_lag(mass)


@kernel
def median_lag(mass: Floats) -> float:
    """The weighted median, one match at PRIOR_LAG_ROWS added; within a bin on a logarithmic scale."""
    half, below = (mass.sum() + 1.0) / 2.0, 0.0
    for b in range(LAG_BINS):
        own = mass[b] + (1.0 if b == LAG_BINS // 2 else 0.0)
        if below + own >= half:
            return float(PRIOR_LAG_ROWS * 2.0 ** ((b + (half - below) / max(own, 1e-9)) / 2.0 - LAG_BINS // 4))
        below += own
    return PRIOR_LAG_ROWS


@kernel
def learn_size(size: int, keep: float, pace: Pace) -> None:
    """The nearest cluster had this many rows; 0 where there was none."""
    pace.log_size[0] += (1.0 - keep) * (math.log(max(size, 1)) - pace.log_size[0])


@kernel
def largeness(large_size: float, pace: Pace) -> float:
    """z = g / (g + large_size), g: the geometric mean of the sizes of the latest rows' nearest clusters."""
    size = math.exp(pace.log_size[0])
    return size / (size + large_size)


def new_pace() -> Pace:
    """Before the first row."""
    return Pace(np.zeros(LAG_BINS), np.full(1, PRIOR_LAG_ROWS), np.zeros(1), np.zeros(1), np.zeros(1))
