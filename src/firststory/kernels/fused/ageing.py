"""How likeness to the past fades with time, and the clock that it fades by."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats
from firststory.kernels.jit import kernel


@kernel
def lagged(cosine: float, days: float, beta: float, strong: float) -> float:
    """cosine * (1 + days) ** (-beta (1 - cosine) ** strong): the stronger a match, the less it ages."""
    if strong > 0.0:
        beta *= (1.0 - cosine) ** strong
    return cosine * math.exp(-beta * math.log(1.0 + days))


LOG_DAYS = np.log1p(np.arange(4096.0))
"""ln(1 + days) of whole days: never more than that of the days themselves."""


@kernel
def too_old(cosine: float, days: float, beta: float, strong: float, least: float) -> bool:
    """Whether `lagged` is surely below `least`, without a logarithm or an exponential: e^-x <= 1 / (1 + x + x²/2)."""
    whole = min(max(int(days), 0), len(LOG_DAYS) - 1) if days < 1e9 else len(LOG_DAYS) - 1
    if strong == 3.0:
        beta *= (1.0 - cosine) * (1.0 - cosine) * (1.0 - cosine)
    elif strong == 1.0:
        beta *= 1.0 - cosine
    elif strong > 0.0:
        return False
    x = beta * LOG_DAYS[whole]
    # A little less than the bound: the two sides are rounded.
    return bool(cosine < 0.999999 * least * (1.0 + x + 0.5 * x * x))


@kernel
def needed(score: float, days: float, beta: float, strong: float) -> float:
    """A cosine below this is surely `lagged` to less than the score.

    With g(c) = score * (1 + days) ** (beta (1 - c) ** strong), which falls, the cosine looked for is c = g(c): g of the
    score is never less than c, and g of that never more.
    """
    exponent = beta * math.log(1.0 + days)
    most = min(1.0, score * math.exp(exponent * (1.0 - score) ** strong))
    # A little less: the two sides are rounded.
    return 0.999999 * score * math.exp(exponent * (1.0 - most) ** strong)


@kernel
def faded(cosine: float, days: float, floor: float, tau: float, strong: float) -> float:
    """cosine * (floor + (1 - floor) exp(-days / tau)), the loss being less for a strong match."""
    loss = (1.0 - floor) * (1.0 - math.exp(-days / tau))
    if strong > 0.0:
        loss *= (1.0 - cosine) ** strong
    return cosine * (1.0 - loss)


@kernel
def capped_clock(days: Floats, count: int, day: float, tick: float, cap: float) -> Floats:
    """The stream's own clock: a gap counts at most `cap` times the mean gap so far, and never less than a day's worth.

    A long silence of the whole stream then says nothing about any one cluster. `count` rows came before, the last at
    `day` when the clock showed `tick`; the first 20 gaps are not capped, for want of a mean.
    """
    out = np.empty(len(days))
    for i in range(len(days)):
        gap = days[i] - day if count + i > 0 else 0.0
        if count + i > 20:
            gap = min(gap, max(cap * tick / (count + i), 1.0))
        tick += gap
        day = days[i]
        out[i] = tick
    return out
