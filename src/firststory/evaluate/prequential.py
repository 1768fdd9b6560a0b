"""Test, then train: every row is scored by what was learnt before it, and then learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from firststory.arrays import Floats
from firststory.errors import ParameterError
from firststory.evaluate.ranking import StepAuc, roc_auc, roc_auc_by_step
from firststory.evaluate.tdt import TdtCost, tdt_cost


@dataclass(frozen=True, slots=True)
class Prequential:
    """Scores of a whole stream, each given before the row was learnt. The first `n_initial` rows were only learnt."""

    score: Floats
    step: NDArray[np.int64]
    y: NDArray[np.bool_]
    topics: NDArray[Any] | None

    def auc(self) -> float:
        """Area under the ROC curve of the pooled stream."""
        return roc_auc(self.y, self.score)

    def auc_by_step(self) -> StepAuc:
        """AUC of each timestep."""
        return roc_auc_by_step(self.y, self.score, self.step)

    def cost(self, **options: Any) -> TdtCost:
        """Minimum normalised TDT cost."""
        return tdt_cost(self.y, self.score, self.topics, **options)


def prequential(
    detector: Any,
    X: sp.spmatrix | ArrayLike,
    y: ArrayLike,
    times: ArrayLike | None = None,
    step: int = 1000,
    *,
    topics: ArrayLike | None = None,
    n_initial: int = 0,
) -> Prequential:
    """Drive a detector over rows in the order of time, as the pipeline does.

    Parameters
    ----------
    detector : estimator with `score_then_learn`
    X : rows in the order of time; y : bool, True for first stories; topics : label of each row
    times : seconds, for detectors that use them
    step : rows per timestep
    n_initial : rows that only initialise the detector and are not judged

    Examples
    --------
    >>> import firststory as fs
    >>> stream = fs.datasets.make_story_stream(200, 20)
    >>> X = fs.text.StreamVectorizer(language="en").fit_transform(stream.texts)
    >>> result = prequential(fs.NearestNeighbour(), X, stream.first_story, stream.times, step=50)
    >>> result.auc() > 0.8
    True
    """
    rows = sp.csr_matrix(X)
    target = np.asarray(y).astype(bool)
    if rows.shape[0] != target.size or not isinstance(step, int) or step < 1:
        raise ParameterError(
            owner="prequential",
            parameter="step" if rows.shape[0] == target.size else "y",
            allowed="a whole number of rows >= 1; y has one value per row",
            received=step if rows.shape[0] == target.size else target.size,
            remedy=f"X has {rows.shape[0]} rows.",
        )
    clock = None if times is None else np.asarray(times)
    scores, steps = [], []
    cuts = [0, *range(n_initial, rows.shape[0], step)] if n_initial else list(range(0, rows.shape[0], step))
    for number, start in enumerate(cuts):
        stop = cuts[number + 1] if number + 1 < len(cuts) else rows.shape[0]
        # Detectors that know no time take none: the keyword is passed only where there is a clock.
        timed = {} if clock is None else {"times": clock[start:stop]}
        given = detector.score_then_learn(rows[start:stop], **timed)
        if start >= n_initial:
            scores.append(given)
            steps.append(np.full(stop - start, number, dtype=np.int64))
    named = None if topics is None else np.asarray(topics, dtype=object)[n_initial:]
    return Prequential(np.concatenate(scores), np.concatenate(steps), target[n_initial:], named)
