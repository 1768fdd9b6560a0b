"""The Dirichlet-process mixture and its rivals as first-story detectors and as clusterers, judged the TDT way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Flags, Floats
from firststory.datasets import load_localnews, load_tdt2
from firststory.datasets.streams import first_of_label
from firststory.detectors.dirichlet_mixture import DirichletMixture
from firststory.detectors.incremental_clustering import IncrementalClustering
from firststory.detectors.logistic_novelty import LogisticNovelty
from firststory.evaluate.clustering import clustering_scores
from firststory.evaluate.tdt import TdtCost, tdt_cost
from firststory.lab.experiments.bootstrap import DRAWS
from firststory.text import StreamVectorizer

TITLE = "First-story detection and clustering by a Dirichlet-process mixture (TDT2, local news)"

HARD, SOFT = "mixture, hard, constant γ", "mixture, soft, constant γ"
HARD_TIMED, SOFT_TIMED = "mixture, hard, γ over time", "mixture, soft, γ over time"
VALIDATED, UNLABELLED = "mixture, hard, λ by validation", "mixture, hard, no labels"
CLUSTERING, LOGISTIC = "GAC-INCR", "logistic regression"


@dataclass(frozen=True)
class Outcome:
    """One method on one split: the labelled documents, which were first, their scores, and what follows from them."""

    topics: NDArray[Any]
    first: Flags
    scores: Floats
    cost: TdtCost
    n_clusters: int
    nmi: float
    ari: float


def methods() -> dict[str, Any]:
    """The rows of the tables, as unfitted detectors."""
    return {
        HARD: DirichletMixture("hard"),
        HARD_TIMED: DirichletMixture("hard", concentration="time"),
        SOFT: DirichletMixture("soft"),
        SOFT_TIMED: DirichletMixture("soft", concentration="time"),
        VALIDATED: DirichletMixture("hard", base_precision="validation"),
        UNLABELLED: DirichletMixture("hard"),
        CLUSTERING: IncrementalClustering("auto", weighting="ltc", history="statistics"),
        LOGISTIC: LogisticNovelty("auto"),
    }


def judge(
    rows: sp.csr_matrix, labels: NDArray[Any], times: Floats, history: NDArray[Any], test: NDArray[Any], draws: int = 0
) -> dict[str, Outcome]:
    """Every method: hyper-parameters from the history (but one), then the test stream from its first document on."""
    outcomes = {}
    threshold = None
    for name, detector in methods().items():
        if isinstance(detector, LogisticNovelty) and threshold is not None:
            detector.set_params(threshold=threshold)  # chosen on the same history already
        if name != UNLABELLED:
            detector.fit(rows[history], labels[history], times=times[history])
        if isinstance(detector, IncrementalClustering):
            threshold = detector.threshold_
        scores = detector.score_then_learn(rows[test], times=times[test])
        known = np.array([label is not None for label in labels[test]])
        truth, scores, found = labels[test][known], scores[known], detector.labels_[known]
        first = first_of_label(labels[test])[known]
        quality = clustering_scores(truth, found)
        outcomes[name] = Outcome(
            topics=truth,
            first=first,
            scores=scores,
            cost=tdt_cost(first, scores, truth, n_bootstrap=draws),
            n_clusters=len(set(detector.labels_.tolist())),
            nmi=quality["nmi"],
            ari=quality["ari"],
        )
    return outcomes


def halvings(quick: bool) -> list[dict[str, Outcome]]:
    """Thirty random halves of the topics of TDT2 as history, the others as test: ten for each of three orders."""
    stream = load_tdt2()
    assert stream.times is not None and stream.labels is not None
    outcomes = []
    for seed in range(1 if quick else 3):
        rng = np.random.default_rng(seed)
        order = np.lexsort((rng.random(len(stream)), stream.times))
        rows, labels, times = stream.X[order], stream.labels[order], stream.times[order]
        if quick:
            rows, labels, times = rows[::8], labels[::8], times[::8]
        topics = np.array(sorted(set(labels.tolist())))
        for _ in range(1 if quick else 10):
            past = np.isin(labels.astype(topics.dtype), rng.permutation(topics)[: len(topics) // 2])
            outcomes.append(judge(rows, labels, times, np.flatnonzero(past), np.flatnonzero(~past)))
    return outcomes


def local_news(quick: bool) -> dict[str, Outcome]:
    """First half of the local news as history, second half as test."""
    stream = load_localnews()
    n = 400 if quick else len(stream)
    rows = StreamVectorizer(language="en", weighting="count", norm=None).partial_fit_transform(stream.texts[:n])
    history, test = np.arange(n // 2), np.arange(n // 2, n)
    return judge(rows, stream.labels[:n], stream.times[:n], history, test, draws=DRAWS)


def run(*, quick: bool, out: Path) -> str:
    """The table of halvings, local news, and the curves of both."""
    from firststory.lab.experiments.tdt_mixture_report import draw, report

    tdt2, local = halvings(quick), local_news(quick)
    draw(tdt2, local, out)
    return report(tdt2, local)
