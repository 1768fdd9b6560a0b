"""Where a Dirichlet-process mixture gets π, λ and γ from: a labelled history, or the first documents of its own stream.

With labels: empirical Bayes (A8-A12), or λ by its detection cost on the history. Without: π is the word frequency of
the stream so far; λ is the one under which the first documents were predicted best, one after the other (the
prequential likelihood, which needs no labels); γ follows from how many clusters that replay opened.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.detectors.history import first_of_each, least_topic_cost
from firststory.detectors.mixture_clusters import MixtureClusters
from firststory.kernels.mixture.layout import Base, Judged, Rules
from firststory.solvers.empirical_bayes import (
    Rate,
    base_measure,
    base_precision,
    concentration,
    concentration_over_time,
)

FIRST_PRECISION = 500.0
"""λ until the first validation: where it came out on streams of news."""

GRID = 10.0 ** np.arange(1.0, 6.0, 0.5)
"""The values of λ that validation compares."""


def from_history(
    rows: sp.csr_matrix, label: Ints, precision: float | str, gamma: float | str, pseudo: float, reserved: float
) -> Base:
    """Hyper-parameters from rows in time order; label −1 where there is none."""
    totals = np.asarray(rows.sum(axis=0)).ravel()
    share, unseen = base_measure(totals, pseudo, reserved)
    known = np.flatnonzero(label >= 0)
    position = known.astype(np.float64) + 1.0
    rate = _rate(gamma, first_of_each(label[known]), position)
    if precision == "validation":
        value = _least_cost(rows, label, share, unseen, rate)
    elif isinstance(precision, str):
        root = base_precision(cluster_counts(rows, label), share)
        value = root.value
        if root.at_bound:
            warnings.warn(
                f"DirichletMixture: the likelihood of the history has no maximum in λ; {value:g} is used. The labelled "
                "clusters are too few or too alike: pass base_precision=... as a number.",
                stacklevel=4,  # the caller of fit
            )
    else:
        value = float(precision)
    return Base(value, value * share, value * unseen, rate.form, rate.a, rate.b, rate.c)


def from_stream(
    rows: sp.csr_matrix | None, totals: Floats, precision: float | str, gamma: float | str, pseudo: float,
    reserved: float, now: Base | None,
) -> Base:  # fmt: skip
    """Hyper-parameters from the stream so far: π from `totals`, λ and γ from the first documents, if rows are given."""
    share, unseen = base_measure(totals, pseudo, reserved)
    value = float(precision) if not isinstance(precision, str) else now.precision if now else FIRST_PRECISION
    rate = _as_rate(now) if now else _rate(gamma, np.ones(1, np.bool_), np.ones(1))
    if rows is not None:
        value, novel = _best_predicting(rows, share, unseen, rate, GRID if isinstance(precision, str) else [value])
        rate = _rate(gamma, novel, np.arange(1.0, novel.shape[0] + 1.0))
    return Base(value, value * share, value * unseen, rate.form, rate.a, rate.b, rate.c)


def cluster_counts(rows: sp.csr_matrix, label: Ints) -> sp.csr_matrix:
    """One row of summed counts for each label; rows without a label are left out."""
    known = np.flatnonzero(label >= 0)
    which = np.unique(label[known], return_inverse=True)[1]
    gather = sp.csr_matrix((np.ones(known.shape[0]), (which, known)), shape=(which.max(initial=-1) + 1, rows.shape[0]))
    return sp.csr_matrix(gather @ rows)


def _rate(gamma: float | str, novel: NDArray[np.bool_], position: Floats) -> Rate:
    if not isinstance(gamma, str):
        return Rate(1, 0.0, float(gamma), 0.0, np.nan)
    if novel.shape[0] < 2:
        return Rate(1, 0.0, 1.0, 0.0, np.nan)
    if gamma == "constant":
        return Rate(1, 0.0, concentration(int(novel.sum()), position).value, 0.0, np.nan)
    return concentration_over_time(novel, position, form=2 if gamma == "time-inverse" else 1)


def _as_rate(base: Base) -> Rate:
    return Rate(base.form, base.a, base.b, base.c, np.nan)


def _replay(rows: sp.csr_matrix, value: float, share: Floats, unseen: float, rate: Rate) -> tuple[Floats, Ints, Floats]:
    """Odds, labels and predictive log-likelihoods of a hard-decision run over rows."""
    n = rows.shape[0]
    clusters = MixtureClusters(Base(value, value * share, value * unseen, rate.form, rate.a, rate.b, rate.c), Rules())
    judged = Judged(np.empty(n), np.empty(n, np.int64), np.empty(n))
    clusters.learn(rows, None, 0, 0, judged)
    return judged.odds, judged.label, judged.evidence + clusters.base_evidence(rows)


def _best_predicting(
    rows: sp.csr_matrix, share: Floats, unseen: float, rate: Rate, grid: NDArray[np.float64] | list[float]
) -> tuple[float, NDArray[np.bool_]]:
    """λ of the highest prequential likelihood, and which documents opened a cluster under it."""
    runs = [_replay(rows, float(value), share, unseen, rate) for value in grid]
    best = int(np.argmax([evidence.sum() for _, _, evidence in runs]))
    label = runs[best][1]
    label = label[label >= 0]
    novel = np.diff(np.maximum.accumulate(label), prepend=-1) > 0
    return float(grid[best]), novel


def _least_cost(rows: sp.csr_matrix, label: Ints, share: Floats, unseen: float, rate: Rate) -> float:
    """λ whose scores on the history have the least topic-weighted detection cost."""
    costs = [least_topic_cost(_replay(rows, float(value), share, unseen, rate)[0], label) for value in GRID]
    return float(GRID[int(np.argmin(costs))])
