"""Stories and storylines of the whole pipeline against labels, beside GAC-INCR and the mixture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from firststory.errors import DataError
from firststory.records import Batch, Document

TITLE = "Stories and storylines: B-cubed against labels, and the largest on open news"
STEP = 100
QUICK_DOCUMENTS = 300
GAC_THRESHOLDS = (0.2, 0.3, 0.4)


@dataclass(frozen=True)
class Corpus:
    """Documents in the order of time, and what their labels name."""

    name: str
    load: Callable[[], Sequence[Document]]
    labels: str
    language: str = "en"
    most: int | None = None


class Placed(NamedTuple):
    """The story and the storyline that each document has at the end."""

    stories: list[str]
    storylines: list[str]


def _corpora() -> list[Corpus]:
    from firststory import datasets
    from firststory.lab.experiments.headlines import headlines

    return [
        Corpus("localnews", lambda: datasets.load_localnews().documents, "incidents"),
        Corpus(
            "headlines of news2017",
            lambda: headlines(datasets.load_news2017().documents, days=7.0, most=9000),
            "events, by machine",
        ),
        Corpus(
            "headlines of thisisallabout",
            lambda: headlines(datasets.load_articles().documents, days=5.0, most=9000),
            "events, by machine",
        ),
        Corpus("mstream_tweets, first", lambda: datasets.load_mstream_tweets().documents, "topics", most=10_000),
        Corpus("mstream_tweets, rest", lambda: datasets.load_mstream_tweets().documents[10_000:], "topics"),
        Corpus("crisislex, first", lambda: datasets.load_crisislex().documents, "crises", "auto", most=12_000),
        Corpus("crisislex, rest", lambda: datasets.load_crisislex().documents[12_000:], "crises", "auto"),
        Corpus("timeline17", lambda: datasets.load_timeline17().documents, "topics"),
        Corpus("TDT2, numbers for words", _tdt2, "topics"),
        Corpus("wcep", lambda: datasets.load_wcep().documents[-12_000:], "storylines"),
    ]


def _tdt2() -> list[Document]:
    """TDT2 has counts only: its texts are the numbers of the columns, as often as each was counted."""
    from firststory import datasets

    stream = datasets.load_tdt2()
    X = stream.X.tocsr()
    assert stream.times is not None and stream.labels is not None
    documents = []
    for i, (seconds, label) in enumerate(zip(stream.times.tolist(), stream.labels.tolist(), strict=True)):
        own = slice(X.indptr[i], X.indptr[i + 1])
        counted = zip(X.indices[own].tolist(), X.data[own].astype(int).tolist(), strict=True)
        words = [f"w{column}q" for column, n in counted for _ in range(n)]
        time = datetime.fromtimestamp(seconds, tz=UTC)
        documents.append(Document(id=str(i), text=" ".join(words), time=time, label=label))
    return documents


def _open_news() -> list[Corpus]:
    from firststory import datasets

    start = datetime(2018, 10, 1, tzinfo=UTC)

    def recent() -> Sequence[Document]:
        return [one for one in datasets.load_headlines().documents if one.time is not None and one.time >= start]

    return [
        Corpus("thisisallabout articles", lambda: datasets.load_articles().documents, "none", most=8000),
        Corpus("thisisallabout headlines, from 2018-10-01", recent, "none", most=20_000),
    ]


def run(*, quick: bool, out: Path) -> str:
    """Both tables. `quick` takes the first 300 documents of each corpus."""
    lines = [
        "Each document is judged by the past alone; a story that was merged counts as the one that it went into.",
        "B-cubed precision / recall / F1. GAC-INCR has its best threshold for each corpus, of 0.2, 0.3 and 0.4.",
        "Constants of stories were set while looking at localnews, the headlines and the first 10,000 tweets of",
        "mstream; those of storylines at every stream below: for storylines nothing here is held out. Labels that name",
        "topics, crises or storylines hold many happenings: there a story must be pure, and the storyline is what",
        "should find them all.",
        "",
        "| corpus | documents | labels | stories | largest | storylines | GAC-INCR, F1 | mixture, F1 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    missing = ""
    for corpus in _corpora():
        try:
            documents = _documents(corpus, quick)
        except DataError as error:
            missing += f" {corpus.name}: {error}"
            continue
        labels = [document.label for document in documents]
        placed = _through_the_pipeline(documents, corpus.language)
        rows, counts, times = _rows(documents, corpus.language)
        gac = max(_f1(labels, _gac(rows, times, threshold)) for threshold in GAC_THRESHOLDS)
        cells = [
            corpus.name,
            f"{len(documents):,}",
            corpus.labels,
            _b_cubed(labels, placed.stories),
            f"{max(Counter(placed.stories).values()):,}",
            _b_cubed(labels, placed.storylines),
            f"{gac:.3f}",
            f"{_f1(labels, _mixture(counts, times)):.3f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "Open news without labels: the documents of the largest story and storyline, and how many are in stories of",
        "more than a hundred.",
        "",
        "| corpus | documents | stories | largest story | in stories above 100 | largest storyline |",
        "|---|---|---|---|---|---|",
    ]
    for corpus in _open_news():
        try:
            documents = _documents(corpus, quick)
        except DataError as error:
            missing += f" {corpus.name}: {error}"
            continue
        placed = _through_the_pipeline(documents, corpus.language)
        sizes, line_sizes = (Counter(found) for found in placed)
        in_large = sum(size for size in sizes.values() if size > 100)
        lines.append(
            f"| {corpus.name} | {len(documents):,} | {len(sizes):,} | {max(sizes.values()):,} | {in_large:,} "
            f"| {max(line_sizes.values()):,} |"
        )
    return "\n".join([*lines, "", f"One thread.{' Quick version.' if quick else ''}{missing}"])


def _documents(corpus: Corpus, quick: bool) -> list[Document]:
    documents = corpus.load()
    return list(documents[: QUICK_DOCUMENTS if quick else corpus.most])


def _b_cubed(labels: Sequence[Any], found: Sequence[Any]) -> str:
    from firststory.evaluate.clustering import b_cubed

    kept = [i for i, label in enumerate(labels) if label is not None]
    quality = b_cubed([labels[i] for i in kept], [found[i] for i in kept])
    return f"{quality.precision:.3f} / {quality.recall:.3f} / **{quality.f1:.3f}**"


def _f1(labels: Sequence[Any], found: Sequence[Any]) -> float:
    from firststory.evaluate.clustering import clustering_scores

    named = np.empty(len(labels), dtype=object)
    named[:] = labels
    return clustering_scores(named, found)["b_cubed_f1"]


# -- the methods ---------------------------------------------------------------------------------------------------


def _through_the_pipeline(documents: Sequence[Document], language: str) -> Placed:
    """The stories of the product as it is, in steps of a hundred documents."""
    from firststory.evaluate.standing import StandingStories
    from firststory.pipeline.build import build_core
    from firststory.settings import Settings

    core, ends = build_core(Settings(topics="none", language=language)), StandingStories()
    for index, start in enumerate(range(0, len(documents), STEP)):
        ends.update(core.step(Batch(index, tuple(documents[start : start + STEP]))))
    stories = [ends.story_of(document.id) or f"none {document.id}" for document in documents]
    lines = [ends.storyline_of(one.id) or story for one, story in zip(documents, stories, strict=True)]
    return Placed(stories, lines)


def _rows(documents: Sequence[Document], language: str) -> tuple[sp.csr_matrix, sp.csr_matrix, Any]:
    """Unit rows (1 + ln x) idf^1.25, idf up to and with each block of 100, as the pipeline has them; counts; times."""
    from firststory.text.vectorizer import StreamVectorizer

    reader = StreamVectorizer(language=language, weighting="count", norm=None, surface_weight=2.0, short=30)
    counts = reader.fit_transform([document.text for document in documents])
    weighted = counts.astype(np.float64).copy()
    seen = np.zeros(counts.shape[1])
    for start in range(0, counts.shape[0], STEP):
        stop = min(start + STEP, counts.shape[0])
        first, last = counts.indptr[start], counts.indptr[stop]
        columns = counts.indices[first:last]
        seen += np.bincount(columns, minlength=len(seen))
        idf = np.log((1.0 + stop) / (1.0 + seen[columns])) + 1.0
        weighted.data[first:last] = (1.0 + np.log(np.maximum(counts.data[first:last], 1.0))) * idf**1.25
    squares = np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel()
    rows = sp.csr_matrix(sp.diags(1.0 / np.sqrt(np.maximum(squares, 1e-12))) @ weighted)
    times = [float(i) if one.time is None else one.time.timestamp() for i, one in enumerate(documents)]
    return rows, counts, np.array(times)


def _gac(rows: sp.csr_matrix, times: Any, threshold: float) -> Any:
    from firststory.detectors.incremental_clustering import IncrementalClustering

    detector = IncrementalClustering(threshold=threshold)
    detector.score_then_learn(rows, times=times)
    return detector.labels_


def _mixture(counts: sp.csr_matrix, times: Any) -> Any:
    from firststory.detectors.dirichlet_mixture import DirichletMixture

    detector = DirichletMixture(update="hard")
    detector.score_then_learn(counts, times=times)
    return detector.labels_
