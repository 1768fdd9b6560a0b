"""Detectors side by side on one labelled stream: cost, AUC, detection delay, budget kept, story quality."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.alerts.budget import UNTIMED_DAY_DOCUMENTS, Budget, parse_budget
from firststory.errors import ParameterError
from firststory.evaluate.clustering import clustering_scores
from firststory.evaluate.ranking import roc_auc
from firststory.evaluate.tdt import DetCurve, TdtCost, det_curve, tdt_cost
from firststory.records import Document, Verdict
from firststory.units import DAY_SECONDS

TOLERANCE = 0.2
"""A week has kept to the budget when it is within a fifth of it."""


@dataclass(frozen=True, slots=True)
class DetectorRun:
    """What one detector said of every document of the stream, in the stream's order."""

    name: str
    novelty: NDArray[np.float64]
    is_novel: NDArray[np.bool_]
    stories: NDArray[Any]
    seconds: float = float("nan")

    @classmethod
    def from_verdicts(cls, name: str, verdicts: Sequence[Verdict], seconds: float = float("nan")) -> DetectorRun:
        """Of the verdicts of a pipeline, one a document."""
        stories = np.empty(len(verdicts), dtype=object)
        for i, verdict in enumerate(verdicts):
            # A document without a story is a story of its own.
            stories[i] = verdict.story if verdict.story is not None else ("alone", i)
        return cls(
            name=name,
            novelty=np.array([verdict.novelty for verdict in verdicts], dtype=np.float64),
            is_novel=np.array([verdict.is_novel for verdict in verdicts], dtype=bool),
            stories=stories,
            seconds=seconds,
        )


@dataclass(frozen=True, slots=True)
class Delay:
    """How soon after a story's first document the first alert on it came."""

    n_stories: int
    at_once: float
    """Part of the stories whose very first document was an alert."""
    ever: float
    """Part of the stories with an alert at all."""
    median_documents: float
    """Documents of the story that went by before its first alert, in the middle story of those found."""
    median_days: float


@dataclass(frozen=True, slots=True)
class BudgetKept:
    """Alerts against the budget. Weeks are full when six days of seven brought twice the day's budget."""

    per_day: float
    """Alerts a day; where there are no times, in a thousand documents, or in all where there are fewer."""
    allowed: float | None
    full_weeks: int
    kept_weeks: float
    """Part of the full weeks within a fifth of the budget; NaN where there is none."""
    by_week: tuple[tuple[float, int], ...]
    """(day on which the week began, alerts)."""
    unit: str = "a day with documents"
    """What `per_day` counts by, in words."""


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
    """Part of the alerts that were first documents of a story."""
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
        """One row a detector, numbers only: for the terminal and for JSON."""
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
    name: str,
    documents: Sequence[Document],
    runs: Sequence[DetectorRun],
    budget: str | float = "20/day",
    n_bootstrap: int = 200,
) -> Comparison:
    """Judge what detectors said of a labelled stream.

    Examples
    --------
    >>> documents = [Document(id=str(i), text="", label=label) for i, label in enumerate("aabab")]
    >>> said = np.array([0.9, 0.1, 0.8, 0.1, 0.2])
    >>> run = DetectorRun("mine", said, said > 0.5, np.array(list("xxyxy"), dtype=object))
    >>> result = compare("tiny", documents, [run], budget=0.5)
    >>> result.best.cost.topic_weighted, result.best.auc, result.best.delay.at_once
    (0.0, 1.0, 1.0)
    """
    labels = np.array([_label(document) for document in documents] + [None], dtype=object)[:-1]
    times = np.array([np.nan if d.time is None else d.time.timestamp() for d in documents])
    first = _first(labels)
    judged = np.array([label is not None for label in labels])
    if not first.any():
        raise ParameterError(
            owner="compare",
            parameter="the labels",
            allowed="there for some documents",
            received=f"{len(documents)} documents, none with a label",
            remedy='Give each line a "label": documents of one story share it.',
        )
    understood = parse_budget(budget)
    scores = []
    for run in runs:
        if len(run.novelty) != len(documents):
            raise ParameterError(
                owner="compare",
                parameter=f"the scores of {run.name}",
                allowed=f"{len(documents)}, one a document",
                received=len(run.novelty),
                remedy="Score every document, in the order of the stream.",
            )
        right = int((run.is_novel & first).sum())
        scores.append(
            DetectorScore(
                name=run.name,
                cost=tdt_cost(first, run.novelty, labels, n_bootstrap=n_bootstrap),
                auc=roc_auc(first[judged], run.novelty[judged]),
                det=det_curve(first, run.novelty, labels),
                delay=detection_delay(labels, times, run.is_novel),
                budget=budget_kept(times, run.is_novel, understood),
                stories=clustering_scores(labels, run.stories),
                n_alerts=int(run.is_novel.sum()),
                precision=right / max(int((run.is_novel & judged).sum()), 1),
                documents_per_second=len(documents) / run.seconds if run.seconds > 0 else float("nan"),
            )
        )
    n_stories = len({label for label in labels if label is not None})
    return Comparison(name, len(documents), int(judged.sum()), n_stories, understood.text, tuple(scores))


def detection_delay(labels: NDArray[Any], times: NDArray[np.float64], is_novel: NDArray[np.bool_]) -> Delay:
    """From the first document of each story to the first alert on it."""
    first: dict[Any, tuple[int, float]] = {}
    found: dict[Any, tuple[int, float]] = {}
    seen: dict[Any, int] = {}
    for label, time, alert in zip(labels, times, is_novel, strict=True):
        if label is None:
            continue
        first.setdefault(label, (0, time))
        if alert and label not in found:
            found[label] = (seen.get(label, 0), time)
        seen[label] = seen.get(label, 0) + 1
    missed = [found[label][0] for label in found]
    days = [(found[label][1] - first[label][1]) / DAY_SECONDS for label in found]
    known = [d for d in days if d == d]
    return Delay(
        n_stories=len(first),
        at_once=sum(n == 0 for n in missed) / max(len(first), 1),
        ever=len(found) / max(len(first), 1),
        median_documents=float(np.median(missed)) if missed else float("nan"),
        median_days=float(np.median(known)) if known else float("nan"),
    )


def budget_kept(times: NDArray[np.float64], is_novel: NDArray[np.bool_], budget: Budget) -> BudgetKept:
    """How many alerts the weeks brought, and whether that was what the budget says."""
    timed = np.isfinite(times)
    if not timed.any():
        # A short file is no day, and is not blown up to one.
        days = max(len(is_novel) / UNTIMED_DAY_DOCUMENTS, 1.0)
        unit = "in a thousand documents" if len(is_novel) >= UNTIMED_DAY_DOCUMENTS else "in all"
        share = budget.amount * len(is_novel) / days
        amount = {"rate": budget.amount, "share": share}.get(budget.kind)
        return BudgetKept(float(is_novel.sum()) / days, amount, 0, float("nan"), (), unit)
    day = np.floor(times[timed] / DAY_SECONDS).astype(np.int64)
    alerts = is_novel[timed]
    start = int(day.min())
    documents_by_day = np.bincount(day - start)
    alerts_by_day = np.bincount(day - start, weights=alerts)
    active = max(int((documents_by_day > 0).sum()), 1)
    if budget.kind == "rate":
        allowed = np.full(len(documents_by_day), budget.amount)
    elif budget.kind == "share":
        allowed = budget.amount * documents_by_day.astype(np.float64)
    else:
        allowed = np.full(len(documents_by_day), np.nan)
    weeks, kept, full = [], 0, 0
    for begin in range(0, len(documents_by_day) - 6, 7):
        inside = slice(begin, begin + 7)
        count = int(alerts_by_day[inside].sum())
        weeks.append((float(start + begin), count))
        plenty = (documents_by_day[inside] >= np.maximum(2 * allowed[inside], 1)).sum() >= 6
        target = float(allowed[inside].sum())
        # The first week has no past to be judged by.
        if begin and plenty and target >= 1:
            full += 1
            kept += abs(count - target) <= max(TOLERANCE * target, 1.0)
    wanted = None if budget.kind == "threshold" else float(allowed[documents_by_day > 0].mean())
    return BudgetKept(
        per_day=float(alerts.sum()) / active,
        allowed=wanted,
        full_weeks=full,
        kept_weeks=kept / full if full else float("nan"),
        by_week=tuple(weeks),
    )


def _label(document: Document) -> Any:
    label = document.label
    if isinstance(label, (list, tuple)):
        label = label[0] if label else None
    if isinstance(label, (dict, list)):
        # Equal objects name one story, whatever the order of their keys.
        return json.dumps(label, sort_keys=True, default=str)
    return None if label == "" else label


def _first(labels: NDArray[Any]) -> NDArray[np.bool_]:
    seen: set[Any] = set()
    first = np.zeros(len(labels), dtype=bool)
    for i, label in enumerate(labels):
        first[i] = label is not None and label not in seen
        seen.add(label)
    return first
