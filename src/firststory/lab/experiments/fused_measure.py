"""Scores of the fused detector on a stream and what they cost, as a share of the plain neighbour's cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from firststory.arrays import Floats
from firststory.detectors.fused_novelty import RULE, FusedNovelty
from firststory.evaluate.tdt import bootstrap_costs, tdt_cost
from firststory.kernels.fused.layout import Findings
from firststory.lab.experiments.fused_streams import LabelledRows
from firststory.lab.experiments.plain_neighbour import plain_neighbour


class Setting(NamedTuple):
    """What is chosen with one corpus left out: from what size and how much clusters count, and what NN is."""

    large_size: float = RULE.large_size
    max_weight: float = RULE.max_cluster_weight
    best: int = 3

    def __str__(self) -> str:
        return f"size {self.large_size:g}, weight {self.max_weight:g}, {self.best} nearest"


class RecordingNovelty(FusedNovelty):
    """Keeps what the score is made of, so that other settings can be tried without another run."""

    def _parts(
        self, rows: sp.csr_matrix, about: Any, found: Findings, first: int, learn: bool
    ) -> tuple[Floats, Floats, Floats]:
        parts = super()._parts(rows, about, found, first, learn)
        # The weight of clusters goes by two kinds of largeness; this is the one that rises slowly.
        early = RULE.early_part
        slow = (found.cluster_weights / RULE.max_cluster_weight - early * found.largeness) / (1.0 - early)
        self.recorded = np.sort(found.aged[:, :4], axis=1)[:, ::-1], found.centroid, found.largeness, slow
        return parts

    def score_with(self, setting: Setting) -> Floats:
        """The scores of the last batch under another setting."""
        aged, centroid, *both = self.recorded
        z, slow = (_with_size(largeness, setting.large_size) for largeness in both)
        weight = setting.max_weight * ((1.0 - RULE.early_part) * slow + RULE.early_part * z) * (1.0 - aged[:, 0])
        z = z * (1.0 - aged[:, 0])
        neighbour = (1.0 - z) * aged[:, 0] + z * aged[:, : setting.best].mean(axis=1)
        scores: Floats = 1.0 - neighbour - weight * (centroid - neighbour)
        return scores


def _with_size(largeness: Floats, large_size: float) -> Floats:
    """What s / (s + RULE.large_size) would be with another size."""
    size = RULE.large_size * largeness / (1.0 - largeness)
    rescaled: Floats = size / np.maximum(size + large_size, 1e-12)
    return rescaled


@dataclass(frozen=True)
class Measured:
    """One score on one stream beside the plain neighbour on the same."""

    cost: float
    auc: float
    plain_cost: float
    plain_auc: float
    draws: Floats
    """Shares of the plain neighbour's cost in bootstrap draws of topics."""

    @property
    def share(self) -> float:
        return self.cost / max(self.plain_cost, 1e-9)

    @property
    def auc_gain(self) -> float:
        return self.auc - self.plain_auc

    @property
    def interval(self) -> tuple[float, float]:
        return interval(self.draws)


def interval(draws: Floats) -> tuple[float, float]:
    """The middle 95 % of the draws."""
    low, high = np.quantile(draws, [0.025, 0.975]) if len(draws) else (np.nan, np.nan)
    return float(low), float(high)


class Yardstick:
    """The plain neighbour on one stream; measures other scores against it."""

    def __init__(self, stream: LabelledRows, n_bootstrap: int) -> None:
        self.stream, self.n_bootstrap, self.first, self.judged = stream, n_bootstrap, stream.first, stream.judged
        score = plain_neighbour(stream.plain)
        self.cost, self.auc, self.draws = self.cost_of(score), self._auc(score), self._draws(score)

    def measure(self, score: Floats) -> Measured:
        draws = self._draws(score) / np.maximum(self.draws, 1e-9)
        return Measured(self.cost_of(score), self._auc(score), self.cost, self.auc, draws)

    def cost_of(self, score: Floats) -> float:
        """Topic-weighted."""
        return tdt_cost(self.first, score, self.stream.labels, n_bootstrap=0).topic_weighted

    def share_of(self, score: Floats) -> float:
        """Its cost as a share of the plain neighbour's."""
        return self.cost_of(score) / max(self.cost, 1e-9)

    def _auc(self, score: Floats) -> float:
        return float(roc_auc_score(self.first[self.judged], score[self.judged]))

    def _draws(self, score: Floats) -> Floats:
        return bootstrap_costs(self.first, score, self.stream.labels, n_bootstrap=self.n_bootstrap)


def fused_scores(stream: LabelledRows, kind: Any = FusedNovelty, *, timed: bool = True, **options: Any) -> Floats:
    """The detector over the whole stream, with times where it has any unless told otherwise."""
    scores: Floats = kind(**options).score_then_learn(
        stream.effective, times=stream.times if timed else None, vectors=stream.vectors
    )
    return scores
