"""A `firststory serve` to be measured: started, filled, watched and ended."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple, Self

TICKS = os.sysconf("SC_CLK_TCK")


class Spent(NamedTuple):
    """Processor seconds so far: of the process that answers, of the one that judges, and of this one."""

    answering: float
    judging: float
    measuring: float

    def since(self, before: Spent) -> Spent:
        return Spent(*(now - then for now, then in zip(self, before, strict=True)))


class ServedProcess:
    """The service on a store in a folder; `with` ends it."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.store = folder / "served.db"
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "firststory.cli.main", "serve", "--store", str(self.store)]
        with (folder / "log").open("w") as said:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port), "--rate-limit", "0", *options], stdout=said, stderr=said
            )
        self.log = folder / "log"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(60)
        self._process.kill()

    def wait_until_ready(self) -> None:
        wait_until(self._is_ready, 300)

    def push(self, lines: list[str]) -> None:
        """Documents to begin with."""
        for at in range(0, len(lines), 1_000):
            body = "".join(lines[at : at + 1_000]).encode()
            headers = {"Content-Type": "application/x-ndjson"}
            asked = urllib.request.Request(f"http://127.0.0.1:{self.port}/documents", body, headers)
            urllib.request.urlopen(asked).close()

    def judged(self) -> int:
        return self._count("SELECT max(n) FROM verdicts")

    def waiting(self) -> int:
        """Pushed documents that are not judged yet."""
        last = self._count("SELECT value FROM meta WHERE key = 'inbox_last'")
        with suppress(sqlite3.OperationalError), closing(self.connect()) as connection:
            row = connection.execute("SELECT at FROM positions WHERE source = 'push'").fetchone()
            return last - (int(json.loads(row[0])["n"]) if row else 0)
        return 0

    def memory(self) -> tuple[int, int]:
        """Bytes of the process that answers and of the one that judges."""
        return tuple(_memory(pid) for pid in self._pids())  # type: ignore[return-value]

    def spent(self) -> Spent:
        answering, judging = (_seconds(pid) for pid in self._pids())
        return Spent(answering, judging, time.process_time())

    def connect(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)

    def _pids(self) -> tuple[int, int]:
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task").glob("*/children")
        return pid, next(int(word) for child in children for word in child.read_text().split())

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as told:
                return bool(json.load(told))
        except OSError:
            return False

    def _count(self, query: str) -> int:
        try:
            with closing(self.connect()) as connection:
                row = connection.execute(query).fetchone()
                return int(row[0] or 0) if row else 0
        except sqlite3.OperationalError:
            return 0


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.2)


def _memory(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
