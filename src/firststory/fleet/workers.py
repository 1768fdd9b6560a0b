"""Who runs slices: processes of this machine that are started here, or the workers of a dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Protocol

from firststory.engines.engine import Engine
from firststory.fleet.slices import Job, Told, run_slice
from firststory.pipeline.garbage import tune_collection

DIED = "died"
"""How a slice ends whose worker is known to have ended: its lease may be taken at once."""
HANGS_AFTER = 60.0
"""Seconds without a sign of life after which a process is taken to hang."""
SIGNS = 1.0
"""Seconds between two signs of life."""
LONGEST_SLICE = 1800.0
"""Seconds beyond its time after which a slice is ended though its process lives. A first slice compiles kernels."""
ALIVE = None
"""A sign of life: what a process sends before its answer."""


class Workers(Protocol):
    """Runs slices, as many at once as it has places. Each place is used by one thread."""

    places: int

    def run(self, place: int, job: Job) -> Told:
        """What became of the slice."""
        ...

    def stop(self) -> None:
        """End slices at their next step."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


class ProcessWorkers:
    """Processes of this machine, one for each place. One that dies or hangs is replaced by another."""

    def __init__(self, places: int, hangs_after: float = HANGS_AFTER) -> None:
        self.places = places
        self._hangs_after = hangs_after
        self._context = multiprocessing.get_context("spawn")
        self._processes: list[Any] = [None] * places
        self._lines: list[Connection | None] = [None] * places
        self._lock = threading.Lock()
        self._is_stopping = False

    def run(self, place: int, job: Job) -> Told:
        line = self._line(place)
        end = time.monotonic() + job.seconds + LONGEST_SLICE
        message = "its worker hung and was ended"
        try:
            line.send(job)
            while time.monotonic() < end and line.poll(self._hangs_after):
                told: Told | None = line.recv()
                if told is not ALIVE:
                    return told
        except (EOFError, OSError):
            message = "its worker died"
        self._end(place)
        return Told(job.stream.name, DIED, message=message)

    def _line(self, place: int) -> Connection:
        """The connection to the process of a place, started where there is none."""
        line = self._lines[place]
        if line is not None:
            return line
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs,), name=f"firststory worker {place}", daemon=True)
        with self._lock:
            process.start()
            self._processes[place], self._lines[place] = process, ours
            if self._is_stopping:
                _signal(process, signal.SIGTERM)
        theirs.close()
        return ours

    def _end(self, place: int) -> None:
        """Make sure that it has ended: only then may another take its lease."""
        with self._lock:
            process, line = self._processes[place], self._lines[place]
            self._processes[place] = self._lines[place] = None
        if line is not None:
            line.close()
        if process is not None:
            process.kill()
            process.join()

    def stop(self) -> None:
        with self._lock:
            self._is_stopping = True
            for process in self._processes:
                _signal(process, signal.SIGTERM)

    def close(self) -> None:
        for place in range(self.places):
            self._end(place)


def _signal(process: Any, number: int) -> None:
    if process is not None and process.pid is not None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def serve(line: Connection) -> None:
    """A worker process: slice after slice, until nobody asks for more."""
    wanted = threading.Event()
    wanted.set()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the fleet decides
    signal.signal(signal.SIGTERM, lambda number, frame: wanted.clear())
    tune_collection()
    lock = threading.Lock()
    threading.Thread(target=_show_life, args=(line, lock), daemon=True).start()
    while True:
        try:
            job = line.recv()
        except (EOFError, OSError):
            return
        told = run_slice(job, wanted.is_set)
        with suppress(OSError), lock:  # the fleet itself has ended: the slice is saved all the same
            line.send(told)


def _show_life(line: Connection, lock: threading.Lock) -> None:
    with suppress(OSError):
        while True:
            with lock:
                line.send(ALIVE)
            time.sleep(SIGNS)


class EngineWorkers:
    """The workers of a cluster. A slice whose worker is lost is run again elsewhere once its lease has run out."""

    def __init__(self, engine: Engine, places: int) -> None:
        self._engine, self.places = engine, places

    def run(self, place: int, job: Job) -> Told:
        return self._engine.map(run_slice, [job])[0]

    def stop(self) -> None:
        """Slices end by themselves when their time is up."""

    def close(self) -> None:
        """The engine is closed by whoever opened it."""
