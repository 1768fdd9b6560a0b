"""The default detector from text to novelty with a full window: speed, latency and memory, and its peers."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import LocalOutlierFactor

from firststory.detectors.fused_novelty import FusedNovelty
from firststory.errors import FirststoryError
from firststory.lab.benchmarks import end_to_end
from firststory.pipeline.garbage import tune_collection
from firststory.text import StreamVectorizer
from firststory.text.meaning import ShortTextVectors
from firststory.units import UNBOUNDED

TITLE = "The default detector, and the whole step to a verdict, with a window of 50,000 documents"

WINDOW, QUICK_WINDOW = 50_000, 1000
MEASURED, QUICK_MEASURED = 2000, 200
SINGLE = 400
"""Documents that come one at a time, for the latency."""
PEER_DOCUMENTS = 60
BATCH = 500


def run(*, quick: bool) -> str:
    """The Markdown of the section, measured on one thread."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return _section(quick=quick)


def _section(*, quick: bool) -> str:
    window, measured = (QUICK_WINDOW, QUICK_MEASURED) if quick else (WINDOW, MEASURED)
    tune_collection()  # as `firststory run` does
    lines = [
        (
            f"One thread, 2 cores, CPU seconds. The window ({window:,} documents) is filled first, the corpus over "
            f"again where it is smaller; then the corpus' last {measured:,} documents come in batches of {BATCH}, and "
            f"{SINGLE} of them once more one at a time. *Text* is the vectorizer (stop words, stems, vocabulary) "
            "and the vectors of short texts, *novelty* the detector: neighbours, clusters, learning, forgetting; the "
            "rest of the step to a verdict is in the next table. *True neighbours*: of how many documents the "
            "nearest ones by terms are the true ones, and how much novelty is too high on average (`max_postings` "
            "against none)."
        ),
        "",
        "| stream | text, docs/s | novelty, docs/s | both | one document, median / p99 | window | true neighbours |",
        "|---|---|---|---|---|---|---|",
    ]
    peers: list[str] = []
    whole = end_to_end.head(window, measured)
    for name, loader in {"headlines": "load_headlines", "articles": "load_articles"}.items():
        from firststory import datasets

        try:
            texts = getattr(datasets, loader)().texts
        except FirststoryError as error:
            lines.append(f"| {name} | skipped: {error} | | | | | |")
            whole.append(f"| {name} | skipped: {error} | | | | | |")
            continue
        lines.append(_stream(name, texts, window, measured))
        whole += [end_to_end.line(name, texts, topics, window, measured) for topics in ("none", "nmf")]
        peers += _peers(name, texts[-PEER_DOCUMENTS:], texts[:1000])
    return "\n".join([*lines, "", *whole, "", *_peer_head(), *peers])


def _stream(name: str, texts: Sequence[str], window: int, measured: int) -> str:
    past, new = texts[:-measured], texts[-measured:]
    past = (list(past) * (1 + window // len(past)))[:window]
    vectorizer = StreamVectorizer("en", weighting="count", norm=None, surface_weight=2.0, short=30)
    meaning = ShortTextVectors()
    detector = FusedNovelty(window=window)
    step = 60.0  # seconds between documents

    def read(texts: Sequence[str]) -> tuple[Any, Any]:
        """Rows and vectors; none where no text is short, as in the pipeline."""
        rows, vectors = vectorizer.partial_fit_transform(texts), meaning.transform(texts)
        return rows, vectors if vectors.any() else None

    for begin in range(0, window, 5000):
        rows, vectors = read(past[begin : begin + 5000])
        detector.partial_fit(rows, times=step * np.arange(begin, begin + rows.shape[0]), vectors=vectors)
    missed = _missed(detector, vectorizer.transform(new[:SINGLE]), step * window)
    text_s = novelty_s = 0.0
    for begin in range(0, measured, BATCH):
        start = time.process_time()
        rows, vectors = read(new[begin : begin + BATCH])
        middle = time.process_time()
        detector.score_then_learn(rows, times=step * (window + begin + np.arange(rows.shape[0])), vectors=vectors)
        text_s += middle - start
        novelty_s += time.process_time() - middle
    took = []
    for i, text in enumerate(new[:SINGLE]):
        start = time.process_time()
        rows, vectors = read([text])
        detector.score_then_learn(rows, times=[step * (window + measured + i)], vectors=vectors)
        took.append(1e3 * (time.process_time() - start))
    held = vars(detector.vectors_).values() if hasattr(detector, "vectors_") else ()
    size = (detector.index_.nbytes + sum(part.nbytes for part in held if isinstance(part, np.ndarray))) / 1e6
    return (
        f"| {name} | {measured / text_s:,.0f} | {measured / novelty_s:,.0f} | {measured / (text_s + novelty_s):,.0f} | "
        f"{np.median(took):.2f} / {np.quantile(took, 0.99):.2f} ms | {size:,.0f} MB | "
        f"{100 * (missed < 1e-9).mean():.1f} %, {missed.mean():.4f} |"
    )


def _missed(detector: FusedNovelty, rows: Any, now: float) -> NDArray[np.float64]:
    """How much novelty is too high because of `max_postings`: clusters are the same either way."""
    times, most = np.full(rows.shape[0], now), detector.max_postings
    quick = detector.novelty(rows, times=times)
    exact = detector.set_params(max_postings=UNBOUNDED).novelty(rows, times=times)
    detector.set_params(max_postings=most)
    missed: NDArray[np.float64] = quick - exact
    return missed


def _peer_head() -> list[str]:
    return [
        f"Peers on {PEER_DOCUMENTS} documents of the same streams, a past of 1,000 documents only:",
        "",
        "| peer | stream | documents/s |",
        "|---|---|---|",
    ]


def _peers(name: str, texts: Sequence[str], past: Sequence[str]) -> list[str]:
    return [
        f"| {peer} | {name} | {_rate(job, texts, past)} |"
        for peer, job in {
            "river TextClust": _textclust,
            "river LDA": _lda,
            "scikit-learn LocalOutlierFactor (novelty, cosine; fitted once)": _outlier_factor,
            "firststory FusedNovelty (one document at a time)": _fused,
        }.items()
    ]


def _rate(job: Callable[[Sequence[str], Sequence[str]], float], texts: Sequence[str], past: Sequence[str]) -> str:
    try:
        return f"{len(texts) / job(texts, past):,.0f}"
    except Exception as error:  # a peer that is missing or fails must not stop the others
        return f"skipped: {type(error).__name__}: {error}"


def _one_by_one(learn: Callable[[str], Any], texts: Sequence[str]) -> float:
    start = time.process_time()
    for text in texts:
        learn(text)
    return time.process_time() - start


def _textclust(texts: Sequence[str], past: Sequence[str]) -> float:
    from river import cluster, feature_extraction

    words, model = feature_extraction.BagOfWords(lowercase=True), cluster.TextClust()
    clock = itertools.count(1)

    def learn(text: str) -> None:
        model.learn_one(words.transform_one(text), next(clock))

    _one_by_one(learn, past[:200])
    return _one_by_one(learn, texts)


def _lda(texts: Sequence[str], past: Sequence[str]) -> float:
    from river import compose, feature_extraction, preprocessing

    model = compose.Pipeline(
        feature_extraction.BagOfWords(lowercase=True),
        preprocessing.LDA(n_components=10, number_of_documents=1000, seed=0),
    )
    _one_by_one(model.learn_one, past[:20])
    return _one_by_one(model.learn_one, texts[:20]) * len(texts) / 20


def _outlier_factor(texts: Sequence[str], past: Sequence[str]) -> float:
    vectorizer = StreamVectorizer("en")
    rows = vectorizer.partial_fit_transform(past)
    model = LocalOutlierFactor(novelty=True, metric="cosine", algorithm="brute").fit(rows)
    return _one_by_one(lambda text: model.score_samples(vectorizer.transform([text])), texts)


def _fused(texts: Sequence[str], past: Sequence[str]) -> float:
    vectorizer = StreamVectorizer("en", weighting="count", norm=None, surface_weight=2.0, short=30)
    detector = FusedNovelty().fit(vectorizer.partial_fit_transform(past))
    return _one_by_one(lambda text: detector.score_then_learn(vectorizer.partial_fit_transform([text])), texts)
