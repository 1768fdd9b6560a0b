"""A producer ten times faster than the detector: memory, size of the store, rate and lag of one long run.

`FIRSTSTORY_LOAD_DOCUMENTS=200000 firststory bench load` takes fewer documents, `FIRSTSTORY_LOAD_MINUTES=60` ends it
after an hour, wherever it is. Settings of the run come from the environment too (`FIRSTSTORY_MAX_TERMS=100000`).
"""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from firststory.errors import FirststoryError
from firststory.lab.benchmarks import load_stream
from firststory.settings import load

TITLE = "Under load: millions of short documents through `firststory run`"

STEP = 1_000
PRODUCED_PER_SECOND = 20_000
MARK = 100_000
"""Documents between two lines of the table."""
DOCUMENTS_PER_TERM = 2.4
"""Of the stream: so many documents for each term of the vocabulary, and it has been full once. Memory is to stay as it
is from there on."""


class Mark(NamedTuple):
    """Where the run was at one moment."""

    seconds: float
    processor_seconds: float
    documents: int
    produced: int
    memory: int
    store: int


def run(*, quick: bool) -> str:
    """Drive the run and draw the curve."""
    wanted = 20_000 if quick else int(os.environ.get("FIRSTSTORY_LOAD_DOCUMENTS", load_stream.A_DAY))
    minutes = float(os.environ.get("FIRSTSTORY_LOAD_MINUTES", "inf"))
    with tempfile.TemporaryDirectory() as folder:
        marks, stopped_in, status = _drive(Path(folder), wanted, 60 * minutes)
    return _report(marks, wanted, stopped_in, status)


def _drive(folder: Path, wanted: int, most_seconds: float) -> tuple[list[Mark], float, int]:
    """Start producer and run, look at both until all is stored, and end the run as a service manager would."""
    stream, store, log = folder / "stream.jsonl", folder / "load.db", folder / "run.log"
    stream.touch()
    follow = [
        "-m", "firststory.cli.main", "run", str(stream), "--follow", "--store", str(store), "--step", str(STEP),
    ]  # fmt: skip
    with log.open("w") as said, stream.open("ab") as out:
        running = subprocess.Popen([sys.executable, *follow], stdout=said, stderr=said, stdin=subprocess.DEVNULL)
        produce = ["-m", "firststory.lab.benchmarks.load_stream", str(wanted), str(PRODUCED_PER_SECOND)]
        producer = subprocess.Popen([sys.executable, *produce], stdout=out)
    try:
        marks = _watch(running, stream, store, wanted, most_seconds, log)
        begin = time.monotonic()
        running.send_signal(signal.SIGTERM)
        status = running.wait(60)
        return marks, time.monotonic() - begin, status
    finally:
        for process in (producer, running):
            process.kill()
            process.wait()


def _watch(
    running: subprocess.Popen[bytes], stream: Path, store: Path, wanted: int, most_seconds: float, log: Path
) -> list[Mark]:
    marks: list[Mark] = []
    begin, due, mark_every = 0.0, 0, min(MARK, wanted // 20)
    while True:
        time.sleep(0.2)
        if running.poll() is not None:
            raise FirststoryError(
                owner="firststory bench load",
                parameter="the run",
                allowed="running until it is stopped",
                received=f"exit status {running.returncode}: {log.read_text(errors='replace')[-500:]}",
                remedy="Run it by hand to see why.",
            )
        documents = _stored(store)
        if not documents:
            begin = time.monotonic()
            continue
        is_last = documents >= wanted or time.monotonic() - begin > most_seconds
        if documents < due and not is_last:
            continue
        due = documents - documents % mark_every + mark_every
        mark = Mark(
            time.monotonic() - begin,
            _processor_seconds(running.pid),
            documents,
            _produced(stream),
            _memory(running.pid),
            sum(path.stat().st_size for path in store.parent.glob(f"{store.name}*")),
        )
        print(_line(mark, marks[-1] if marks else None), file=sys.stderr, flush=True)
        marks.append(mark)
        if is_last:
            return marks


def _stored(store: Path) -> int:
    """Documents that are safe in the store."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=30)) as connection:
            return int(connection.execute("SELECT max(n) FROM documents").fetchone()[0] or 0)
    except sqlite3.OperationalError:  # not made yet
        return 0


def _produced(stream: Path) -> int:
    """Documents that the producer has written: the number of the last whole line."""
    with stream.open("rb") as file:
        file.seek(max(stream.stat().st_size - 2_000, 0))
        lines = file.read().split(b"\n")
    return int(lines[-2].split(b'"', 4)[3][1:]) + 1 if len(lines) > 1 else 0


def _memory(process: int) -> int:
    """Resident bytes."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _line(mark: Mark, before: Mark | None) -> str:
    seconds = mark.seconds - (before.seconds if before else 0.0)
    used = mark.processor_seconds - (before.processor_seconds if before else 0.0)
    new = mark.documents - (before.documents if before else 0)
    per_second = f"{new / seconds:,.0f} | {new / used:,.0f}" if before and used and seconds else "– | –"
    return (
        f"| {mark.documents:,} | {mark.seconds / 60:,.1f} | {mark.memory / 1e6:,.0f} MB | {mark.store / 1e6:,.0f} MB | "
        f"{per_second} | {max(mark.produced - mark.documents, 0):,} |"
    )


def _report(marks: list[Mark], wanted: int, stopped_in: float, status: int) -> str:
    last = marks[-1]
    settings = load(environment=os.environ)
    warm_up = min(int(DOCUMENTS_PER_TERM * settings.max_terms), last.documents // 2)
    warm = [mark for mark in marks if mark.documents >= warm_up]
    fastest = max(mark.produced / mark.seconds for mark in marks if mark.seconds) if len(marks) > 1 else 0.0
    rate = last.documents / max(last.seconds, 1e-9)
    rows = [_line(mark, before) for mark, before in zip(marks, [None, *marks[:-1]], strict=True)]
    ended = "" if last.documents >= wanted else f" It was ended by its limit of time, {wanted:,} were asked for."
    said = (
        f"`firststory run stream.jsonl --follow --store load.db --step {STEP}` (window "
        f"{settings.window:,}, vocabulary {settings.max_terms:,} terms, storylines and topics on, SQLite), while another process "
        f"appends made-up documents of eleven words to the file, up to {PRODUCED_PER_SECOND:,} a second: a day of {load_stream.A_DAY:,}, "
        f"{load_stream.RUNNING:,} stories at any time, and names that are always new. One process, one thread. "
        f"{last.documents:,} documents were judged and stored.{ended} *Lag*: documents that were produced and are "
        "not in the store. Rates are of the time between two marks: of the wall clock, which others shared, and "
        "of the processor time that the run itself had."
    )
    found = (
        f"- The producer was {fastest / rate:,.0f} times as fast as the detector; the lag rose to "
        f"{max(mark.produced - mark.documents for mark in marks):,} documents, which waited in the file and not in memory.\n"
        f"- Memory after {warm_up:,} documents: between {min(m.memory for m in warm) / 1e6:,.0f} and "
        f"{max(m.memory for m in warm) / 1e6:,.0f} MB; a line through it {_slope(warm, 'memory') / 1e6:+,.0f} MB per "
        "million documents.\n"
        f"- The store has {last.store / last.documents:,.0f} bytes per document; a line through its size "
        f"{_slope(warm, 'store') / 1e6:,.0f} MB per million documents, from which it is at most "
        f"{_off_line(warm):.1%} away.\n"
        f"- SIGTERM: ended within {stopped_in:.1f} s with status {status}, model saved."
    )
    head = "| documents | minutes | memory | store | documents/s | per processor second | lag |\n|---|---|---|---|---|---|---|"
    return "\n\n".join([said, "\n".join([head, *rows]), found])


def _slope(marks: list[Mark], name: str) -> float:
    """Growth per million documents by a line of least squares."""
    if len(marks) < 2:
        return 0.0
    return float(np.polyfit([m.documents / 1e6 for m in marks], [getattr(m, name) for m in marks], 1)[0])


def _off_line(marks: list[Mark]) -> float:
    """The furthest that the store is from the line, as a part of its size."""
    if len(marks) < 3:
        return 0.0
    at, size = [m.documents / 1e6 for m in marks], np.array([m.store for m in marks], dtype=float)
    return float(np.max(np.abs(np.polyval(np.polyfit(at, size, 1), at) - size) / size))
