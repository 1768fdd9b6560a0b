"""Clusters of a stream beside river's TextClust and scikit-learn's MiniBatchKMeans: quality and speed in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.datasets import load_newsgroups20, load_tdt2
from firststory.detectors.dirichlet_mixture import DirichletMixture
from firststory.detectors.incremental_clustering import IncrementalClustering
from firststory.evaluate.clustering import clustering_scores
from firststory.text import StreamVectorizer

TITLE = "Clustering a stream: the mixture beside TextClust and MiniBatchKMeans"

BATCH = 256
RADII = (0.6, 0.7, 0.8, 0.9)
"""TextClust's radius is chosen from these on the history."""

Labels = NDArray[Any]
Method = Callable[[sp.csr_matrix, Labels, sp.csr_matrix, int], tuple[Labels, float]]
"""History rows and labels, test rows, 1000 · true classes + seed -> label of each test row, CPU seconds of the test."""


def run(*, quick: bool) -> str:
    """Every method on a sample of both corpora, and the quick ones on the whole."""
    text = (
        "The first fifth of each stream is a labelled history: the mixture takes λ and γ from it, GAC-INCR and "
        "TextClust their thresholds (least detection cost; best NMI), MiniBatchKMeans its idf and the *true number of "
        "classes*. The rest is streamed from empty models; a document's label is the one it got when it came. *End*: "
        "predicted again after the whole stream. CPU time of one thread; 2 cores, shared with other work while this "
        "ran. MiniBatchKMeans: mean of 3 seeds."
    )
    head = ["| corpus | method | NMI | ARI | B³ F1 | clusters (true) | documents/s |", "|---|---|---|---|---|---|---|"]
    lines: list[str] = []
    sample, whole = (60, 120) if quick else (1_500, 10**9)
    for corpus, rows, labels in _corpora(quick):
        for size, slow in ((sample, True), (whole, False)):
            step = max(1, rows.shape[0] // size)
            lines += _table(corpus, rows[::step], labels[::step], slow=slow)
    return "\n".join([text, "", *head, *lines])


def _corpora(quick: bool) -> Iterator[tuple[str, sp.csr_matrix, Labels]]:
    tdt2 = load_tdt2()
    assert tdt2.labels is not None
    yield "TDT2", tdt2.X[::40] if quick else tdt2.X, tdt2.labels[::40] if quick else tdt2.labels
    groups = load_newsgroups20()
    texts, labels = groups.texts, groups.labels
    if quick:
        texts, labels = texts[::80], labels[::80]
    yield "20 Newsgroups", StreamVectorizer("en", weighting="count", norm=None).partial_fit_transform(texts), labels


def _table(corpus: str, rows: sp.csr_matrix, labels: Labels, *, slow: bool) -> list[str]:
    cut = rows.shape[0] // 5
    test, truth = rows[cut:], labels[cut:]
    classes = len(set(truth.tolist()))
    methods: dict[str, Method] = {
        "DirichletMixture, hard": _mixture("hard"),
        "DirichletMixture, soft": _mixture("soft"),
        "DirichletMixture, hard, no history": _mixture("hard", labelled=False),
        "IncrementalClustering (GAC-INCR)": _gac,
        "MiniBatchKMeans, true k": _kmeans(at_end=False),
        "MiniBatchKMeans, true k, end": _kmeans(at_end=True),
    }
    if slow:
        micro, macro = _textclust()
        methods |= {"river TextClust, micro": micro, "river TextClust, macro, end": macro}
    lines = []
    for name, method in methods.items():
        seeds = 3 if name.startswith("MiniBatch") else 1
        try:
            runs = []
            for seed in range(seeds):
                found, cpu = method(rows[:cut], labels[:cut], test, classes * 1000 + seed)
                runs.append([*_quality(truth, found), test.shape[0] / max(cpu, 1e-9)])
            nmi, ari, f1, clusters, speed = np.mean(runs, axis=0)
            cells = f"{nmi:.3f} | {ari:.3f} | {f1:.3f} | {clusters:,.0f} ({classes}) | {speed:,.0f}"
        except ImportError as error:
            cells = f"skipped: {error} | | | | "
        lines.append(f"| {corpus}, {test.shape[0]:,} | {name} | {cells} |")
    if not slow:
        lines.append(
            f"| {corpus}, {test.shape[0]:,} | river TextClust | skipped: too slow for the whole stream | | | | |"
        )
    return lines


def _quality(truth: Labels, found: Labels) -> tuple[float, float, float, float]:
    scores = clustering_scores(truth, found)
    return scores["nmi"], scores["ari"], scores["b_cubed_f1"], scores["n_clusters"]


def _mixture(update: str, *, labelled: bool = True) -> Method:
    def go(history: sp.csr_matrix, known: Labels, test: sp.csr_matrix, extra: int) -> tuple[Labels, float]:
        model = DirichletMixture(update)  # type: ignore[arg-type]
        if labelled:
            model.fit(history, known)
        begin = time.process_time()
        model.partial_fit(test)
        return model.labels_, time.process_time() - begin

    return go


def _gac(history: sp.csr_matrix, known: Labels, test: sp.csr_matrix, extra: int) -> tuple[Labels, float]:
    model = IncrementalClustering("auto", weighting="ltc", history="statistics").fit(history, known)
    begin = time.process_time()
    model.partial_fit(test)
    return model.labels_, time.process_time() - begin


def _kmeans(*, at_end: bool) -> Method:
    def go(history: sp.csr_matrix, known: Labels, test: sp.csr_matrix, extra: int) -> tuple[Labels, float]:
        from sklearn.cluster import MiniBatchKMeans
        from sklearn.feature_extraction.text import TfidfTransformer

        classes, seed = divmod(extra, 1000)
        weigh = TfidfTransformer(sublinear_tf=True).fit(history)
        model = MiniBatchKMeans(n_clusters=classes, random_state=seed, n_init=3)
        begin, found = time.process_time(), []
        rows = weigh.transform(test)
        for first in range(0, rows.shape[0], BATCH):
            batch = rows[first : first + BATCH]
            if batch.shape[0] >= classes or first > 0:
                model.partial_fit(batch)
            found.append(model.predict(batch))
        labels = model.predict(rows) if at_end else np.concatenate(found)
        return labels, time.process_time() - begin

    return go


def _textclust() -> tuple[Method, Method]:
    """One run for both: micro-clusters as documents come, macro-clusters at the end."""
    kept: dict[str, tuple[Labels, float]] = {}

    def stream(rows: sp.csr_matrix, radius: float, classes: int, *, end: bool) -> Labels:
        from river.cluster import TextClust

        documents = [_words(rows, i) for i in range(rows.shape[0])]
        model = TextClust(radius=radius, real_time_fading=False, num_macro=classes)
        begin, found = time.process_time(), []
        for document in documents:
            model.learn_one(document)
            found.append(model.predict_one(document, type="micro"))
        kept["micro"] = np.array(found, dtype=object), time.process_time() - begin
        if end:
            again = [model.predict_one(document, type="macro") for document in documents]
            kept["macro"] = np.array(again, dtype=object), time.process_time() - begin
        return kept["micro"][0]

    def micro(history: sp.csr_matrix, known: Labels, test: sp.csr_matrix, extra: int) -> tuple[Labels, float]:
        quality = [_quality(known, stream(history, radius, 1, end=False))[0] for radius in RADII]
        stream(test, RADII[int(np.argmax(quality))], extra // 1000, end=True)
        return kept["micro"]

    def macro(history: sp.csr_matrix, known: Labels, test: sp.csr_matrix, extra: int) -> tuple[Labels, float]:
        if "macro" not in kept:
            raise ImportError("see the row above")
        return kept["macro"]

    return micro, macro


def _words(rows: sp.csr_matrix, i: int) -> dict[str, float]:
    begin, end = rows.indptr[i], rows.indptr[i + 1]
    return {str(v): float(c) for v, c in zip(rows.indices[begin:end], rows.data[begin:end], strict=True)}
