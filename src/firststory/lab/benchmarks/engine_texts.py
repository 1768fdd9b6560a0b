"""Texts to rows in blocks on engines: whether it pays, beside one vectorizer that reads all of them."""

from __future__ import annotations

import time
from collections.abc import Mapping

from firststory.engines import Engine
from firststory.errors import FirststoryError
from firststory.lab.benchmarks.whole_run import CORPORA, corpus_documents

REPEATS = 3
PARAMETERS = {"language": "en", "weighting": "count", "norm": None, "surface_weight": 2.0, "short": 30}
"""What the pipeline asks for, with a language that is given."""


def vectorizing(engines: Mapping[str, Engine], quick: bool) -> str:
    """The Markdown: processor time of this process, and the wall clock."""
    from firststory.text.block_counting import BLOCK_TEXTS

    repeats = 1 if quick else REPEATS
    lines = [
        (
            f"**Vectorizing.** `StreamVectorizer.use_engine`, blocks of {BLOCK_TEXTS:,} texts, µs a document: processor time of this process "
            f"(workers of a cluster left out), and the wall clock; best of {repeats}. A block learns the forms of its words by itself, "
            "where one vectorizer learns each of them once."
        ),
        "",
        "| stream | engine | processor time | wall clock | same rows |",
        "|---|---|---|---|---|",
    ]
    for name, loader in CORPORA.items():
        try:
            texts = [document.text for document in corpus_documents(loader, quick)]
        except FirststoryError as error:
            lines.append(f"| {name} | skipped: {error} | | | |")
            continue
        known, *_ = _vectorized(texts, None)
        for engine in (None, *engines.values()):
            runs = [_vectorized(texts, engine) for _ in range(repeats)]
            cpu, wall = min(run[1] for run in runs), min(run[2] for run in runs)
            told = "none" if engine is None else engine.name
            same = "" if engine is None else "yes" if runs[0][0] == known else "NO"
            lines.append(f"| {name} | {told} | {1e6 * cpu / len(texts):.1f} | {1e6 * wall / len(texts):.1f} | {same} |")
    return "\n".join([*lines, ""])


def _vectorized(texts: list[str], engine: Engine | None) -> tuple[bytes, float, float]:
    """The rows as bytes, and the seconds that they took."""
    from firststory.text import StreamVectorizer

    vectorizer = StreamVectorizer(**PARAMETERS)  # type: ignore[arg-type]
    vectorizer.use_engine(engine)
    cpu, wall = time.process_time(), time.perf_counter()
    rows = vectorizer.partial_fit_with_counts(texts).counts
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return rows.data.tobytes() + rows.indices.tobytes() + rows.indptr.tobytes(), cpu, wall
