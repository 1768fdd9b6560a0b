"""`firststory run` on one core and on two: the same stream in turn and overlapped, one after the other."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from firststory.errors import FirststoryError
from firststory.lab.benchmarks.whole_run import CORPORA, LARGE_STEP, WARM_UP, corpus_documents, json_line
from firststory.records import Document

TITLE = "The whole of `firststory run` on one core and on two"

REPEATS = 3


class Times(NamedTuple):
    """Seconds of a run."""

    wall: float
    cpu: float
    """Of all threads."""
    judging: float
    """CPU seconds of the thread that judges: the first halves of the steps."""


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    repeats = 1 if quick else REPEATS
    lines = [
        (
            "From a file of JSON lines to the last commit, with default settings, loading and compiling left out: with "
            "`--cores 1`, one step after another, and with `--cores 2`, where one step is judged while others are read, "
            f"placed in stories and written; in turn, {repeats} times each. Wall clock is the least of them, and says "
            "something only where nothing else runs on the machine. CPU times are of the run with the least; *first half* "
            "is that of the thread that judges. Threads wait for one another, since only one at a time runs Python. Steps "
            f"have 100 documents, as without `--step`, or {LARGE_STEP:,}."
        ),
        "",
        (
            "| stream | documents | step | documents/s, 1 core | 2 cores | gain | CPU, 1 core | 2 cores | first half, 2 cores |"
        ),
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, loader in CORPORA.items():
        try:
            documents = corpus_documents(loader, quick)
        except FirststoryError as error:
            lines.append(f"| {name} | skipped: {error} |" + " |" * 7)
            continue
        lines += [_row(name, documents, step, repeats) for step in (100, LARGE_STEP)]
    return "\n".join([*lines, ""])


def _row(name: str, documents: Sequence[Document], step: int, repeats: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "documents.jsonl"
        lines.write_text("".join(map(json_line, documents[:WARM_UP])))
        _timed_run(lines, Path(folder) / "warm.db", step, cores=2)
        lines.write_text("".join(map(json_line, documents)))
        one, two = [], []
        for i in range(repeats):
            one.append(_timed_run(lines, Path(folder) / f"{i}-1.db", step, cores=1))
            two.append(_timed_run(lines, Path(folder) / f"{i}-2.db", step, cores=2))
    n, wall = len(documents), (min(times.wall for times in one), min(times.wall for times in two))
    in_turn, beside = min(one, key=lambda times: times.cpu), min(two, key=lambda times: times.cpu)
    return (
        f"| {name} | {n:,} | {step:,} | {n / wall[0]:,.0f} | {n / wall[1]:,.0f} | {wall[0] / wall[1]:.2f}x | "
        f"{1e6 * in_turn.cpu / n:,.0f} µs | {1e6 * beside.cpu / n:,.0f} µs | {1e6 * beside.judging / n:,.0f} µs |"
    )


def _timed_run(lines: Path, store: Path, step: int, cores: int) -> Times:
    """A run with a new store."""
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
        arrivals = read_all([str(lines)], opened.positions(), lambda said: None)
        begin = time.perf_counter(), time.process_time(), time.thread_time()
        for _ in runner.run_overlapped(arrivals) if cores == 2 else runner.run(arrivals, never_wait=True):
            pass
        end = time.perf_counter(), time.process_time(), time.thread_time()
        return Times(*(late - early for late, early in zip(end, begin, strict=True)))
