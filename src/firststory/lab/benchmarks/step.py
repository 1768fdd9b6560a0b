"""The step of the pipeline, without sources and store: documents per second, and where the time goes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from firststory.errors import FirststoryError
from firststory.records import Batch, Document

TITLE = "The step: documents per second and cost by stage"

CORPORA = {"All About headlines": "load_headlines", "All About articles": "load_articles"}
DOCUMENTS, QUICK_DOCUMENTS = {"load_headlines": 12_000, "load_articles": 4_000}, 600
STEP, REPEATS = 100, 3
WARM_SHARE = 3
"""One document in so many is judged before the clock runs."""
STAGES = {
    "text": "reading texts: rows and their counts",
    "phrases": "learning names, figures and phrases",
    "novelty": "novelty of each document, and the decision",
    "evidence": "words and phrases of novel documents",
    "memory": "what later documents need of these",
    "stories": "stories and storylines",
    "alerts": "alerts and what they say",
    "topics": "topics and their labels",
    "verdicts": "verdicts",
    "rest": "ids, duplicates, order, and what belongs to no stage",
}


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    from firststory.pipeline.garbage import tune_collection

    tune_collection()  # as `firststory run` does
    repeats, found = 1 if quick else REPEATS, dict[str, tuple[float, dict[str, float]] | str]()
    for name, loader in CORPORA.items():
        try:
            documents = _documents(loader, quick)
        except FirststoryError as error:
            found[name] = f"skipped: {error}"
            continue
        found[name] = _least(documents, repeats)
    return "\n".join([*_head(repeats), *_rows(found), ""])


def _head(repeats: int) -> list[str]:
    return [
        (
            f"One thread, steps of {STEP} documents, default settings, topics included; no source and no store. CPU time "
            f"per document, least of {repeats} runs, after a third of the documents. The stages are timed in runs of their "
            "own, whose clocks take a little themselves."
        ),
        "",
    ]


def _rows(found: dict[str, tuple[float, dict[str, float]] | str]) -> Iterator[str]:
    measured = {name: one for name, one in found.items() if not isinstance(one, str)}
    yield from (f"{name}: {one}" for name, one in found.items() if isinstance(one, str))
    if not measured:
        return
    yield "| | " + " | ".join(f"{name}, µs" for name in measured) + " |"
    yield "|---" * (1 + len(measured)) + "|"
    for stage, what in STAGES.items():
        yield f"| {stage}: {what} | " + " | ".join(f"{stages[stage]:.1f}" for _, stages in measured.values()) + " |"
    yield (
        "| **a document, without clocks inside** | " + " | ".join(f"**{us:.0f}**" for us, _ in measured.values()) + " |"
    )
    yield "| documents per second | " + " | ".join(f"{1e6 / us:,.0f}" for us, _ in measured.values()) + " |"


def _least(documents: Sequence[Document], repeats: int) -> tuple[float, dict[str, float]]:
    """The least time of a document, and that of each stage in the best of the runs with clocks."""
    _microseconds(documents)  # compiled, and loaded, before the clock runs
    whole, best = float("inf"), (float("inf"), dict[str, float]())
    for _ in range(repeats):
        whole = min(whole, _microseconds(documents))
        spent: Counter[str] = Counter()
        with _clocks(spent):
            total = _microseconds(documents, spent)
        n = len(documents) - len(documents) // WARM_SHARE // STEP * STEP
        stages = {stage: 1e-3 * spent[stage] / n for stage in STAGES}
        best = min(best, (total, stages | {"rest": total - sum(stages.values())}), key=lambda one: one[0])
    return whole, best[1]


def _microseconds(documents: Sequence[Document], spent: Counter[str] | None = None) -> float:
    """CPU time per document of the later ones; what was spent on the first is taken out of `spent`."""
    from firststory.pipeline.build import build_core
    from firststory.settings import Settings

    core = build_core(Settings())
    batches = [
        Batch(index, tuple(documents[at : at + STEP])) for index, at in enumerate(range(0, len(documents), STEP))
    ]
    warm = len(documents) // WARM_SHARE // STEP
    for batch in batches[:warm]:
        core.step(batch)
    if spent is not None:
        spent.clear()
    begin = time.process_time()
    for batch in batches[warm:]:
        core.step(batch)
    return 1e6 * (time.process_time() - begin) / (len(documents) - warm * STEP)


@contextmanager
def _clocks(spent: Counter[str]) -> Iterator[None]:
    """Let every stage note its nanoseconds."""
    from firststory.pipeline import judging, step
    from firststory.stories.tracker import StoryTracker
    from firststory.text import StreamVectorizer
    from firststory.text.phrases import PhraseReader

    places: list[tuple[Any, str, str]] = [
        (StreamVectorizer, "partial_fit_with_counts", "text"),
        (judging, "unit_rows", "text"),
        (PhraseReader, "learn", "phrases"),
        (step, "judge", "novelty"),
        (step, "gather_tokens", "evidence"),
        (step, "gather_phrases", "evidence"),
        (step, "remember", "memory"),
        (step.StreamCore, "_assign_stories", "stories"),
        (StoryTracker, "end_step", "stories"),
        (step, "fire_alerts", "alerts"),
        (step, "end_alerts", "alerts"),
        (step, "learn_topics", "topics"),
        (step, "tell_topics", "topics"),
        (step.StreamCore, "_verdicts", "verdicts"),
    ]
    before = [getattr(owner, name) for owner, name, _ in places]
    for owner, name, stage in places:
        setattr(owner, name, _timed(getattr(owner, name), stage, spent))
    try:
        yield
    finally:
        for (owner, name, _), function in zip(places, before, strict=True):
            setattr(owner, name, function)


def _timed(function: Any, stage: str, spent: Counter[str]) -> Any:
    def timed(*arguments: Any, **options: Any) -> Any:
        begin = time.process_time_ns()
        try:
            return function(*arguments, **options)
        finally:
            spent[stage] += time.process_time_ns() - begin

    return timed


def _documents(loader: str, quick: bool) -> list[Document]:
    import firststory as fs

    return list(getattr(fs.datasets, loader)().documents)[: QUICK_DOCUMENTS if quick else DOCUMENTS[loader]]
