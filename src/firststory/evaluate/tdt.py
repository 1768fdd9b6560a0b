"""The TDT way of judging first story detection: minimum normalised detection cost and the DET curve.

    C_det  = C_miss P_miss P_target + C_FA P_FA (1 - P_target)
    C_norm = C_det / min(C_miss P_target, C_FA (1 - P_target))  =  P_miss + 4.9 P_FA  at the defaults         (A14)

A system that never alerts costs exactly 1. Story-weighted pools all documents; topic-weighted averages over topics.
Thresholds lie *between distinct scores*: documents with the same score move together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from firststory.arrays import Floats
from firststory.errors import ParameterError


@dataclass(frozen=True, slots=True)
class TdtCost:
    """Minimum normalised costs over all thresholds. `interval` is a bootstrap over topics of the topic-weighted one.

    `threshold` is the best for the topic-weighted cost: declare novel what scores above it.
    """

    story_weighted: float
    topic_weighted: float
    threshold: float
    n_targets: int
    interval: tuple[float, float]
    story_threshold: float
    story_interval: tuple[float, float]
    n_topics: int


@dataclass(frozen=True, slots=True)
class DetCurve:
    """Miss against false alarm, from "nothing is novel" to "everything is"; `threshold` declares scores above it."""

    p_miss: Floats
    p_fa: Floats
    threshold: Floats

    def deviates(self, clip: float = 1e-4) -> tuple[Floats, Floats]:
        """Both on the normal-deviate scale of a DET plot, clipped to [clip, 1 - clip]: (false alarm, miss)."""
        fa, miss = np.clip(self.p_fa, clip, 1 - clip), np.clip(self.p_miss, clip, 1 - clip)
        return ndtri(fa), ndtri(miss)


def tdt_cost(
    y: ArrayLike,
    score: ArrayLike,
    topics: ArrayLike | None = None,
    *,
    c_miss: float = 1.0,
    c_fa: float = 0.1,
    p_target: float = 0.02,
    lone_topics: Literal["zero", "omit"] = "zero",
    n_bootstrap: int = 200,
    confidence: float = 0.95,
    random_state: int = 0,
) -> TdtCost:
    """Minimum normalised detection cost, story-weighted and topic-weighted.

    Parameters
    ----------
    y : array of bool
        True for a first story (a target).
    score : array of float
        Higher is more novel. Need not be calibrated; only the order counts.
    topics : array or None
        The topic of each document; None (also inside the array) is an unlabelled document, which is streamed but
        not judged. Without topics the topic-weighted cost is the story-weighted one, each document its own topic.
    c_miss, c_fa, p_target : float
        The costs and the prior of TDT.
    lone_topics : {"zero", "omit"}
        A topic with a single document has no false alarms to make: count its rate as 0, or leave it out of the
        average of false alarms.
    n_bootstrap, confidence, random_state
        The interval resamples topics (documents where there are none), and finds the best threshold each time.

    References
    ----------
    Fiscus and Doddington, Topic Detection and Tracking Evaluation Overview, 2002.

    Examples
    --------
    >>> cost = tdt_cost([True, False, True, False], [0.9, 0.2, 0.8, 0.1], topics=["a", "a", "b", "b"])
    >>> cost.topic_weighted, cost.n_targets
    (0.0, 2)
    >>> tdt_cost([True, False, False], [0.5, 0.5, 0.5]).story_weighted
    1.0
    """
    target, values, group, n_groups = _judged(y, score, topics)
    norm = min(c_miss * p_target, c_fa * (1 - p_target))
    weights = (c_miss * p_target / norm, c_fa * (1 - p_target) / norm)
    sweep = _Sweep(values)

    pooled = np.zeros(len(values), dtype=np.int64)
    story, story_at = _minimum(sweep, target, pooled, np.ones(1), weights, "omit")
    if topics is None:
        topic, topic_at = story, story_at
    else:
        topic, topic_at = _minimum(sweep, target, group, np.ones(n_groups), weights, lone_topics)

    rng = np.random.default_rng(random_state)
    drawn_topic, drawn_story = [], []
    for _ in range(n_bootstrap):
        times = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups).astype(np.float64)
        if not (times[group] * target).any():
            continue
        drawn_story.append(_minimum(sweep, target, pooled, np.ones(1), weights, "omit", times[group])[0])
        if topics is not None:
            drawn_topic.append(_minimum(sweep, target, group, times, weights, lone_topics)[0])
    story_interval = _interval(drawn_story, confidence, story)
    return TdtCost(
        story_weighted=story,
        topic_weighted=topic,
        threshold=topic_at,
        n_targets=int(target.sum()),
        interval=_interval(drawn_topic, confidence, topic) if topics is not None else story_interval,
        story_threshold=story_at,
        story_interval=story_interval,
        n_topics=n_groups if topics is not None else 0,
    )


def bootstrap_costs(
    y: ArrayLike, score: ArrayLike, topics: ArrayLike, *, n_bootstrap: int = 200, random_state: int = 0
) -> Floats:
    """The minimum topic-weighted cost in each of `n_bootstrap` draws of topics, at the defaults of `tdt_cost`.

    The same seed draws the same topics whatever the scores are: subtract or divide two of these to compare in pairs.
    Draws without a target are left out.

    Examples
    --------
    >>> y, topics = [True, False, True, False], ["a", "a", "b", "b"]
    >>> perfect, useless = (bootstrap_costs(y, s, topics, n_bootstrap=3) for s in ([9, 1, 8, 2], [1, 1, 1, 1]))
    >>> (useless - perfect).tolist()
    [1.0, 1.0, 1.0]
    """
    target, values, group, n_groups = _judged(y, score, topics)
    sweep, rng, drawn = _Sweep(values), np.random.default_rng(random_state), []
    for _ in range(n_bootstrap):
        times = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups).astype(np.float64)
        if (times[group] * target).any():
            drawn.append(_minimum(sweep, target, group, times, (1.0, 4.9), "zero")[0])
    return np.array(drawn)


def det_curve(y: ArrayLike, score: ArrayLike, topics: ArrayLike | None = None) -> DetCurve:
    """Miss and false-alarm rate at every threshold; with `topics` averaged over topics.

    Examples
    --------
    >>> curve = det_curve([True, False], [0.9, 0.1])
    >>> curve.p_miss.tolist(), curve.p_fa.tolist()
    ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
    """
    target, values, group, n_groups = _judged(y, score, topics)
    sweep = _Sweep(values)
    if topics is None:
        group, n_groups = np.zeros(len(values), dtype=np.int64), 1
    miss, fa = _rates(sweep, target, group, np.ones(n_groups), "zero" if topics is not None else "omit", None)
    return DetCurve(p_miss=miss, p_fa=fa, threshold=sweep.thresholds)


class _Sweep:
    """Documents from the highest score down, and the ends of the blocks of equal scores."""

    def __init__(self, values: Floats) -> None:
        self.order = np.argsort(-values, kind="stable")
        down = values[self.order]
        ends = np.flatnonzero(np.diff(down) != 0) + 1
        self.cuts = np.concatenate([[0], ends, [len(down)]])
        """How many documents are declared novel at each threshold: none, one block, two blocks, ..., all."""
        above, below = down[ends - 1], down[ends]
        # Halfway, but never rounded up onto the upper score; works for infinite scores too.
        with np.errstate(invalid="ignore"):
            middle = below + (above - below) / 2
        middle = np.where(np.isfinite(middle) & (middle < above), middle, below)
        self.thresholds: Floats = np.concatenate([[down[0]], middle, [-np.inf]])


def _rates(
    sweep: _Sweep,
    target: NDArray[np.bool_],
    group: NDArray[np.int64],
    times: Floats,
    lone: str,
    document_times: Floats | None,
) -> tuple[Floats, Floats]:
    """(P_miss, P_FA) at every cut: averages over groups, each counted `times`, of the rates within the group."""
    count = np.ones(len(target)) if document_times is None else document_times
    n_target = np.bincount(group, weights=target * count, minlength=len(times))
    n_other = np.bincount(group, weights=~target * count, minlength=len(times))
    has_target, has_other = (n_target > 0) * times, (n_other > 0) * times
    fa_groups = times if lone == "zero" else has_other
    miss_share = np.divide(has_target, n_target, out=np.zeros_like(times), where=n_target > 0) / max(
        has_target.sum(), 1e-300
    )
    fa_share = np.divide(has_other, n_other, out=np.zeros_like(times), where=n_other > 0) / max(fa_groups.sum(), 1e-300)
    caught = np.where(target, miss_share[group], 0.0) * count
    alarm = np.where(target, 0.0, fa_share[group]) * count
    found = np.concatenate([[0.0], np.cumsum(caught[sweep.order])])[sweep.cuts]
    false = np.concatenate([[0.0], np.cumsum(alarm[sweep.order])])[sweep.cuts]
    # The sums end at one but for rounding; the ends of the curve are exact.
    miss = np.clip(1.0 - found, 0.0, 1.0)
    miss[-1] = 0.0
    return np.where(miss < 1e-12, 0.0, miss), np.clip(false, 0.0, 1.0)


def _minimum(
    sweep: _Sweep,
    target: NDArray[np.bool_],
    group: NDArray[np.int64],
    times: Floats,
    weights: tuple[float, float],
    lone: str,
    document_times: Floats | None = None,
) -> tuple[float, float]:
    miss, fa = _rates(sweep, target, group, times, lone, document_times)
    cost = weights[0] * miss + weights[1] * fa
    best = int(np.argmin(cost))
    return float(cost[best]), float(sweep.thresholds[best])


def _interval(drawn: list[float], confidence: float, value: float) -> tuple[float, float]:
    if not drawn:
        return (value, value)
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _judged(
    y: ArrayLike, score: ArrayLike, topics: ArrayLike | None
) -> tuple[NDArray[np.bool_], Floats, NDArray[np.int64], int]:
    """The documents that are judged: labelled ones, as (target, score, topic number, number of topics)."""
    target = np.asarray(y).astype(bool)
    values = np.asarray(score, dtype=np.float64)
    if target.ndim != 1 or target.shape != values.shape or np.isnan(values).any():
        raise ParameterError(
            owner="tdt_cost",
            parameter="score",
            allowed=f"one number (not NaN) for each of the {target.size} documents of y",
            received=f"an array of shape {values.shape} with {int(np.isnan(values).sum())} NaN",
            remedy="Pass the novelty of every document, in the order of y.",
        )
    if topics is None:
        group = np.arange(len(values), dtype=np.int64)
    else:
        names: list[Any] = topics.tolist() if isinstance(topics, np.ndarray) else list(cast(Sequence[Any], topics))
        if len(names) != len(values):
            raise ParameterError(
                owner="tdt_cost",
                parameter="topics",
                allowed=f"{len(values)} topics, one per document",
                received=len(names),
                remedy="Pass None for documents without a topic.",
            )
        number: dict[Any, int] = {}
        keys = [tuple(name) if isinstance(name, list) else name for name in names]
        kept = np.array([key is not None and key == key for key in keys], dtype=bool)
        group = np.array([number.setdefault(key, len(number)) for key, k in zip(keys, kept, strict=True) if k], int)
        target, values = target[kept], values[kept]
    if not target.any():
        raise ParameterError(
            owner="tdt_cost",
            parameter="y",
            allowed="at least one first story among the labelled documents",
            received="none",
            remedy="Without a target there is nothing to miss and no cost; check the labels.",
            message="None of the labelled documents is a first story.",
        )
    return target, values, group, int(group.max()) + 1
