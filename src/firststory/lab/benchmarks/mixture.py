"""Speed of the Dirichlet-process mixture: documents a CPU second by number of clusters, hard and soft."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.detectors.dirichlet_mixture import DirichletMixture

TITLE = "Dirichlet-process mixture: speed by number of clusters"

WORDS, LENGTH, PRECISION = 36_771, 150, 500.0
"""Vocabulary (that of TDT2), words a document, λ."""

OWN, EACH = 150, 3
"""Words of its own that a story has, and documents of each story that are learnt before the measurement."""


def planted(n_clusters: int, n_test: int, seed: int) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Documents of every story to learn from, and more to measure with: half general words (Zipf), half its own."""
    rng = np.random.default_rng(seed)
    general = np.cumsum(1.0 / (np.arange(WORDS) + 20.0))
    own = rng.integers(WORDS, size=(n_clusters, OWN))
    story = np.concatenate([np.repeat(np.arange(n_clusters), EACH), rng.integers(n_clusters, size=n_test)])
    half = LENGTH // 2
    common = np.searchsorted(general, rng.random((len(story), LENGTH - half)) * general[-1])
    tokens = np.hstack([common, own[story[:, None], rng.integers(OWN, size=(len(story), half))]])
    return _counts(tokens[: EACH * n_clusters]), _counts(tokens[EACH * n_clusters :])


def _counts(tokens: NDArray[np.int64]) -> sp.csr_matrix:
    rows = np.repeat(np.arange(len(tokens)), tokens.shape[1])
    counts = sp.csr_matrix((np.ones(tokens.size), (rows, tokens.ravel())), shape=(len(tokens), WORDS))
    counts.sum_duplicates()
    return counts


def run(*, quick: bool) -> str:
    """One row a number of clusters; the two updates are measured in turns."""
    text = (
        f"Planted stories, {LENGTH}-word documents over {WORDS:,} terms, {EACH} documents a story learnt before; "
        "`score_then_learn` on one thread, best of 3 interleaved repeats, CPU time. *Postings*: entries of the index "
        "that lie under a document's words, whether pruned or read. 2 cores, shared with other work while this ran."
    )
    head = "| clusters | postings a document | hard, documents/s | ns a posting | soft, documents/s | hard / soft |"
    sizes = (20, 60) if quick else (100, 1_000, 10_000)
    rows = [_row(n_clusters, n_test=50 if quick else 2_000) for n_clusters in sizes]
    return "\n".join([text, "", head, "|---|---|---|---|---|---|", *rows])


def _row(n_clusters: int, n_test: int) -> str:
    learn, test = planted(n_clusters, n_test, seed=0)
    states = {}
    for update in ("hard", "soft"):
        model = DirichletMixture(update, base_precision=PRECISION, concentration=1.0)
        model.fit(learn, np.repeat(np.arange(n_clusters), EACH))
        states[update] = model.partial_fit(learn).get_state()
    index = states["hard"]["clusters_/length"]
    postings = float(test.astype(bool).dot(index).mean())
    best = {"hard": np.inf, "soft": np.inf}
    for _ in range(3):
        for update in best:
            model = DirichletMixture().set_state(states[update])
            found = model.n_clusters_
            begin = time.process_time()
            model.score_then_learn(test)
            best[update] = min(best[update], time.process_time() - begin)
    hard, soft = n_test / best["hard"], n_test / best["soft"]
    return (
        f"| {found:,} | {postings:,.0f} | {hard:,.0f} | {1e9 / hard / postings:.1f} | {soft:,.0f} | {hard / soft:.2f} |"
    )
