"""`firststory serve` under load: listeners, readers and pushed documents at once, on loopback.

`FIRSTSTORY_SERVE_SECONDS=60 firststory bench serve` makes it shorter than its ten minutes.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from firststory.lab.benchmarks import load_stream
from firststory.lab.benchmarks.http_client import Connection, Listener

TITLE = "The service under load"

LISTENERS = 200
REQUESTS_PER_SECOND = 500
DOCUMENTS_PER_SECOND = 1_000
PER_PUSH = 100
CONNECTIONS = 64
FIRST = 5_000
"""Documents that are judged before the clock starts: kernels are loaded, and there is something to read."""

READS = (
    "/alerts?limit=50",
    "/stories?limit=50",
    "/verdicts?limit=50",
    "/storylines?limit=50",
    "/topics",
    "/status",
    "/search?q=flood&limit=20",
    "/",
)
PLAIN = {
    "/alerts?limit=50": "SELECT * FROM alerts ORDER BY n DESC LIMIT 50",
    "/stories?limit=50": "SELECT * FROM stories ORDER BY last_seen DESC LIMIT 50",
    "/verdicts?limit=50": "SELECT * FROM documents JOIN verdicts USING (n) ORDER BY n DESC LIMIT 50",
    "/storylines?limit=50": "SELECT * FROM storylines ORDER BY last_seen DESC LIMIT 50",
}

TEXT = """\
One `firststory serve` with an embedded store judges what is pushed to it, {pushed:,} documents a second in requests of
{per_push}, while {listeners} listeners hold `/events` open and {requests} requests a second ask for lists, a search and
the page in turn. The time of a request counts from the moment when it was due, so that waiting for a free connection
counts too. Load, service and this measurement share {cores} cores; {seconds:.0f} seconds after {first:,} documents to
begin with.

| | asked for | done | errors | p50 ms | p95 ms | p99 ms |
|---|---|---|---|---|---|---|
{rows}

{listened} Memory of the service: {memory}.
{lag}

The same rows by SQL alone, on the store as it was left, one after another (milliseconds, p50): {plain}.
"""


@dataclass
class Tally:
    """What became of the requests of one kind."""

    times: list[float] = field(default_factory=list)
    errors: int = 0

    def row(self, name: str, wanted: float) -> str:
        p50, p95, p99 = np.percentile(self.times, (50, 95, 99)) * 1e3 if self.times else (np.nan,) * 3
        return f"| {name} | {wanted:,.0f} | {len(self.times):,} | {self.errors:,} | {p50:.0f} | {p95:.0f} | {p99:.0f} |"


def run(*, quick: bool) -> str:
    """Start the service, load it, and tell."""
    seconds = 5.0 if quick else float(os.environ.get("FIRSTSTORY_SERVE_SECONDS", 600))
    share = 0.1 if quick else 1.0
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "served.db"
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "firststory.cli.main", "serve", "--store", str(store), "--port", str(port)]
        with (Path(folder) / "log").open("w") as said:
            service = subprocess.Popen([*command, "--rate-limit", "0", "--language", "en"], stdout=said, stderr=said)
        try:
            return _measured(service, port, store, seconds, share)
        finally:
            service.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                service.wait(30)
            service.kill()


def _measured(service: subprocess.Popen[bytes], port: int, store: Path, seconds: float, share: float) -> str:
    made = load_stream.documents(int((FIRST + DOCUMENTS_PER_SECOND * (seconds + 30)) * share) + PER_PUSH)
    _wait_until(lambda: _answers(port), 120)
    first = int(FIRST * share)
    _push(port, list(itertools.islice(made, first)))
    _wait_until(lambda: _judged(store) >= first, 600)
    memory = [_memory(service.pid)]
    reads, pushes, heard = asyncio.run(_load(port, made, seconds, share, memory, service.pid))
    behind = _pushed(store) - _judged(store)
    rows = [
        reads.row("reads", REQUESTS_PER_SECOND * share * seconds),
        pushes.row("pushes", DOCUMENTS_PER_SECOND * share / PER_PUSH * seconds),
    ]
    lost, least, most = heard
    return TEXT.format(
        pushed=int(DOCUMENTS_PER_SECOND * share),
        per_push=PER_PUSH,
        listeners=int(LISTENERS * share),
        requests=int(REQUESTS_PER_SECOND * share),
        cores=os.cpu_count(),
        seconds=seconds,
        first=first,
        rows="\n".join(rows),
        listened=f"Listeners heard {least:,} to {most:,} events each; {lost} lost their connection.",
        memory=", ".join(f"{one / 1e6:,.0f}" for one in memory) + " MB, at equal distances",
        lag=f"At the end {max(behind, 0):,} of {_pushed(store):,} pushed documents waited to be judged.",
        plain=", ".join(f"`{path}` {_plain(store, query):.1f}" for path, query in PLAIN.items()),
    )


async def _load(
    port: int, made: Any, seconds: float, share: float, memory: list[int], pid: int
) -> tuple[Tally, Tally, tuple[int, int, int]]:
    """Listeners, readers and pushes at once; every request has its moment."""
    ears = [Listener() for _ in range(int(LISTENERS * share))]
    listeners = [asyncio.create_task(ear.listen(port)) for ear in ears]
    await asyncio.sleep(1.0)
    due: asyncio.Queue[tuple[float, str, bytes]] = asyncio.Queue()
    reads, pushes = Tally(), Tally()
    workers = [asyncio.create_task(_work(port, due, reads, pushes)) for _ in range(CONNECTIONS)]
    begin = asyncio.get_running_loop().time()
    read_every = 1 / (REQUESTS_PER_SECOND * share)
    push_every = PER_PUSH / (DOCUMENTS_PER_SECOND * share)
    moments = sorted(
        [(n * read_every, READS[n % len(READS)]) for n in range(int(seconds / read_every))]
        + [(n * push_every, "") for n in range(int(seconds / push_every))]
    )
    marks = iter(np.linspace(0, seconds, 6)[1:])
    mark = next(marks)
    for moment, path in moments:
        await asyncio.sleep(max(begin + moment - asyncio.get_running_loop().time(), 0.0))
        body = b"" if path else "".join(itertools.islice(made, PER_PUSH)).encode()
        due.put_nowait((begin + moment, path, body))
        if moment >= mark:
            memory.append(_memory(pid))
            mark = next(marks, np.inf)
    with suppress(TimeoutError):
        await asyncio.wait_for(due.join(), 60)
    memory.append(_memory(pid))
    for task in (*workers, *listeners):
        task.cancel()
    await asyncio.gather(*workers, *listeners, return_exceptions=True)
    counts = [ear.heard for ear in ears]
    return reads, pushes, (sum(ear.is_cut for ear in ears), min(counts), max(counts))


async def _work(port: int, due: asyncio.Queue[tuple[float, str, bytes]], reads: Tally, pushes: Tally) -> None:
    connection = Connection(port)
    while True:
        moment, path, body = await due.get()
        tally = reads if path else pushes
        try:
            status = await (connection.get(path) if path else connection.post("/documents", body))
            if status in (200, 202, 304):
                tally.times.append(asyncio.get_running_loop().time() - moment)
            else:
                tally.errors += 1
        except (OSError, asyncio.IncompleteReadError):
            tally.errors += 1
            connection = Connection(port)
        finally:
            due.task_done()


def _push(port: int, lines: list[str]) -> None:
    for at in range(0, len(lines), 1_000):
        body = "".join(lines[at : at + 1_000]).encode()
        headers = {"Content-Type": "application/x-ndjson"}
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/documents", body, headers)).close()


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as told:
            return bool(json.load(told))
    except OSError:
        return False


def _wait_until(holds: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.2)


def _count(store: Path, query: str) -> int:
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return int(connection.execute(query).fetchone()[0] or 0)
    except sqlite3.OperationalError:
        return 0


def _judged(store: Path) -> int:
    return _count(store, "SELECT count(*) FROM verdicts")


def _pushed(store: Path) -> int:
    return _judged(store) + _count(store, "SELECT count(*) FROM inbox")


def _plain(store: Path, query: str) -> float:
    times = []
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        for _ in range(20):
            begin = time.perf_counter()
            connection.execute(query).fetchall()
            times.append(time.perf_counter() - begin)
    return float(np.median(times)) * 1e3


def _memory(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
