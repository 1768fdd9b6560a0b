"""How likeness to the past fades with time."""

from __future__ import annotations

import math

import numpy as np

from firststory.kernels.jit import part_of_kernel


@part_of_kernel
def lagged(cosine: float, days: float, beta: float, kappa: float) -> float:
    """cosine * (1 + days) ** (-beta (1 - cosine) ** kappa): the stronger a match, the less it ages."""
    if kappa > 0.0:
        beta *= (1.0 - cosine) ** kappa
    return cosine * math.exp(-beta * math.log(1.0 + days))


LOG_DAYS = np.log1p(np.arange(4096.0))
"""ln(1 + days) of whole days: never more than that of the days themselves."""


@part_of_kernel
def too_old(cosine: float, days: float, beta: float, kappa: float, least: float) -> bool:
    """Whether `lagged` is surely below `least`, without a logarithm or an exponential: e^-x <= 1 / (1 + x + x²/2)."""
    whole = min(max(int(days), 0), len(LOG_DAYS) - 1) if days < 1e9 else len(LOG_DAYS) - 1
    if kappa == 3.0:
        beta *= (1.0 - cosine) * (1.0 - cosine) * (1.0 - cosine)
    elif kappa == 1.0:
        beta *= 1.0 - cosine
    elif kappa > 0.0:
        return False
    x = beta * LOG_DAYS[whole]
    # A little less than the bound: the two sides are rounded.
    return bool(cosine < 0.999999 * least * (1.0 + x + 0.5 * x * x))


@part_of_kernel
def faded_part(cosine: float, kappa: float) -> float:
    """(1 - cosine) ** kappa, but for rounding: without a power for the kappas in use."""
    rest = 1.0 - cosine
    if kappa == 3.0:
        return rest * rest * rest
    return float(rest**kappa) if kappa > 0.0 else 1.0


@part_of_kernel
def least_cosine(score: float, days: float, beta: float, kappa: float) -> float:
    """A cosine below this is surely `lagged` to less than the score.

    With g(c) = score * (1 + days) ** (beta (1 - c) ** kappa), which falls, the cosine looked for is c = g(c): g of the
    score is never less than c, and g of that never more.
    """
    exponent = beta * math.log(1.0 + days)
    most = min(1.0, score * math.exp(exponent * faded_part(score, kappa)))
    # A little less: the two sides are rounded.
    return 0.999999 * score * math.exp(exponent * faded_part(most, kappa))


@part_of_kernel
def faded(cosine: float, days: float, floor: float, falling_days: float, kappa: float) -> float:
    """cosine * (floor + (1 - floor) exp(-days / falling_days)), the loss being less for a strong match."""
    loss = (1.0 - floor) * (1.0 - math.exp(-days / falling_days))
    if kappa > 0.0:
        loss *= (1.0 - cosine) ** kappa
    return cosine * (1.0 - loss)
