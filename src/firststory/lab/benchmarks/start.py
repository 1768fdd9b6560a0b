"""How long the first verdict takes: `firststory score` on a small file, from the start of the process to its first line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from firststory.datasets import make_story_stream
from firststory.lab.benchmarks.whole_run import json_line

TITLE = "Start-up: the first verdict of `firststory score`"

DOCUMENTS, REPEATS = 200, 5
STARTS = {
    "`firststory --version`": ["--version"],
    "`firststory score FILE`": ["score"],
    "`firststory score FILE --language en`": ["score", "--language", "en"],
}


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    repeats = 1 if quick else REPEATS
    lines = [
        (
            f"A file of {DOCUMENTS} made-up headlines; kernels are compiled and files are in the system's memory. From the start of the "
            f"process to its first line of output, best of {repeats} in turns: wall clock, which says something only where nothing else "
            f"runs, and processor time of all threads. Load average {os.getloadavg()[0]:.1f}."
        ),
        "",
        "| command | wall clock, s | processor time, s |",
        "|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "news.jsonl"
        news = make_story_stream(DOCUMENTS, 30, sentences=1).documents
        file.write_text("".join(map(json_line, news)))
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in STARTS}
        for turn in range(repeats + 1):
            for name, (command, *options) in STARTS.items():
                files = [str(file)] if command == "score" else []
                taken = first_line([command, *files, *options])
                if turn or quick:  # the first may compile
                    found[name].append(taken)
    lines += [
        f"| {name} | {min(t[0] for t in taken):.2f} | {min(t[1] for t in taken):.2f} |" for name, taken in found.items()
    ]
    return "\n".join([*lines, ""])


def first_line(arguments: list[str]) -> tuple[float, float]:
    """Seconds of wall clock and of processor time until the command writes its first line."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "firststory.cli.main", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        wall = time.perf_counter() - begin
        times = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        cpu = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
        process.stdout.read()
    return wall, cpu
