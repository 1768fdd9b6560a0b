"""Tails of the two distributions that chance is measured by."""

from __future__ import annotations

import math

from firststory.kernels.jit import part_of_kernel

MOST_SCORE = 60.0


@part_of_kernel
def gamma_poisson_score(k: int, shape: float, rate: float, time: float) -> float:
    """-log10 P(K >= k), K Poisson with mean `time` times a Gamma(shape, rate); at most 60.

    K is negative binomial: the tail is summed from its first term on, so that it is exact however small it is.
    """
    if k <= 0:
        return 0.0
    q = time / (rate + time)
    log_first = (
        math.lgamma(k + shape) - math.lgamma(shape) - math.lgamma(k + 1.0)
        + shape * math.log(rate / (rate + time)) + k * math.log(q)
    )  # fmt: skip
    total, term, j = 1.0, 1.0, k
    while True:
        term *= q * (j + shape) / (j + 1.0)
        total += term
        j += 1
        if term < 1e-12 * total and q * (j + shape) < j + 1.0:
            break
    return min(MOST_SCORE, max(0.0, -(log_first + math.log(total)) / math.log(10.0)))


@part_of_kernel
def binomial_score(k: int, n: int, share: float) -> float:
    """-log10 P(K >= k), K binomial of n trials; at most 60."""
    if k <= 0:
        return 0.0
    log_first = (
        math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
        + k * math.log(share) + (n - k) * math.log1p(-share)
    )  # fmt: skip
    odds = share / (1.0 - share)
    total, term = 1.0, 1.0
    for j in range(k, n):
        term *= odds * (n - j) / (j + 1.0)
        total += term
    return min(MOST_SCORE, max(0.0, -(log_first + math.log(total)) / math.log(10.0)))
