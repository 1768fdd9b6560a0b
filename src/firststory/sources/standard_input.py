"""Standard input that can be told to stop without losing what was written to it before."""

from __future__ import annotations

import array
import fcntl
import io
import os
import select
import stat
import termios
from collections.abc import Callable
from typing import Any


class StandardInput(io.RawIOBase):
    """A file descriptor that is read until `is_stopping`, then to the end of what lies in the pipe at that moment.

    After that a read raises KeyboardInterrupt. A line that its writer has not finished is then left unread, so that
    half a line is never taken for a document. `wake` becomes readable when a signal arrives: the wait for input ends
    there, and no exception has to be raised out of a read that may already have taken bytes.
    """

    def __init__(self, descriptor: int, wake: int, is_stopping: Callable[[], bool]) -> None:
        self._descriptor, self._wake, self._is_stopping = descriptor, wake, is_stopping
        self._left: int | None = None
        self._has_begun = False
        self._was_idle = False
        self.idle_seconds: float | None = None
        """A read that waits for longer than this comes back with nothing, and `was_idle` says so."""

    @property
    def is_being_read(self) -> bool:
        """From the first read until it is closed: readers above may hold lines that they have not handed on."""
        return self._has_begun and not self.closed

    def was_idle(self) -> bool:
        """Whether the last read came back because nothing was written for a while; asked once."""
        was, self._was_idle = self._was_idle, False
        return was

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def readinto(self, buffer: Any) -> int | None:  # type: ignore[override]
        self._has_begun = True
        while not self._is_stopping():
            ready, _, _ = select.select([self._descriptor, self._wake], [], [], self.idle_seconds)
            if not ready:
                self._was_idle = True
                return None
            if self._wake in ready:
                # Only now may the signal's handler run, so ask again before reading or waiting.
                os.read(self._wake, 1 << 10)
            elif self._descriptor in ready:
                return os.readv(self._descriptor, [buffer])
        if self._left is None:
            self._left = waiting_bytes(self._descriptor)
        if not self._left:
            raise KeyboardInterrupt
        count = os.readv(self._descriptor, [memoryview(buffer)[: self._left]])
        self._left -= count
        return count


def waiting_bytes(descriptor: int) -> int:
    """Bytes that lie in a pipe or socket; none in a file or a terminal, from which nothing gets lost."""
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return 0
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return count[0]
