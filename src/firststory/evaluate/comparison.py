"""Detectors side by side on one labelled stream: cost, AUC, detection delay, budget kept, story quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firststory.alerts.budget import parse_budget
from firststory.datasets.streams import label_names
from firststory.errors import ParameterError
from firststory.evaluate.budget_kept import BudgetKept
from firststory.evaluate.delay import Delay
from firststory.evaluate.production import Evaluation
from firststory.evaluate.tdt import DetCurve, TdtCost


@dataclass(frozen=True, slots=True)
class DetectorScore:
    """All figures of one detector."""

    name: str
    cost: TdtCost
    auc: float
    det: DetCurve
    delay: Delay
    budget: BudgetKept
    stories: dict[str, float]
    n_alerts: int
    precision: float
    """Share of the alerts on labelled documents that were first documents of a story."""
    documents_per_second: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Any number of detectors on one stream."""

    stream: str
    n_documents: int
    n_labelled: int
    n_stories: int
    budget: str
    scores: tuple[DetectorScore, ...]

    @property
    def best(self) -> DetectorScore:
        """The cheapest by the topic-weighted cost."""
        return min(self.scores, key=lambda score: (score.cost.topic_weighted, score.name))

    def table(self) -> list[dict[str, Any]]:
        """One row per detector, numbers only: for the terminal and for JSON."""
        return [
            {
                "detector": one.name,
                "cost_topic": one.cost.topic_weighted,
                "cost_topic_low": one.cost.interval[0],
                "cost_topic_high": one.cost.interval[1],
                "cost_story": one.cost.story_weighted,
                "auc": one.auc,
                "found_at_once": one.delay.at_once,
                "found": one.delay.ever,
                "delay_days": one.delay.median_days,
                "delay_documents": one.delay.median_documents,
                "alerts_per_day": one.budget.per_day,
                "alerts_per": one.budget.unit,
                "weeks_kept": one.budget.kept_weeks,
                "b_cubed_f1": one.stories["b_cubed_f1"],
                "nmi": one.stories["nmi"],
                "documents_per_second": one.documents_per_second,
            }
            for one in self.scores
        ]


def compare(
    name: str, evaluations: Sequence[Evaluation], budget: str | float = "20/day", n_bootstrap: int = 200
) -> Comparison:
    """All figures of each evaluation, side by side; they must be of the same stream.

    Examples
    --------
    >>> import numpy as np
    >>> from firststory.datasets.streams import TextStream
    >>> from firststory.records import Document
    >>> stream = TextStream("tiny", tuple(Document(str(i), "", label=label) for i, label in enumerate("aabab")))
    >>> novelty = np.array([0.9, 0.1, 0.8, 0.1, 0.2])
    >>> mine = Evaluation.from_scores("mine", stream, novelty, novelty > 0.5, story=list("xxyxy"))
    >>> result = compare("tiny", [mine], budget=0.5)
    >>> result.best.cost.topic_weighted, result.best.auc, result.best.delay.at_once
    (0.0, 1.0, 1.0)
    """
    first = evaluations[0]
    for other in evaluations[1:]:
        if other.topics.tolist() != first.topics.tolist():
            raise ParameterError(
                owner="compare",
                parameter="evaluations",
                allowed="of the same documents in the same order",
                received=f"{len(first.topics)} of {first.detector} and {len(other.topics)} of {other.detector}",
                remedy="Evaluate every detector on the same stream.",
            )
    if not first.labelled.any():
        raise ParameterError(
            owner="compare",
            parameter="the labels",
            allowed="given for some documents",
            received=f"{len(first.topics)} documents without one",
            remedy='Give each line a "label": documents of one story share it.',
            message="None of the documents has a label.",
        )
    understood = parse_budget(budget)
    return Comparison(
        stream=name,
        n_documents=len(first.topics),
        n_labelled=int(first.labelled.sum()),
        n_stories=len({one for topic in first.topics for one in label_names(topic)}),
        budget=understood.text,
        scores=tuple(
            DetectorScore(
                name=one.detector,
                cost=one.cost(n_bootstrap=n_bootstrap),
                auc=one.auc(),
                det=one.det(),
                delay=one.delay(),
                budget=one.budget_kept(understood),
                stories=one.story_scores(),
                n_alerts=int(one.is_novel.sum()),
                precision=one.precision(),
                documents_per_second=len(one.score) / one.seconds if one.seconds > 0 else float("nan"),
            )
            for one in evaluations
        ),
    )
