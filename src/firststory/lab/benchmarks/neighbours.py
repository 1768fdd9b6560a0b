"""The nearest earlier document: the inverted index beside a scipy loop and scikit-learn's brute force, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from firststory.detectors.incremental_clustering import IncrementalClustering
from firststory.detectors.nearest_neighbour import NearestNeighbour
from firststory.errors import FirststoryError
from firststory.text import StreamVectorizer

TITLE = "Nearest earlier document: NearestNeighbour, a scipy loop, scikit-learn"

DOCUMENTS, QUICK_DOCUMENTS = 30_000, 1500
JUDGED = 40
"""Documents that each peer judges against the same past."""
REPEATS = 2


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    lines = [
        (
            f"One thread, 2 cores. After {QUICK_DOCUMENTS if quick else DOCUMENTS:,} documents, {JUDGED} more: "
            "each is judged against all before it and learnt (firststory gets them as one batch, which it judges one "
            f"after the other). CPU microseconds a document, best of {1 if quick else REPEATS} interleaved repeats in "
            "one process. The scipy loop is `X[:i] @ X[i].T`, and for comparison `past @ X[i].T` with the past at hand "
            "as a matrix that never changes; scikit-learn is `NearestNeighbors(algorithm='brute', metric='cosine')`, "
            "fitted on the past once, fitting not counted. Answers are checked against the scipy loop."
        ),
        "",
    ]
    for name, loader in {"articles": "load_articles", "headlines": "load_headlines"}.items():
        try:
            rows = _rows(loader, quick)
        except FirststoryError as error:
            lines += [f"**{name}**: skipped, {error}", ""]
            continue
        lines += [*_corpus(name, rows, quick), ""]
    return "\n".join(lines)


def _rows(loader: str, quick: bool) -> sp.csr_matrix:
    from firststory import datasets

    texts = getattr(datasets, loader)().texts
    need = (QUICK_DOCUMENTS if quick else DOCUMENTS) + JUDGED
    vectorizer = StreamVectorizer("en", weighting="tfidf", norm="l2", sublinear=True)
    rows = vectorizer.partial_fit_transform(texts[:need])
    if rows.shape[0] < need:  # the corpus has a few less: its first documents follow once more
        rows = sp.vstack([rows, rows[: need - rows.shape[0]]])
    return sp.csr_matrix(rows)


def _corpus(name: str, rows: sp.csr_matrix, quick: bool) -> list[str]:
    rows = normalize(rows)
    n = rows.shape[0] - JUDGED
    past, new = rows[:n], rows[n:]
    brute = NearestNeighbors(n_neighbors=1, algorithm="brute", metric="cosine").fit(past)
    learners: dict[str, Any] = {
        "firststory NearestNeighbour": NearestNeighbour(window=rows.shape[0]),
        "firststory IncrementalClustering": IncrementalClustering(window=rows.shape[0]),
    }
    for detector in learners.values():
        detector.fit(past)
    states = {key: detector.get_state() for key, detector in learners.items()}

    jobs: dict[str, Callable[[], Any]] = {
        key: partial(detector.score_then_learn, new) for key, detector in learners.items()
    }
    jobs["scipy loop"] = lambda: np.array([1 - (rows[: n + i] @ rows[n + i].T).max() for i in range(JUDGED)])
    jobs["scipy, past at hand"] = lambda: np.array([1 - (past @ new[i].T).max() for i in range(JUDGED)])
    jobs["scikit-learn brute force"] = lambda: np.array([brute.kneighbors(new[i])[0][0, 0] for i in range(JUDGED)])
    best = dict.fromkeys(jobs, np.inf)
    said = {}
    for _ in range(1 if quick else REPEATS):
        for key, job in jobs.items():
            if key in learners:
                learners[key].set_state(states[key])
            begin = time.process_time()
            said[key] = job()
            best[key] = min(best[key], (time.process_time() - begin) / JUDGED)
    lines = [
        f"**{name}**: {past.shape[0]:,} documents, {past.nnz / past.shape[0]:.0f} terms each, {rows.shape[1]:,} terms",
        "",
        "| | µs a document | documents/s | times the scipy loop |",
        "|---|---|---|---|",
    ]
    for key, cost in best.items():
        lines.append(f"| {key} | {cost * 1e6:,.0f} | {1 / cost:,.0f} | {best['scipy loop'] / cost:.1f} |")
    worst = np.abs(said["firststory NearestNeighbour"] - said["scipy loop"]).max()
    return [*lines, "", f"NearestNeighbour and the scipy loop differ by at most {worst:.0e}."]
