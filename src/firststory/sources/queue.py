"""What live sources have read and the stream has not: bounded, so that a fast source waits for a slow detector."""

from __future__ import annotations

import threading
from collections import deque

from firststory.records import Arrival, Idle, Quarantined

MAX_ARRIVALS = 1_000
MAX_CHARACTERS = 20_000_000


class ArrivalQueue:
    """A queue of arrivals from several threads to one, bounded in number and in characters of text.

    One document is always taken, however long. After an error or `close` nothing more is handed over.

    Parameters
    ----------
    n_sources : int
        Sources that write to it; it ends when all of them have.
    """

    def __init__(self, n_sources: int) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Arrival, int]] = deque()
        self._characters = 0
        self._open = n_sources
        self._idle: set[str] = set()
        self._told_idle = True
        self._error: BaseException | None = None
        self.is_closed = False

    def put(self, source: str, arrival: Arrival) -> bool:
        """Hand an arrival over, waiting for room; False when nothing is wanted any more."""
        with self._changed:
            if isinstance(arrival, Idle):
                self._idle.add(source)
                self._changed.notify_all()
                return not self.is_closed
            self._idle.discard(source)
            size = _size(arrival)
            while not self.is_closed and self._is_full(size):
                self._changed.wait(1.0)
            if self.is_closed:
                return False
            self._waiting.append((arrival, size))
            self._characters += size
            self._changed.notify_all()
            return True

    def _is_full(self, size: int) -> bool:
        too_long = bool(self._waiting) and self._characters + size > MAX_CHARACTERS
        return too_long or len(self._waiting) >= MAX_ARRIVALS

    def get(self) -> Arrival | None:
        """The next arrival; `Idle` once when there is nothing and no source expects any; None at the end."""
        with self._changed:
            while True:
                if self._waiting:
                    arrival, size = self._waiting.popleft()
                    self._characters -= size
                    self._told_idle = False
                    self._changed.notify_all()
                    return arrival
                if not self._open and self._error is not None:
                    raise self._error
                if not self._open or self.is_closed:
                    return None
                if not self._told_idle and len(self._idle) >= self._open:
                    self._told_idle = True
                    return Idle()
                self._changed.wait(0.5)

    def end(self, source: str, error: BaseException | None = None) -> None:
        """A source has come to its end, or cannot go on: the first error is raised when no source is left."""
        with self._changed:
            self._open -= 1
            self._idle.discard(source)
            self._error = self._error or error
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._waiting)


def _size(arrival: Arrival) -> int:
    if isinstance(arrival, (Quarantined, Idle)):
        return 0
    document = arrival[0]
    return len(document.text) + sum(len(v) for v in document.extra.values() if isinstance(v, str))
