"""What a run under load came to: the curve as a table, and lines through it.

`python -m firststory.lab.benchmarks.load_report FOLDER` prints it of a run that still goes on.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from firststory.lab.benchmarks import load_stream
from firststory.settings import load

STEP = 1_000
PRODUCED_PER_SECOND = 20_000
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
    run: int
    """Which process it was, the first is 0: after an interruption another goes on."""


class Ended(NamedTuple):
    """How the run ended when it was told to."""

    seconds: float
    status: int


def keep(mark: Mark, path: Path) -> None:
    """Append a mark to those of the folder."""
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(mark._asdict()) + "\n")


def kept(path: Path) -> list[Mark]:
    """The marks of earlier runs in the folder."""
    if not path.exists():
        return []
    return [Mark(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def line(mark: Mark, before: Mark | None) -> str:
    """A line of the table."""
    if before is not None and before.run != mark.run:
        before = None  # another process: its start is in between
    seconds = mark.seconds - (before.seconds if before else 0.0)
    used = mark.processor_seconds - (before.processor_seconds if before else 0.0)
    new = mark.documents - (before.documents if before else 0)
    per_second = f"{new / seconds:,.0f} | {new / used:,.0f}" if before and used and seconds else "– | –"
    return (
        f"| {mark.documents:,} | {mark.seconds / 60:,.1f} | {mark.memory / 1e6:,.0f} MB | {mark.store / 1e6:,.0f} MB | "
        f"{per_second} | {max(mark.produced - mark.documents, 0):,} |"
    )


def report(marks: list[Mark], wanted: int, ended: Ended | None) -> str:
    """The whole section; `ended` is None where the run still goes on."""
    if not marks:
        return "No document was stored before it was ended."
    last = marks[-1]
    settings = load(environment=os.environ)
    full = int(DOCUMENTS_PER_TERM * settings.max_terms)
    warm_up = full if sum(mark.documents >= full for mark in marks) > 2 else last.documents // 2
    warm = [mark for mark in marks if mark.documents >= warm_up]
    produced = [
        (b.produced - a.produced) / (b.seconds - a.seconds) for a, b in pairwise(marks) if b.seconds > a.seconds
    ]
    fastest = max(produced, default=0.0)
    rate = last.documents / max(last.seconds, 1e-9)
    rows = [line(mark, before) for mark, before in zip(marks, [None, *marks[:-1]], strict=True)]
    if last.documents >= wanted:
        reached = ""
    elif ended is None:
        reached = f" Of {wanted:,} that were asked for: this is as far as it was when this was written."
    else:
        reached = f" It was ended there; {wanted:,} were asked for."
    if last.run:
        reached += f" It was interrupted and went on {last.run} times, each time in a new process."
    said = (
        f"`firststory run stream.jsonl --follow --store load.db --step {STEP}` (window "
        f"{settings.window:,}, vocabulary {settings.max_terms:,} terms, storylines and topics on, SQLite), while another process "
        f"appends made-up documents of eleven words to the file, up to {PRODUCED_PER_SECOND:,} a second: a day of {load_stream.A_DAY:,}, "
        f"{load_stream.RUNNING:,} stories at any time, and names that are always new. One process, which reads and writes beside judging where it finds two cores. "
        f"{last.documents:,} documents were judged and stored.{reached} *Lag*: documents that were produced and are "
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
        f"{_off_line(warm):.1%} away."
    )
    if ended is not None:
        found += f"\n- SIGTERM: ended within {ended.seconds:.1f} s with status {ended.status}, model saved."
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


if __name__ == "__main__":
    print(report(kept(Path(sys.argv[1]) / "marks.jsonl"), load_stream.A_DAY, None))
