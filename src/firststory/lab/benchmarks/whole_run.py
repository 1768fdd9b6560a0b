"""`firststory run` from a file to a store: documents a second, and which part takes how much of it."""

from __future__ import annotations

import gc
import json
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from firststory.errors import FirststoryError
from firststory.records import Document

TITLE = "The whole of `firststory run`, from a file to a store"

CORPORA = {"All About headlines": "load_headlines", "All About articles": "load_articles"}
DOCUMENTS, QUICK_DOCUMENTS = {"load_headlines": 20_000, "load_articles": 6_000}, 400
LARGE_STEP = 1000
REPEATS = 2
WARM_UP = 600
ALONE, QUICK_ALONE = 4_000, 60
"""Documents that are judged one at a time; the last third of them is measured."""
STAGES = ("reading", "look-ups", "judging", "topics", "store", "copies of the model", "rest")


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    lines = [
        (
            "What `firststory run FILE --store NAME` does with its default settings, from the first line of a file of "
            "JSON lines to the last commit, loading and compiling left out. CPU seconds of all threads together (best "
            f"of {1 if quick else REPEATS}), and the wall clock of that run. The parts are from a run of their own, in µs of CPU time a document: "
            "*reading* is parsing and checking lines and gathering steps; *look-ups* are the ids, texts and marks that "
            "the store is asked for before each step; *judging* is the step to verdicts, stories and alerts; *store* "
            "is writing all of that, with the full-text index; *copies of the model* are what a stopped run goes on from, "
            f"one of them at the end. Steps have 100 documents, as without `--step`, or {LARGE_STEP:,}."
        ),
        "",
        (
            "| stream | documents | step | documents/s of CPU | of wall clock | "
            f"{' | '.join(f'{name}, µs' for name in STAGES)} |"
        ),
        "|---|---|---|---|---|" + "---|" * len(STAGES),
    ]
    alone = [
        (
            "One document at a time (`--step 1`), as a slow feed brings them, from its line to its commit: milliseconds of "
            f"CPU time, of the last third of {QUICK_ALONE if quick else ALONE:,} documents. The largest is one that a copy "
            "of the model was made after, where there was one."
        ),
        "",
        "| stream | mean | median | p95 | p99 | largest |",
        "|---|---|---|---|---|---|",
    ]
    for name, loader in CORPORA.items():
        try:
            documents = corpus_documents(loader, quick)
        except FirststoryError as error:
            lines.append(f"| {name} | skipped: {error} |" + " |" * (3 + len(STAGES)))
            continue
        lines += [_row(name, documents, step, 1 if quick else REPEATS) for step in (100, LARGE_STEP)]
        alone.append(_row_alone(name, documents[: QUICK_ALONE if quick else ALONE]))
    return "\n".join([*lines, "", *alone, ""])


def _row(name: str, documents: Sequence[Document], step: int, repeats: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "documents.jsonl"
        lines.write_text("".join(map(json_line, documents[:WARM_UP])))
        _timed_run(lines, Path(folder) / "warm.db", step)
        lines.write_text("".join(map(json_line, documents)))
        cpu, wall = min(_timed_run(lines, Path(folder) / f"{i}.db", step) for i in range(repeats))
        stages = Stages()
        with ExitStack() as stack:
            stages.watch(stack)
            whole, _ = _timed_run(lines, Path(folder) / "stages.db", step, stages)
    stages.seconds["rest"] = whole - sum(stages.seconds.values())
    n, parts = len(documents), " | ".join(f"{1e6 * stages.seconds[one] / len(documents):,.1f}" for one in STAGES)
    return f"| {name} | {n:,} | {step:,} | {n / cpu:,.0f} | {n / wall:,.0f} | {parts} |"


def _row_alone(name: str, documents: Sequence[Document]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "documents.jsonl"
        lines.write_text("".join(map(json_line, documents)))
        seconds = [0.0]
        with _begun(lines, Path(folder) / "alone.db", 1, never_wait=False) as steps:
            begin = time.process_time()
            for _ in steps:
                seconds.append(time.process_time() - begin)
                begin = time.process_time()
    ms = 1000 * np.array(seconds[-(len(documents) // 3) :])
    figures = ms.mean(), *np.percentile(ms, [50, 95, 99]), ms.max()
    return f"| {name} | {' | '.join(f'{figure:,.1f}' for figure in figures)} |"


def _timed_run(lines: Path, store: Path, step: int, stages: Stages | None = None) -> tuple[float, float]:
    """CPU and wall-clock seconds of a run with a new store."""
    with _begun(lines, store, step, stages) as steps:
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in steps:
            pass
        return time.process_time() - cpu, time.perf_counter() - wall


@contextmanager
def _begun(
    lines: Path, store: Path, step: int, stages: Stages | None = None, *, never_wait: bool = True
) -> Iterator[Iterator[Any]]:
    """A run with a new store that has loaded all it needs: its steps."""
    from firststory.pipeline.garbage import tune_collection
    from firststory.pipeline.opening import open_run
    from firststory.pipeline.runner import Runner
    from firststory.settings import gather
    from firststory.sources.files import read_all

    settings, opened = open_run(gather({"store": str(store), "step": step}), str(store))
    with opened:
        runner = Runner(settings, opened)
        gc.collect()
        tune_collection()
        arrivals: Any = read_all([str(lines)], opened.positions(), lambda said: None)
        watched = arrivals if stages is None else stages.timed_iterator("reading", arrivals)
        yield runner.run(watched, never_wait=never_wait)


class Stages:
    """CPU seconds of each stage without those of the stages that it calls, thread by thread."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._open = threading.local()

    def watch(self, stack: ExitStack) -> None:
        """Time what the stages are made of until the stack is closed."""
        from firststory.pipeline import runner, step
        from firststory.pipeline.step import StreamCore
        from firststory.store import store
        from firststory.store.store import Store

        for stage, owner, name in (
            ("look-ups", Store, "before_step"),
            ("look-ups", Store, "first_with"),
            ("judging", StreamCore, "judge"),
            ("judging", StreamCore, "place"),
            ("judging", StreamCore, "tell"),
            ("judging", StreamCore, "status"),
            ("topics", step, "learn_topics"),
            ("topics", step, "tell_topics"),
            ("store", Store, "write_steps"),
            ("copies of the model", runner, "copy_of_judging"),
            ("copies of the model", runner, "copy_of_placing"),
            ("copies of the model", Store, "write_state"),
            ("copies of the model", store, "put_state"),
        ):
            stack.enter_context(patch.object(owner, name, self.timed(stage, getattr(owner, name))))

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            begin, inside = time.thread_time(), getattr(self._open, "inside", 0.0)
            self._open.inside = 0.0
            try:
                return function(*args, **kwargs)
            finally:
                took = time.thread_time() - begin
                self.seconds[stage] += took - self._open.inside
                self._open.inside = inside + took

        return timed

    def timed_iterator(self, stage: str, values: Iterator[Any]) -> Iterator[Any]:
        return iter(self.timed(stage, lambda: next(values, None)), None)


def json_line(document: Document) -> str:
    """A document as a line of a file."""
    time_ = None if document.time is None else document.time.isoformat()
    values = {"id": document.id, "time": time_, "title": document.title, "source": document.source}
    return json.dumps(values | {"text": document.text}) + "\n"


def corpus_documents(loader: str, quick: bool) -> list[Document]:
    """The documents that are measured."""
    import firststory as fs

    return list(getattr(fs.datasets, loader)().documents)[: QUICK_DOCUMENTS if quick else DOCUMENTS[loader]]
