"""The stream's clock: which times of documents are believed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from firststory.arrays import Floats
from firststory.records import Document
from firststory.state import State
from firststory.units import DAY_SECONDS

FAR_AHEAD_SECONDS = 300 * DAY_SECONDS
"""Seconds that a document may lie ahead of all others before its time needs confirmation."""
CONFIRMING_DOCUMENTS = 3
"""Documents in a row that confirm one another: the stream has been silent for long, and goes on."""


class StreamClock:
    """Seconds for documents as they come.

    One document from the year 2099 must not make everything that was told so far old, nor everything after it late: a
    time far ahead of the stream is not believed unless the next ones agree. Such a document, and one without a time
    in a stream that has them, takes the time of the one before it. Whether a stream has times is decided at its start.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> times = [datetime(year, 5, day, tzinfo=UTC) for year, day in [(2026, 1), (2026, 2), (2099, 3), (2026, 4)]]
    >>> documents = [Document(id=str(time), text="", time=time) for time in times]
    >>> clock = StreamClock()
    >>> [datetime.fromtimestamp(time, UTC).day for time in clock.seconds_of(documents).tolist()], clock.unbelieved
    ([1, 2, 2, 4], 1)
    """

    def __init__(self) -> None:
        self.is_timed: bool | None = None
        self.now = 0.0
        """The time of the last document."""
        self.high = 0.0
        """The latest time that was believed."""
        self.waiting = 0
        """Documents far ahead, in a row, at the end of what was read."""
        self.unbelieved = 0
        """Documents whose time was not believed, since the start."""

    def seconds_of(self, documents: Sequence[Document]) -> Floats | None:
        """Seconds of each document, one after the other; None for a stream without times."""
        given = [document.time.timestamp() if document.time is not None else None for document in documents]
        timed = [time for time in given if time is not None]
        if self.is_timed is None and documents:
            self.is_timed = bool(timed)
            if timed:
                self.high = sorted(timed)[(len(timed) - 1) // 2]
                self.now = next(time for time in timed if time <= self.high + FAR_AHEAD_SECONDS)
        if not self.is_timed:
            return None
        believed = iter(self._believed(timed))
        seconds = np.empty(len(documents))
        for i, time in enumerate(given):
            if time is not None:
                self.now = next(believed)
            seconds[i] = self.now
        return seconds

    def _believed(self, times: list[float]) -> list[float]:
        """The times, and in place of each that is not believed the one before it."""
        if not times or max(times) <= self.high + FAR_AHEAD_SECONDS:  # nearly always
            self.high, self.waiting = max([self.high, *times]), 0 if times else self.waiting
            return times
        found, last = [], self.now
        for i, time in enumerate(times):
            if time > self.high + FAR_AHEAD_SECONDS:
                row = times[i : i + CONFIRMING_DOCUMENTS - self.waiting]
                if len(row) == CONFIRMING_DOCUMENTS - self.waiting and min(row) > self.high + FAR_AHEAD_SECONDS:
                    self.high = min(row)
            if time > self.high + FAR_AHEAD_SECONDS:
                self.waiting += 1
                self.unbelieved += 1
            else:
                self.high, self.waiting, last = max(self.high, time), 0, time
            found.append(last)
        return found

    def get_state(self) -> State:
        """All of it."""
        return {name: getattr(self, name) for name in ("is_timed", "now", "high", "waiting", "unbelieved")}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        clock = cls()
        for name, value in state.items():
            setattr(clock, name, value)
        return clock
