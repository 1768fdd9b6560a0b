"""`firststory run` on one core and on two: the same stream in turn and overlapped, one after the other."""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from firststory.errors import FirststoryError
from firststory.lab.benchmarks.whole_run import CORPORA, LARGE_STEP, WARM_UP, corpus_documents, json_line
from firststory.records import Document

TITLE = "The whole of `firststory run` on one core and on two"

REPEATS = 3
ROUNDS, QUICK_ROUNDS = 3_000_000, 100_000
"""Of a loop that only computes."""


class Times(NamedTuple):
    """Seconds of a run."""

    wall: float
    cpu: float
    """Of all threads of the process that judges, reads and writes."""
    placing: float
    """CPU seconds of the process that places documents."""


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    repeats = 1 if quick else REPEATS
    lines = [
        (
            "From a file of JSON lines to the last commit, with default settings, loading and compiling left out: with "
            "`--cores 1`, one step after another, and with `--cores 2`, where a process of its own places documents in "
            f"stories while others are read, judged and written; in turn, {repeats} times each. Wall clock is the least of "
            "them, and says something only where nothing else runs on the machine. CPU times are of the run with the "
            "least, those of two cores by process. Steps have 100 documents, as without `--step`, or "
            f"{LARGE_STEP:,}. Two processes that do nothing but compute, side by side, got "
            f"**{_ceiling(QUICK_ROUNDS if quick else ROUNDS):.2f}x** as much done as one in the same time: no program "
            "gains more from the second core of this machine."
        ),
        "",
        (
            "| stream | documents | step | documents/s, 1 core | 2 cores | gain | CPU, 1 core | 2 cores: judging | and placing |"
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
    in_turn, beside = (min(runs, key=lambda times: times.cpu + times.placing) for runs in (one, two))
    return (
        f"| {name} | {n:,} | {step:,} | {n / wall[0]:,.0f} | {n / wall[1]:,.0f} | {wall[0] / wall[1]:.2f}x | "
        f"{1e6 * in_turn.cpu / n:,.0f} µs | {1e6 * beside.cpu / n:,.0f} µs | {1e6 * beside.placing / n:,.0f} µs |"
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
        begin = _clocks()
        with runner.placing_beside() if cores == 2 else nullcontext():
            for _ in runner.run_overlapped(arrivals) if cores == 2 else runner.run(arrivals, never_wait=True):
                pass
        return Times(*(late - early for late, early in zip(_clocks(), begin, strict=True)))


def _clocks() -> tuple[float, float, float]:
    ended = os.times()
    return time.perf_counter(), time.process_time(), ended.children_user + ended.children_system


def _ceiling(rounds: int) -> float:
    """How much more two processes compute than one in the same time."""
    alone = min(_seconds_of(1, rounds) for _ in range(3))
    return 2.0 * alone / min(_seconds_of(2, rounds) for _ in range(3))


def _seconds_of(processes: int, rounds: int) -> float:
    """Until so many processes have computed, each for itself."""
    begin, started = time.perf_counter(), list[int]()
    for _ in range(processes):
        process = os.fork()
        if not process:
            found = 0
            for i in range(rounds):
                found += i * i % 7
            os._exit(0)
        started.append(process)
    for process in started:
        os.waitpid(process, 0)
    return time.perf_counter() - begin
