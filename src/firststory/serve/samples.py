"""How the service did over the last day, a sample a minute: for the page, not for the books."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

EVERY = 60.0
MOST = 24 * 60


class Sample(NamedTuple):
    """One minute."""

    time: float
    """Seconds since 1970."""
    documents_per_second: float
    lag_seconds: float
    memory_bytes: int
    inbox: int


class Samples:
    """The samples of the last day, oldest first."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=MOST)

    def take(self, status: dict[str, Any], stream: dict[str, Any] | None, memory: int) -> None:
        """Take one, where the last is a minute old."""
        now = time.time()
        if not self._samples or now - self._samples[-1].time >= EVERY:
            rate = 0.0 if stream is None else stream["documents_per_second"]
            self._samples.append(Sample(now, rate, status["lag_seconds"], memory, status["inbox"]))

    def all(self) -> tuple[Sample, ...]:
        return tuple(self._samples)


def memory_bytes() -> int:
    """What this process has in memory."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):  # another system: the most that it ever had
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return pages * os.sysconf("SC_PAGE_SIZE")
