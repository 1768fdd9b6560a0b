"""How a run is doing: documents, the rate of the last minute, memory, and how far behind its sources it is."""

from __future__ import annotations

import os
import resource
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firststory.records import Lag, Step

RECENT = 60.0
"""Seconds that the recent rate looks back."""
EVERY = 5.0
"""Seconds between two reports at least."""


class Vitals:
    """Counts the steps of one run.

    Parameters
    ----------
    lag : callable
        How far behind the run is, by the name of the source, where the other side can tell.
    waited : callable
        Seconds that were no work on the stream, such as compiling kernels.
    """

    def __init__(self, lag: Callable[[], Mapping[str, Lag]] = dict, waited: Callable[[], float] = lambda: 0.0) -> None:
        self._lag, self._waited = lag, waited
        self._waited_before = waited()
        self._began = datetime.now(UTC)
        self._begin = self._reported = time.monotonic()
        self._latest: deque[tuple[float, int]] = deque([(self._begin, 0)])
        self.documents = self.alerts = self.steps = 0
        self.quarantined: Counter[str] = Counter()

    def count(self, step: Step, alerts: int) -> None:
        """A step is done, with so many alerts that people are told."""
        now = time.monotonic()
        self.steps += 1
        self.documents += step.counts["seen"]
        self.alerts += alerts
        self.quarantined.update(bad.reason for bad in step.quarantined)
        self._latest.append((now, self.documents))
        while len(self._latest) > 2 and now - self._latest[1][0] > RECENT:
            self._latest.popleft()

    def is_due(self) -> bool:
        """Whether the last report is a while ago; asking makes it the last."""
        now = time.monotonic()
        if now - self._reported < EVERY:
            return False
        self._reported = now
        return True

    def working(self) -> float:
        """Seconds since the beginning that were work on the stream."""
        return time.monotonic() - self._begin - (self._waited() - self._waited_before)

    def rate(self) -> float:
        """Documents a second since the beginning."""
        return self.documents / max(self.working(), 1e-9)

    def recent_rate(self) -> float:
        """Documents a second in the last minute, idle time included."""
        then, before = self._latest[0]
        return (self.documents - before) / max(time.monotonic() - then, 1e-9)

    def lag(self) -> Mapping[str, Lag]:
        return self._lag()

    def report(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {
            "began": self._began.isoformat(timespec="seconds"),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "documents": self.documents,
            "alerts": self.alerts,
            "quarantined": dict(self.quarantined),
            "documents_per_second": round(self.rate(), 1),
            "documents_per_second_lately": round(self.recent_rate(), 1),
            "memory_bytes": memory(),
            "lag": {name: lag._asdict() for name, lag in self.lag().items()},
        }


def memory() -> int:
    """Bytes that this process has in memory, and its copies beside it for themselves alone.

    Where the system does not tell, the most that this process ever had.
    """
    try:
        own = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return own + sum(map(_private, _copies()))


def _copies() -> list[Path]:
    """The processes that are copies of this one: not what a sink may have started."""
    found, program = list[Path](), Path("/proc/self/cmdline").read_bytes()
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended
            children = [Path("/proc", number) for number in listed.read_text().split()]
            found += [child for child in children if (child / "cmdline").read_bytes() == program]
    return found


def _private(process: Path) -> int:
    """Bytes that no other process shares; 0 for one that has ended."""
    try:
        lines = [line.split() for line in (process / "smaps_rollup").read_text().splitlines()]
    except OSError:
        return 0
    return 1024 * sum([int(line[1]) for line in lines if line[0] in ("Private_Clean:", "Private_Dirty:")])
