"""Phrases of all documents learnt and read: `PhraseReader` beside `StreamVectorizer`, and what evidence costs."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

from firststory.errors import FirststoryError
from firststory.records import Document

TITLE = "Phrases: PhraseReader and StreamVectorizer"

CORPORA = {"All About headlines": "load_headlines", "All About articles": "load_articles"}
DOCUMENTS, QUICK_DOCUMENTS = {"load_headlines": 20_000, "load_articles": 3_000}, 500
STEP, REPEATS, ASKED = 100, 5, 200


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    repeats = 1 if quick else REPEATS
    lines = [
        (
            f"One thread, steps of {STEP} documents, CPU time, best of {repeats} interleaved repeats in one process. `learn` "
            "reads each document, learns it and gives all its phrases as columns; `phrases` and `choose_evidence` are for "
            f"documents that a person will see. The tables take {_table_megabytes():.1f} MB, whatever the stream."
        ),
        "",
        "| corpus | words per document | learn, µs per document | x StreamVectorizer | phrases, µs | choose_evidence, µs |",
        "|---|---|---|---|---|---|",
    ]
    for name, loader in CORPORA.items():
        try:
            documents = _documents(loader, quick)
        except FirststoryError as error:
            lines.append(f"| {name} | skipped: {error} | | | | |")
            continue
        lines.append(_row(name, documents, repeats))
    return "\n".join([*lines, ""])


def _row(name: str, documents: Sequence[Document], repeats: int) -> str:
    from firststory.text import StreamVectorizer
    from firststory.text.phrases import PhraseReader, choose_evidence

    PhraseReader().learn(documents[:STEP])  # compiled before the clock runs
    StreamVectorizer("en").fit([document.text for document in documents[:STEP]])
    best = {"learn": float("inf"), "rows": float("inf")}
    reader = PhraseReader()
    for _ in range(repeats):
        reader, vectorizer = PhraseReader(), StreamVectorizer("en")
        best["learn"] = min(best["learn"], _seconds(reader.learn, documents))
        best["rows"] = min(best["rows"], _seconds(lambda part: _rows(vectorizer, part), documents))  # noqa: B023
    asked = documents[-ASKED:]
    phrases = _seconds(lambda part: [reader.phrases(one) for one in part], asked) / len(asked)
    evidence = _seconds(lambda part: [choose_evidence(reader, one) for one in part], asked) / len(asked)
    words = sum(len(document.text.split()) for document in documents) / len(documents)
    return (
        f"| {name} | {words:.0f} | {1e6 * best['learn'] / len(documents):.1f} | {best['learn'] / best['rows']:.2f} "
        f"| {1e6 * phrases:.0f} | {1e6 * evidence:.0f} |"
    )


def _table_megabytes() -> float:
    from firststory.text.phrases import PhraseReader

    return sum(getattr(part, "nbytes", 0) for part in PhraseReader().get_state().values()) / 1e6


def _rows(vectorizer: Any, documents: Sequence[Document]) -> Any:
    return vectorizer.partial_fit_transform([document.text for document in documents])


def _seconds(job: Callable[[Sequence[Document]], Any], documents: Sequence[Document]) -> float:
    gc.collect()
    begin = time.process_time()
    for at in range(0, len(documents), STEP):
        job(documents[at : at + STEP])
    return time.process_time() - begin


def _documents(loader: str, quick: bool) -> list[Document]:
    import firststory as fs

    return list(getattr(fs.datasets, loader)().documents)[: QUICK_DOCUMENTS if quick else DOCUMENTS[loader]]
