"""A word to whoever waits while kernels are compiled, and how long it took: start-up is not the speed of a stream."""

from __future__ import annotations

import time
from collections.abc import Callable

from firststory.kernels.preparing import is_kept

EVERY = 5.0
"""Seconds between two lines."""
PATIENCE = 1.0
"""Seconds that nobody asks about."""

_seconds = 0.0


def compiling_seconds() -> float:
    """How long this process has compiled kernels so far."""
    return _seconds


class Preparing:
    """Listens to kernels being compiled: a line when it begins, and one now and then."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._depth = 0
        self._count = 0
        self._begin = 0.0
        self._last: float | None = None

    def __call__(self, is_beginning: bool) -> None:
        global _seconds
        now = time.monotonic()
        if not is_beginning:
            self._depth -= 1
            self._count += 1
            if not self._depth:
                _seconds += now - self._begin
            return
        self._depth += 1
        if self._depth == 1:
            self._begin = now
        if self._last is None:
            self._last = now - EVERY + PATIENCE
        elif now - self._last >= EVERY:
            often = "once per installation" if is_kept() else "in every process"
            self._say(f"preparing kernels, {often}: {self._count} compiled so far, half a minute in all …")
            self._last = now
