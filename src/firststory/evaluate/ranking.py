"""ROC: one curve, and the area under it for each timestep, as the dictionary papers report it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from firststory.arrays import Floats
from firststory.evaluate.tdt import det_curve


@dataclass(frozen=True, slots=True)
class StepAuc:
    """AUC of each timestep; NaN where a step has no novel document, or nothing but."""

    step: NDArray[np.int64]
    auc: Floats
    n_novel: NDArray[np.int64]
    n_documents: NDArray[np.int64]

    @property
    def average(self) -> float:
        """Mean over the steps where it is defined."""
        defined = self.auc[~np.isnan(self.auc)]
        return float(defined.mean()) if defined.size else float("nan")


def roc_auc(y: ArrayLike, score: ArrayLike) -> float:
    """Area under the ROC curve; ties count one half. NaN where y has one class only.

    Examples
    --------
    >>> roc_auc([1, 0, 1, 0], [0.9, 0.1, 0.5, 0.5])
    0.875
    """
    target, values = np.asarray(y).astype(bool), np.asarray(score, dtype=np.float64)
    n_novel = int(target.sum())
    n_known = target.size - n_novel
    if not n_novel or not n_known:
        return float("nan")
    ranks = rankdata(values)
    return float((ranks[target].sum() - n_novel * (n_novel + 1) / 2) / (n_novel * n_known))


def roc_auc_by_step(y: ArrayLike, score: ArrayLike, step: ArrayLike) -> StepAuc:
    """AUC within each timestep.

    Examples
    --------
    >>> roc_auc_by_step([1, 0, 1, 0], [2, 1, 1, 2], step=[0, 0, 1, 1]).auc.tolist()
    [1.0, 0.0]
    """
    target, values, steps = np.asarray(y).astype(bool), np.asarray(score, dtype=np.float64), np.asarray(step)
    names = np.unique(steps)
    inside = [steps == name for name in names]
    return StepAuc(
        step=names,
        auc=np.array([roc_auc(target[rows], values[rows]) for rows in inside]),
        n_novel=np.array([int(target[rows].sum()) for rows in inside]),
        n_documents=np.array([int(rows.sum()) for rows in inside]),
    )


def roc_curve(y: ArrayLike, score: ArrayLike) -> tuple[Floats, Floats]:
    """(false-alarm rate, detection rate) at every threshold; equal scores move together."""
    curve = det_curve(y, score)
    return curve.p_fa, 1.0 - curve.p_miss
