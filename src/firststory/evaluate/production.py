"""A labelled stream through the very same step as production, and every figure that a verdict can be judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.datasets.streams import TextStream
from firststory.evaluate.clustering import clustering_scores
from firststory.evaluate.ranking import StepAuc, roc_auc, roc_auc_by_step
from firststory.evaluate.tdt import DetCurve, TdtCost, det_curve, tdt_cost
from firststory.pipeline.runner import Runner
from firststory.records import Position
from firststory.settings import Settings
from firststory.units import DAY_SECONDS


@dataclass(frozen=True, slots=True)
class Delay:
    """How long a story ran before its first alert. Stories without any alert are `missed`."""

    alerted: int
    missed: int
    median_documents: float
    """Documents of the story before the one that was alerted; 0 means the first story itself."""
    median_hours: float
    """NaN where the stream has no times."""


@dataclass(frozen=True)
class Evaluation:
    """What one detector said of a labelled stream, document by document, in the order of the stream."""

    detector: str
    score: Floats
    is_novel: NDArray[np.bool_]
    story: NDArray[Any]
    step: NDArray[np.int64]
    y: NDArray[np.bool_]
    topics: NDArray[Any]
    times: Floats

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """The documents that are judged; the others were streamed all the same."""
        return np.array([topic is not None for topic in self.topics], dtype=bool)

    def cost(self, **options: Any) -> TdtCost:
        """Minimum normalised TDT cost."""
        return tdt_cost(self.y, self.score, self.topics, **options)

    def det(self) -> DetCurve:
        """The story-weighted DET curve of the labelled documents."""
        return det_curve(self.y[self.labelled], self.score[self.labelled])

    def auc(self) -> float:
        """Area under the ROC curve of the labelled documents."""
        return roc_auc(self.y[self.labelled], self.score[self.labelled])

    def auc_by_step(self) -> StepAuc:
        """AUC of each timestep of the pipeline."""
        rows = self.labelled
        return roc_auc_by_step(self.y[rows], self.score[rows], self.step[rows])

    def delay(self) -> Delay:
        """From the first document of each labelled story to the first of it that was an alert."""
        members: dict[Any, list[int]] = {}
        for i, topic in enumerate(self.topics):
            for one in topic if isinstance(topic, list) else [] if topic is None else [topic]:
                members.setdefault(one, []).append(i)
        waits, hours = [], []
        for rows in members.values():
            at = next((k for k, row in enumerate(rows) if self.is_novel[row]), None)
            if at is not None:
                waits.append(at)
                hours.append((self.times[rows[at]] - self.times[rows[0]]) / 3600)
        return Delay(
            alerted=len(waits),
            missed=len(members) - len(waits),
            median_documents=float(np.median(waits)) if waits else float("nan"),
            median_hours=float(np.median(hours)) if hours else float("nan"),
        )

    def alerts_per_day(self) -> float:
        """Alerts by the days that the stream spans; NaN where it has no times."""
        span = np.nanmax(self.times) - np.nanmin(self.times) if np.isfinite(self.times).any() else 0.0
        return float(self.is_novel.sum() / max(span / DAY_SECONDS, 1.0)) if span else float("nan")

    def alert_share(self) -> float:
        """The part of all documents that were alerts."""
        return float(self.is_novel.mean()) if self.is_novel.size else 0.0

    def story_scores(self) -> dict[str, float]:
        """B-cubed F1, NMI and ARI of the stories against the labels."""
        labels = [topic[0] if isinstance(topic, list) else topic for topic in self.topics]
        # A document that belongs to no story stands alone.
        alone = [name if name is not None else f"alone-{i}" for i, name in enumerate(self.story)]
        return clustering_scores(labels, alone)


def evaluate_stream(
    stream: TextStream,
    settings: Settings | None = None,
    *,
    progress: Callable[[int], None] = lambda done: None,
    detector: Any = None,
) -> Evaluation:
    """Run a labelled stream through the production step, in memory, and keep what it says.

    Parameters
    ----------
    stream : TextStream
    settings : Settings
        Detector, budget, window and all else, exactly as `firststory run` takes them.
    progress : callable
        Is told the number of documents done after each step.
    detector : estimator, optional
        One of your own in place of the named one.

    Examples
    --------
    >>> import firststory as fs
    >>> stream = fs.datasets.make_story_stream(150, 15)
    >>> result = evaluate_stream(stream, Settings(detector="neighbour", language="en"))
    >>> result.auc() > 0.8
    True
    """
    settings = settings or Settings()
    place = {document.id: i for i, document in enumerate(stream.documents)}
    n = len(stream)
    score, is_novel, step = np.zeros(n), np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64)
    story = np.empty(n, dtype=object)
    seen = np.zeros(n, dtype=bool)
    arrivals = ((document, Position(stream.name, {"line": i})) for i, document in enumerate(stream.documents, 1))
    done = 0
    for result in Runner(settings, detector=detector).run(arrivals):
        for verdict in result.verdicts:
            i = place[verdict.document.id]
            score[i], is_novel[i], story[i] = verdict.novelty, verdict.is_novel, verdict.story
            step[i], seen[i] = result.index, True
        done += result.counts.get("seen", len(result.verdicts))
        progress(done)
    # A second document with the id of an earlier one is a redelivery: dropped, and not judged.
    topics = stream.labels.copy()
    topics[~seen] = None
    return Evaluation(
        detector=settings.detector,
        score=score,
        is_novel=is_novel,
        story=story,
        step=step,
        y=stream.first_story & seen,
        topics=topics,
        times=stream.times,
    )
