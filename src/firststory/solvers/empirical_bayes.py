"""Hyper-parameters of a Dirichlet-process mixture from a labelled history: π (A8), λ (A9), γ (A10) and γ_i (A11, A12).

The joint probability of documents and clusters (A7) factorises: γ sees only which documents opened a cluster, λ only
the word counts of whole clusters. Each solver returns its solution with the violation of its optimality condition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import digamma

from firststory.arrays import Floats

PRECISION_BOUNDS = (1.0, 1e8)
CONCENTRATION_BOUNDS = (1e-6, 1e6)
RATE_FLOOR = 1e-12
"""a, b and c of γ_i are not let under this: a often goes to nothing."""

_EXACT_SUM = 32


@dataclass(frozen=True)
class Root:
    """A scalar solution; `violation` is the stationarity condition there, `at_bound`: no change of sign was met."""

    value: float
    violation: float
    at_bound: bool


@dataclass(frozen=True)
class Rate:
    """γ_i = a/i + b + c·i (form 1) or a/(b + i) + c (form 2), and the log-likelihood (A12) it reached."""

    form: int
    a: float
    b: float
    c: float
    log_likelihood: float

    def at(self, i: Floats) -> Floats:
        """γ at positions i = 1, 2, …"""
        return rate(self.form, self.a, self.b, self.c, i)


def base_measure(totals: Floats, pseudo: float = 1.0, reserved: float = 0.0) -> tuple[Floats, float]:
    """π_v = (t_v + 1) / Σ_u (t_u + 1) (A8), and what a term that has no column yet gets.

    `reserved` terms that may still come stand in the denominator too, so that π need not be renormalised when they do.
    """
    mass = float(totals.sum()) + pseudo * (totals.shape[0] + reserved)
    if mass <= 0.0:
        return np.ones_like(totals), 1.0
    return (totals + pseudo) / mass, pseudo / mass


def digamma_rise(a: Floats, s: Floats) -> Floats:
    """ψ(a+s) − ψ(a); the sum of 1/(a+r) for small whole s, where the difference would cancel."""
    out = np.empty_like(a)
    whole = (s <= _EXACT_SUM) & (s == np.floor(s))
    out[~whole] = digamma(a[~whole] + s[~whole]) - digamma(a[~whole])
    short, left = np.zeros(int(whole.sum())), s[whole]
    at, base = np.arange(left.shape[0]), a[whole]
    for r in range(int(left.max(initial=0.0))):
        at = at[left[at] > r]  # most counts are small: the sums end soon
        short[at] += 1.0 / (base[at] + r)
    out[whole] = short
    return out


def precision_gradient(precision: float, clusters: sp.csr_matrix, base: Floats) -> float:
    """F(λ) of (A9): the derivative of the log-likelihood of cluster-aggregated counts."""
    sizes = np.asarray(clusters.sum(axis=1)).ravel()
    share = base[clusters.indices]
    words = share * digamma_rise(precision * share, clusters.data)
    return float((digamma(precision) - digamma(precision + sizes)).sum() + words.sum())


def base_precision(clusters: sp.csr_matrix, base: Floats, bounds: tuple[float, float] = PRECISION_BOUNDS) -> Root:
    """λ that maximises (A7): the root of (A9) in log λ.

    `clusters` holds one row of summed counts a *cluster*; single documents would measure burstiness instead, and come
    out an order of magnitude lower.
    """
    low, high = np.log(bounds[0]), np.log(bounds[1])

    def gradient(log_precision: float) -> float:
        return precision_gradient(float(np.exp(log_precision)), clusters, base)

    if gradient(low) <= 0.0:
        return Root(bounds[0], gradient(low), True)
    if gradient(high) >= 0.0:
        return Root(bounds[1], gradient(high), True)
    root = float(np.exp(brentq(gradient, low, high, xtol=1e-10)))
    return Root(root, precision_gradient(root, clusters, base), False)


def concentration(n_novel: int, position: Floats, bounds: tuple[float, float] = CONCENTRATION_BOUNDS) -> Root:
    """Constant γ (A10): as many new clusters are expected at the labelled positions i = 1, 2, … as were seen."""

    def excess(log_gamma: float) -> float:
        gamma = np.exp(log_gamma)
        return float((gamma / (gamma + position - 1.0)).sum() - n_novel)

    low, high = np.log(bounds[0]), np.log(bounds[1])
    if excess(low) >= 0.0:
        return Root(bounds[0], excess(low), True)
    if excess(high) <= 0.0:
        return Root(bounds[1], excess(high), True)
    root = brentq(excess, low, high, xtol=1e-12)
    return Root(float(np.exp(root)), excess(root), False)


def rate(form: int, a: float, b: float, c: float, i: Floats) -> Floats:
    """γ_i (A11)."""
    return a / (b + i) + c if form == 2 else a / i + b + c * i


def rate_log_likelihood(gamma: Floats, novel: NDArray[np.bool_], position: Floats) -> float:
    """(A12): Σ_novel log γ_i − Σ log(γ_i + i − 1)."""
    return float(np.log(gamma[novel]).sum() - np.log(gamma + position - 1.0).sum())


def concentration_over_time(novel: NDArray[np.bool_], position: Floats, form: int = 1) -> Rate:
    """a, b, c >= 0 of γ_i that maximise (A12): Nelder-Mead in their logarithms, from the constant γ and other starts.

    Never worse than the constant: that is one of the starts (form 1: a = c = 0; form 2: a = 0).
    """
    low, high = np.log(RATE_FLOOR), np.log(CONCENTRATION_BOUNDS[1])

    def cost(point: Floats) -> float:
        a, b, c = np.exp(np.clip(point, low, high))
        return -rate_log_likelihood(rate(form, a, b, c, position), novel, position)

    constant = np.log(concentration(int(novel.sum()), position).value)
    still = (low, constant, low) if form == 1 else (low, 0.0, constant)
    starts = [still, (0.0, 0.0, -8.0), (2.0, 1.0, -5.0), (-5.0, 2.0, -4.0), (4.0, 0.0, -10.0)]
    best_point, best_cost = np.asarray(still), cost(np.asarray(still))
    for begin in starts:
        found = minimize(
            cost, begin, method="Nelder-Mead", options={"maxiter": 4000, "maxfev": 4000, "xatol": 1e-4, "fatol": 1e-7}
        )
        if found.fun < best_cost:
            best_point, best_cost = found.x, float(found.fun)
    a, b, c = np.exp(np.clip(best_point, low, high))
    return Rate(form, float(a), float(b), float(c), -best_cost)
