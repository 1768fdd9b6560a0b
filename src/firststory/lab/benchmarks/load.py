"""A producer ten times faster than the detector: memory, size of the store, rate and lag of one long run.

`FIRSTSTORY_LOAD_DOCUMENTS=200000 firststory bench load` takes fewer documents, `FIRSTSTORY_LOAD_MINUTES=60` ends it
after an hour, wherever it is, and so does Ctrl-C. With `FIRSTSTORY_LOAD_FOLDER=somewhere` store, stream and curve are
kept there, and the same command goes on from them. Settings of the run come from the environment too
(`FIRSTSTORY_MAX_TERMS=100000`).
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

from firststory.errors import FirststoryError
from firststory.lab.benchmarks import load_stream
from firststory.lab.benchmarks.load_report import PRODUCED_PER_SECOND, STEP, Ended, Mark, keep, kept, line, report

TITLE = "Under load: millions of short documents through `firststory run`"

MARK = 100_000
"""Documents between two lines of the table."""


class Files(NamedTuple):
    """What lies in the folder."""

    stream: Path
    store: Path
    log: Path
    marks: Path


def run(*, quick: bool) -> str:
    """Drive the run and draw the curve."""
    wanted = 20_000 if quick else int(os.environ.get("FIRSTSTORY_LOAD_DOCUMENTS", load_stream.A_DAY))
    minutes = float(os.environ.get("FIRSTSTORY_LOAD_MINUTES", "inf"))
    folder = os.environ.get("FIRSTSTORY_LOAD_FOLDER")
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return report(*_drive(Path(folder), wanted, 60 * minutes))
    with tempfile.TemporaryDirectory() as temporary:
        return report(*_drive(Path(temporary), wanted, 60 * minutes))


def _drive(folder: Path, wanted: int, most_seconds: float) -> tuple[list[Mark], int, Ended]:
    """Start producer and run, look at both until all is stored, and end the run as a service manager would."""
    files = Files(*(folder / name for name in ("stream.jsonl", "load.db", "run.log", "marks.jsonl")))
    # In a process of its own: compiling takes memory that is not given back.
    subprocess.run([sys.executable, "-m", "firststory.cli.main", "prepare"], check=True, stdout=subprocess.DEVNULL)
    follow = [
        "-m", "firststory.cli.main", "run", str(files.stream), "--follow", "--store", str(files.store),
        "--step", str(STEP),
    ]  # fmt: skip
    produced = _whole_lines(files.stream)
    with files.log.open("a") as said, files.stream.open("ab") as out:
        running = subprocess.Popen([sys.executable, *follow], stdout=said, stderr=said, stdin=subprocess.DEVNULL)
        produce = ["-m", "firststory.lab.benchmarks.load_stream", str(wanted), str(PRODUCED_PER_SECOND), str(produced)]
        producer = subprocess.Popen([sys.executable, *produce], stdout=out)
    try:
        marks = _watch(running, files, wanted, most_seconds)
        begin = time.monotonic()
        running.send_signal(signal.SIGTERM)
        status = running.wait(60)
        return marks, wanted, Ended(time.monotonic() - begin, status)
    finally:
        for process in (producer, running):
            process.kill()
            process.wait()


def _whole_lines(stream: Path) -> int:
    """How many documents an earlier producer has written; one that it was writing when it was ended is cut off."""
    stream.touch()
    produced = _produced(stream)
    with stream.open("rb+") as file:
        file.seek(max(stream.stat().st_size - 2_000, 0))
        rest = file.read()
        file.truncate(stream.stat().st_size - (len(rest) - rest.rfind(b"\n") - 1))
    return produced


def _watch(running: subprocess.Popen[bytes], files: Files, wanted: int, most_seconds: float) -> list[Mark]:
    """The marks of earlier runs in the folder, and those of this one, written down as they are reached."""
    marks = kept(files.marks)
    last = marks[-1] if marks else Mark(0.0, 0.0, 0, 0, 0, 0, -1)
    begin, first, mark_every = 0.0, _stored(files.store), min(MARK, wanted // 20)
    due = first - first % mark_every + mark_every if first else 0
    is_last = False
    while not is_last:
        try:
            time.sleep(0.2)
        except KeyboardInterrupt:
            is_last = True
        if running.poll() is not None:
            raise FirststoryError(
                owner="firststory bench load",
                parameter="the run",
                allowed="running until it is stopped",
                received=f"exit status {running.returncode}: {files.log.read_text(errors='replace')[-500:]}",
                remedy="Run it by hand to see why.",
            )
        documents = _stored(files.store)
        if documents <= first:
            begin = time.monotonic()
            continue
        is_last |= documents >= wanted or time.monotonic() - begin > most_seconds
        if documents < due and not is_last:
            continue
        due = documents - documents % mark_every + mark_every
        mark = Mark(
            last.seconds + time.monotonic() - begin,
            last.processor_seconds + _processor_seconds(running.pid),
            documents,
            _produced(files.stream),
            _memory(running.pid),
            sum(path.stat().st_size for path in files.store.parent.glob(f"{files.store.name}*")),
            last.run + 1,
        )
        print(line(mark, marks[-1] if marks else None), file=sys.stderr, flush=True)
        keep(mark, files.marks)
        marks.append(mark)
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
