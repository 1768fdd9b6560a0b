"""Ctrl-C at the right moment: waiting for input is cut short, a step that has begun is finished, and then it ends."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from firststory.sources.standard_input import StandardInput

T = TypeVar("T")


class Interrupt:
    """A request to stop, by Ctrl-C or SIGTERM. The second request stops at once, whatever is being done."""

    def __init__(self, wake: int) -> None:
        self.wanted = False
        self._is_waiting = False
        self._wake = wake
        self._input: StandardInput | None = None

    def __call__(self, number: int, frame: Any) -> None:
        second = self.wanted
        self.wanted = True
        # Standard input wakes up by itself; an exception could fall between the bytes it took and their being kept.
        if second or (self._is_waiting and not self._reads_input()):
            raise KeyboardInterrupt

    def check(self) -> None:
        """Stop now if it was wanted."""
        if self.wanted:
            raise KeyboardInterrupt

    def before_kernel(self, is_beginning: bool) -> None:
        """Stop before the next kernel is compiled: all of them take minutes, and nobody waits so long for an end.

        The step that needs the kernel is left unfinished, and the next run takes it again.
        """
        if is_beginning and self.wanted:
            raise KeyboardInterrupt

    def standard_input(self) -> io.BufferedReader:
        """Standard input, to be read until a stop is wanted and then to the end of what was written by then."""
        if sys.stdin is None:  # a service may run without one
            return io.BufferedReader(cast(Any, io.BytesIO()))
        try:
            descriptor = sys.stdin.fileno()
        except (OSError, ValueError):  # a replacement that is not a file
            return cast(io.BufferedReader, sys.stdin.buffer)
        self._input = StandardInput(descriptor, self._wake, lambda: self.wanted)
        return io.BufferedReader(self._input)

    def until_wanted(self, arrivals: Iterator[T], *, flush: bool) -> Iterator[T]:
        """The arrivals until a stop is wanted.

        With `flush` the arrivals simply end there, so that what was read from a source that cannot be read again is
        judged and kept; what lies in standard input comes first. Without it the step is left unfinished: the next run
        reads it again, and its batches are the same as without the interruption.
        """
        while not self.wanted or self._reads_input():
            try:
                # The handler runs in the main thread: it cuts the wait short where that is the one that waits.
                self._is_waiting = threading.current_thread() is threading.main_thread()
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

    def _reads_input(self) -> bool:
        return self._input is not None and self._input.is_being_read


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Within this block Ctrl-C and SIGTERM end up in the Interrupt."""
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    interrupt = Interrupt(wake)
    woken_before = signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(woken_before)
        os.close(wake)
        os.close(waker)
