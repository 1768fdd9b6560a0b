"""Ctrl-C at the right moment: waiting for input is cut short, a step that has begun is finished, and then it ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


class Interrupt:
    """Asked to stop, by Ctrl-C or SIGTERM. Asked twice, it stops at once, whatever it is doing."""

    def __init__(self) -> None:
        self.wanted = False
        self._is_waiting = False

    def __call__(self, number: int, frame: Any) -> None:
        second = self.wanted
        self.wanted = True
        if second or self._is_waiting:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Stop now if it was wanted."""
        if self.wanted:
            raise KeyboardInterrupt

    def until_wanted(self, arrivals: Iterator[T], *, flush: bool) -> Iterator[T]:
        """The arrivals until a stop is wanted.

        A source that cannot be read again is flushed: it ends there, so that what was read is judged and kept. Files
        are left in the middle of a step: the next run reads it again, and batches come out as if nothing had been.
        """
        while not self.wanted:
            try:
                self._is_waiting = True
                arrival = next(arrivals)
            except StopIteration:
                return
            except KeyboardInterrupt:
                break
            finally:
                self._is_waiting = False
            yield arrival
        if not flush:
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Within this block Ctrl-C and SIGTERM end up in the Interrupt."""
    interrupt = Interrupt()
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
