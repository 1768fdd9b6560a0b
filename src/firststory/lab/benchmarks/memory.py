"""Memory of `firststory run` with a full window, part by part, and what a document costs as the window grows."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from firststory.errors import FirststoryError
from firststory.lab.benchmarks.end_to_end import stream
from firststory.lab.benchmarks.memory_figure import draw
from firststory.lab.benchmarks.whole_run import CORPORA, json_line
from firststory.records import Document

TITLE = "Memory with a full window, and the cost of a document by window"

FIGURE = "memory-by-window.png"
WINDOW, QUICK_WINDOW = 50_000, 300
MARKS, QUICK_MARKS = (1_000, 10_000, 50_000, 200_000), (200, 400)
"""Windows that are compared."""
START = (
    "from firststory.cli.quick_start import load_estimators; load_estimators(); import runpy; "
    "runpy.run_module('firststory.lab.benchmarks.measured_process', run_name='__main__')"
)
"""What the command line loads, and nothing more; then the run."""
PAST = 10
"""After the window is full, one in so many documents of it comes once more: memory that forgetting needs is in it."""


def run(*, quick: bool, out: Path | None = None) -> str:
    """The Markdown of the section; with `out` the figure too."""
    window, marks = (QUICK_WINDOW, QUICK_MARKS) if quick else (WINDOW, MARKS)
    full, growing, skipped = dict[str, Any](), dict[str, Any](), list[str]()
    for name, loader in CORPORA.items():
        try:
            texts = _texts(loader)
        except FirststoryError as error:
            skipped.append(f"{name}: skipped: {error}")
            continue
        full[name] = measured(stream(texts, window, window // PAST), window, [window])
        growing[name] = measured(stream(texts, marks[-1] - 100, 100), marks[-1], marks)
    lines = [
        (
            f"A process of its own that runs a stream with default settings, topics and an SQLite store included, from a "
            f"file of JSON lines; {window:,} documents fill the window, then {window // PAST:,} more come, which make it "
            "forget as many. Resident memory in MB of 2^20 bytes, files that are mapped (libraries) included: once "
            "everything is loaded (the first step is done), at the end, and the largest between the first step and the "
            "end, copies of the model included. Where a corpus is too small its first documents are spliced from halves of two."
        ),
        "",
        "| stream | loaded | of it, files | window full | peak | the largest copy of the model, as it is stored |",
        "|---|---|---|---|---|---|",
        *(_memory_row(name, found) for name, found in full.items()),
        *skipped,
        "",
        "What the parts of the stream hold at the end, MB, as they are asked for (pages that were never written to are not resident):",
        "",
        *_parts_table({name: found["parts"] for name, found in full.items()}),
        "",
        (
            f"The same with a window of {marks[-1]:,}, one step after another: CPU time of a document over the last tenth (500 at least) "
            "before so many documents, copies of the model included, and resident memory then."
        ),
        "",
        "| stream | " + " | ".join(f"{mark:,}" for mark in marks) + " |",
        "|---" * (1 + len(marks)) + "|",
        *(_cost_row(name, found["marks"]) for name, found in growing.items()),
        "",
    ]
    if out is not None and growing:
        draw({name: found["marks"] for name, found in growing.items()}, marks, out / FIGURE)
        lines += [f"![Cost of a document, and memory, by window]({FIGURE})", ""]
    return "\n".join(lines)


def measured(documents: Sequence[Document], window: int, marks: Sequence[int]) -> dict[str, Any]:
    """What the process says of itself."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "documents.jsonl"
        with lines.open("w") as file:
            file.writelines(map(json_line, documents))
        asked = [str(lines), str(Path(folder) / "bench.db"), str(window), ",".join(map(str, marks))]
        command = [sys.executable, "-c", START, *asked]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _texts(loader: str) -> list[str]:
    import firststory as fs

    return [document.text for document in getattr(fs.datasets, loader)().documents]


def _memory_row(name: str, found: dict[str, Any]) -> str:
    cells = (found["loaded"], found["files"], found["end"], found["peak"], found["copy"])
    return f"| {name} | " + " | ".join(f"{cell:,.0f}" for cell in cells) + " |"


def _parts_table(parts: dict[str, dict[str, float]]) -> list[str]:
    names = sorted(
        {part for one in parts.values() for part in one},
        key=lambda part: -max(one.get(part, 0.0) for one in parts.values()),
    )
    lines = ["| part | " + " | ".join(parts) + " |", "|---" * (1 + len(parts)) + "|"]
    lines += [
        f"| {part} | " + " | ".join(f"{one.get(part, 0.0):,.1f}" for one in parts.values()) + " |" for part in names
    ]
    return lines


def _cost_row(name: str, marks: Sequence[dict[str, float]]) -> str:
    return (
        f"| {name} | "
        + " | ".join(f"{mark['microseconds']:,.0f} µs, {mark['resident']:,.0f} MB" for mark in marks)
        + " |"
    )
