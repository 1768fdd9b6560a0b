"""A labelled stream through the very same step as production, and every figure that a verdict can be judged by."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from firststory.alerts.budget import Budget, parse_budget
from firststory.arrays import Floats
from firststory.datasets.streams import TextStream
from firststory.errors import ParameterError
from firststory.evaluate.alerts import AlertScores, alert_scores
from firststory.evaluate.budget_kept import BudgetKept, budget_kept
from firststory.evaluate.delay import Delay, detection_delay
from firststory.evaluate.known_events import KnownEvents, events_of_labels
from firststory.evaluate.ranking import StepAuc, roc_auc, roc_auc_by_step
from firststory.evaluate.standing import StandingStories
from firststory.evaluate.story_quality import StoryScores, story_scores
from firststory.evaluate.tdt import DetCurve, TdtCost, det_curve, tdt_cost
from firststory.pipeline.build import check_settings
from firststory.pipeline.runner import Runner
from firststory.records import Alert, AlertKind, Position
from firststory.settings import Settings


@dataclass(frozen=True)
class Evaluation:
    """What one detector said of a labelled stream: one value per judged document, in the order of the stream."""

    detector: str
    score: Floats
    is_novel: NDArray[np.bool_]
    story: NDArray[Any]
    """The story that has each document at the end of the stream."""
    step: NDArray[np.int64]
    row: NDArray[np.int64]
    """Where each document stands in the stream. A second document with the id of an earlier one is not judged."""
    y: NDArray[np.bool_]
    topics: NDArray[Any]
    times: Floats
    events: KnownEvents
    """What the labels say of events: what alerts are judged by."""
    alerts: tuple[Alert, ...] = ()
    """In the order in which they fired."""
    storyline: NDArray[Any] | None = None
    """The storyline that has each document at the end of the stream; None where there are no storylines."""
    seconds: float = float("nan")

    @classmethod
    def from_scores(
        cls,
        detector: str,
        stream: TextStream,
        score: ArrayLike,
        is_novel: ArrayLike,
        story: Sequence[Any] | NDArray[Any] | None = None,
        *,
        row: ArrayLike | None = None,
        step: ArrayLike | None = None,
        alerts: Sequence[Alert] = (),
        storyline: Sequence[Any] | NDArray[Any] | None = None,
        seconds: float = float("nan"),
    ) -> Evaluation:
        """What any system said of a stream: one score and one decision for each document (or for those in `row`)."""
        rows = np.arange(len(stream)) if row is None else np.asarray(row, dtype=np.int64)
        values = np.asarray(score, dtype=np.float64)
        if len(values) != len(rows):
            raise ParameterError(
                owner="Evaluation",
                parameter=f"the scores of {detector}",
                allowed=f"{len(rows)}, one per document",
                received=len(values),
                remedy="Score every document, in the order of the stream.",
            )
        return cls(
            detector=detector,
            score=values,
            is_novel=np.asarray(is_novel, dtype=bool),
            story=_names([None] * len(rows) if story is None else story),
            step=np.zeros(len(rows), dtype=np.int64) if step is None else np.asarray(step, dtype=np.int64),
            row=rows,
            y=stream.first_story[rows],
            topics=stream.labels[rows],
            times=stream.times[rows],
            events=events_of_labels(stream),
            alerts=tuple(alerts),
            storyline=None if storyline is None else _names(storyline),
            seconds=seconds,
        )

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """The documents that count; the others were streamed all the same."""
        return np.array([topic is not None for topic in self.topics], dtype=bool)

    def cost(self, **options: Any) -> TdtCost:
        """Minimum normalised TDT cost."""
        return tdt_cost(self.y, self.score, self.topics, **options)

    def det(self) -> DetCurve:
        """The topic-weighted DET curve: each story counts the same, however long it is."""
        return det_curve(self.y, self.score, self.topics)

    def auc(self) -> float:
        """Area under the ROC curve of the labelled documents."""
        return roc_auc(self.y[self.labelled], self.score[self.labelled])

    def auc_by_step(self) -> StepAuc:
        """AUC of each step of the pipeline."""
        rows = self.labelled
        return roc_auc_by_step(self.y[rows], self.score[rows], self.step[rows])

    def delay(self) -> Delay:
        """From the first document of each labelled story to the first of it that was an alert."""
        return detection_delay(self.topics, self.times, self.is_novel)

    def budget_kept(self, budget: Budget | str | float) -> BudgetKept:
        """How many alerts there were, and how that compares with the budget."""
        understood = budget if isinstance(budget, Budget) else parse_budget(budget)
        return budget_kept(self.times, self.is_novel, understood)

    def precision(self) -> float:
        """Share of the alerts on labelled documents that were first documents of a story."""
        return float((self.is_novel & self.y).sum()) / max(int((self.is_novel & self.labelled).sum()), 1)

    def alert_scores(self, *kinds: AlertKind) -> AlertScores:
        """Events found, delay, duplicates and precision of the alerts; of these kinds only, if any are given."""
        return alert_scores([alert for alert in self.alerts if not kinds or alert.kind in kinds], self.events)

    def story_scores(self) -> StoryScores:
        """The stories against the labels (the first one, where a document has several)."""
        return story_scores(self.topics, self.story)

    def storyline_scores(self) -> StoryScores | None:
        """The storylines against the labels; None where there are no storylines."""
        return None if self.storyline is None else story_scores(self.topics, self.storyline)


def evaluate_stream(
    stream: TextStream,
    settings: Settings | None = None,
    *,
    name: str | None = None,
    progress: Callable[[int], None] = lambda done: None,
    detector: Any = None,
    say: Callable[[str], None] = warnings.warn,
) -> Evaluation:
    """Run a labelled stream through the production step, in memory, and keep what it says.

    Parameters
    ----------
    stream : TextStream
    settings : Settings
        Detector, budget, step and all else, exactly as `firststory run` takes them.
    name : str, optional
        What to call the detector; its name in the settings otherwise.
    progress : callable
        Is called with the number of documents done after each step.
    detector : estimator, optional
        One of your own in place of the named one.
    say : callable
        Is told, in one sentence, what a person should know.

    Examples
    --------
    >>> import firststory as fs
    >>> stream = fs.datasets.make_story_stream(150, 15)
    >>> result = evaluate_stream(stream, Settings(detector="neighbour", language="en"))
    >>> result.auc() > 0.8
    True
    """
    settings = settings or Settings()
    check_settings(settings, detector)
    place: dict[str, int] = {}
    for i, document in enumerate(stream.documents):
        place.setdefault(document.id, i)
    arrivals = ((document, Position(stream.name, {"line": i})) for i, document in enumerate(stream.documents, 1))
    judged = []
    alerts: list[Alert] = []
    standing = StandingStories()
    done = 0
    begin = time.perf_counter()
    for result in Runner(settings, say=say, detector=detector).run(arrivals):
        judged += [(place[verdict.document.id], result.index, verdict) for verdict in result.verdicts]
        alerts += result.alerts
        standing.update(result)
        done += result.counts.get("seen", len(result.verdicts))
        progress(done)
    seconds = time.perf_counter() - begin
    judged.sort(key=lambda one: one[0])
    storylines = [standing.storyline_of(verdict.document.id) for _, _, verdict in judged]
    return Evaluation.from_scores(
        name or settings.detector,
        stream,
        [verdict.novelty for _, _, verdict in judged],
        [verdict.is_novel for _, _, verdict in judged],
        [standing.story_of(verdict.document.id) for _, _, verdict in judged],
        row=[row for row, _, _ in judged],
        step=[index for _, index, _ in judged],
        alerts=alerts,
        storyline=storylines if any(storylines) else None,
        seconds=seconds,
    )


def _names(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """One object per document, whatever it is."""
    names = np.empty(len(values), dtype=object)
    names[:] = values
    return names
