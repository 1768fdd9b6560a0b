"""A word to whoever waits while kernels are compiled, and how long it took: start-up is not the speed of a stream."""

from __future__ import annotations

import time
from collections.abc import Callable

from firststory.kernels.preparing import is_kept

EVERY = 5.0
"""Seconds between two lines at least."""
PATIENCE = 1.0
"""Seconds that nobody asks about."""

_seconds = 0.0


def compiling_seconds() -> float:
    """How long this process has compiled kernels so far."""
    return _seconds


class Preparing:
    """Listens to kernels being compiled: a line when it goes on for a while, then ever fewer."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._depth = 0
        self._count = 0
        self._begin = 0.0
        self._first: float | None = None
        self._next = 0.0
        self._has_said = False

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
        if self._first is None:
            self._first, self._next = now, now + PATIENCE
        elif now >= self._next:
            often = "once per installation" if is_kept() else "in every process"
            so_far = f"{self._count} compiled so far" if self._has_said else "a minute or two of one processor"
            self._say(f"preparing kernels, {often}: {so_far}")
            # Less and less often: a log must not fill with it where the machine is slow.
            self._has_said, self._next = True, now + max(EVERY, now - self._first)
