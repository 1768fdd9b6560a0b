"""Detectors side by side on one labelled stream: cost, AUC, delay, budget kept, alerts, stories and storylines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firststory.alerts.budget import parse_budget
from firststory.datasets.streams import label_names
from firststory.errors import ParameterError
from firststory.evaluate.alerts import AlertScores
from firststory.evaluate.budget_kept import BudgetKept
from firststory.evaluate.delay import Delay
from firststory.evaluate.production import Evaluation
from firststory.evaluate.story_quality import StoryScores
from firststory.evaluate.tdt import DetCurve, TdtCost
from firststory.records import AlertKind

ALERT_LISTS: dict[str, tuple[AlertKind, ...]] = {
    "confirmed": ("confirmed",),
    "confirmed and turns": ("confirmed", "turn"),
    "first seen": ("first_seen",),
}


@dataclass(frozen=True, slots=True)
class DetectorScore:
    """All figures of one detector."""

    name: str
    cost: TdtCost
    auc: float
    det: DetCurve
    delay: Delay
    budget: BudgetKept
    stories: StoryScores
    storylines: StoryScores | None
    alerts: dict[str, AlertScores]
    """By the list that a person reads: confirmed, confirmed and turns, first seen."""
    n_novel: int
    precision: float
    """Share of the novel documents with a label that were first documents of a story."""
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
        """One row per detector: for the terminal and for JSON."""
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
                "novel_per_day": one.budget.per_day,
                "novel_per": one.budget.unit,
                "weeks_kept": one.budget.kept_weeks,
                "documents_per_second": one.documents_per_second,
                "alerts": {name: scores.as_dict() for name, scores in one.alerts.items()},
                "stories": one.stories._asdict(),
                "storylines": None if one.storylines is None else one.storylines._asdict(),
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
                storylines=one.storyline_scores(),
                alerts=_lists(one),
                n_novel=int(one.is_novel.sum()),
                precision=one.precision(),
                documents_per_second=len(one.score) / one.seconds if one.seconds > 0 else float("nan"),
            )
            for one in evaluations
        ),
    )


def _lists(evaluation: Evaluation) -> dict[str, AlertScores]:
    """Each list of alerts that has any; what is pushed is there even if it is empty."""
    kinds = {alert.kind for alert in evaluation.alerts}
    return {
        name: evaluation.alert_scores(*members)
        for name, members in ALERT_LISTS.items()
        if name == "confirmed" or members[-1] in kinds
    }
