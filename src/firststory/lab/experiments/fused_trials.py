"""What might have made FusedNovelty better: each candidate added to it alone, beside it as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import normalize

from firststory.arrays import Floats
from firststory.detectors.dirichlet_mixture import DirichletMixture
from firststory.detectors.fused_novelty import FusedNovelty
from firststory.detectors.online_l1 import OnlineL1Dictionary
from firststory.evaluate.tdt import tdt_cost
from firststory.lab.experiments.fused_streams import LabelledRows, development_streams
from firststory.lab.experiments.lag_curve import LagCurve
from firststory.lab.experiments.plain_neighbour import plain_neighbour, tfidf_steps

TITLE = "What might have made FusedNovelty better, and did not"


COPY = 0.9
"""Cosine from which on a document is a copy and is not learnt, where copies are folded."""

MOST_DOCUMENTS = 10_000
"""Longer streams are left out, for time."""

TRIALS = {
    "with the dictionary": "residual of `OnlineL1Dictionary(n_atoms=50)` as a third part of the mean",
    "with the mixture": "log-odds of `DirichletMixture()`, as their rank among the earlier ones, as a third part",
    "4-grams": "character 4-grams of the text in the same row as its words, each counted half",
    "copies folded": f"a document with a cosine above {COPY} to an earlier one is judged but not learnt",
    "learnt lag": "ages by how much oftener than by chance the nearest neighbour of a document was so old, learnt as "
    "the stream goes, in place of the fixed curve of the neighbour (in half of the score, the other half being CEN as "
    "far as it counts)",
}


def run(*, quick: bool, out: Path) -> str:
    """The table as Markdown."""
    rows, shares = [], []
    for stream in development_streams(quick=quick):
        if stream.kind not in ("sparse", "dense") or stream.times is None or len(stream.labels) > MOST_DOCUMENTS:
            continue
        costs = {name: _judged(stream, score) for name, score in _scores(stream).items()}
        plain_cost, plain_auc = costs.pop("plain")
        found = {name: (cost / max(plain_cost, 1e-9), auc - plain_auc) for name, (cost, auc) in costs.items()}
        shares.append({name: share for name, (share, _) in found.items()})
        cells = [f"{found[n][0]:.2f} ({found[n][1]:+.3f})" if n in found else "-" for n in ("fused", *TRIALS)]
        rows.append([stream.name, *cells])
    # A trial is compared with the default on the streams that it has: not all can be tried on all.
    mean = ["**mean, beside fused on the same streams**", ""]
    for name in TRIALS:
        both = [(share[name], share["fused"]) for share in shares if name in share]
        mean.append(
            f"**{np.mean([a for a, _ in both]):.3f}** beside {np.mean([b for _, b in both]):.3f}" if both else "-"
        )
    head = ["stream", "fused", *TRIALS]
    table = ["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rows, mean)]
    return (
        "Share of the plain neighbour's topic-weighted cost (and how far the AUC lies above its), with times; broad "
        "topics are left out. Every score knows the past only, and all of them go by the words alone, without the "
        "vectors of short texts.\n\n"
        + "\n".join(f"- *{name}*: {about}." for name, about in TRIALS.items())
        + "\n\n"
        + "\n".join(table)
    )


def _judged(stream: LabelledRows, score: Floats) -> tuple[float, float]:
    cost = tdt_cost(stream.first, score, stream.labels, n_bootstrap=0).topic_weighted
    return cost, float(roc_auc_score(stream.first, score))


def _scores(stream: LabelledRows) -> dict[str, Floats]:
    detector = FusedNovelty()
    fused = detector.score_then_learn(stream.effective, times=stream.times)
    mixture = DirichletMixture().score_then_learn(stream.plain, times=stream.times)
    found = {
        "plain": plain_neighbour(stream.plain),
        "fused": fused,
        "with the mixture": (2 * fused + _rank_in_past(mixture)) / 3,
        "copies folded": _folded(stream, detector.similarities_[:, 0] > COPY),
        "learnt lag": 1 - 0.5 * (_learnt_lag(stream) + detector.cluster_scores_),
    }
    if len(fused) <= 3000:
        dictionary = OnlineL1Dictionary(n_atoms=50, random_state=0)
        steps = (normalize(rows, norm="l1") for rows in tfidf_steps(stream.plain, 200))
        residual = np.concatenate([dictionary.score_then_learn(rows) for rows in steps])
        found["with the dictionary"] = (2 * fused + np.clip(residual, 0.0, 1.0)) / 3
    if stream.texts is not None:
        grams = CountVectorizer(analyzer="char_wb", ngram_range=(4, 4), min_df=2).fit_transform(stream.texts)
        rows = sp.csr_matrix(sp.hstack([stream.effective, 0.5 * grams]))
        found["4-grams"] = FusedNovelty().score_then_learn(rows, times=stream.times)
    return found


def _rank_in_past(score: Floats) -> Floats:
    """The part of the earlier scores that lies below each."""
    past: list[float] = []
    ranks = np.ones(len(score))
    for i, value in enumerate(score.tolist()):
        at = int(np.searchsorted(past, value))
        ranks[i] = at / i if i else 1.0
        past.insert(at, value)
    return ranks


def _folded(stream: LabelledRows, copies: NDArray[np.bool_]) -> Floats:
    detector: Any = FusedNovelty()
    assert stream.times is not None
    score = np.ones(len(copies))
    bounds = np.flatnonzero(np.diff(copies)) + 1
    for run in np.split(np.arange(len(copies)), bounds):
        judge = detector.novelty if copies[run[0]] else detector.score_then_learn
        score[run] = judge(stream.effective[run], times=stream.times[run])
    return score


def _learnt_lag(stream: LabelledRows, k: int = 20) -> Floats:
    """The best of the k nearest, each weighted by how usual its age is."""
    assert stream.times is not None
    detector = FusedNovelty(horizon="topics", n_neighbours=k)
    detector.score_then_learn(stream.effective, times=stream.times)
    return LagCurve().follow(detector.neighbours_, detector.similarities_, stream.times / 86400.0)
