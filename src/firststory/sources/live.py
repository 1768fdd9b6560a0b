"""Several sources read at once, each in a thread of its own, each from its own position."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Self

from firststory.backoff import wait_before
from firststory.errors import FirststoryError
from firststory.notices import Notice
from firststory.records import Arrival, Idle, Lag, Position, Quarantined
from firststory.sources.queue import ArrivalQueue
from firststory.sources.source import Source, TellsLag, Unavailable

SECONDS_TO_CLOSE = 5.0
LOOK_AT_LAG = 3.0
"""Seconds between two questions how much is waiting on the other side."""


class LiveSources:
    """Arrivals of several sources in the order in which they come.

    Parameters
    ----------
    sources : sequence of Source
    positions : mapping
        What the store has committed, by name of the source.
    say : callable
        Is told, in one sentence, when a source is away and when it is back.
    """

    def __init__(
        self, sources: Sequence[Source], positions: Mapping[str, Position], say: Callable[[str], None]
    ) -> None:
        self._queue = ArrivalQueue(len(sources))
        self._stopping = threading.Event()
        self._readers = [
            _Reader(source, positions.get(source.name), self._queue, self._stopping, say) for source in sources
        ]

    def __enter__(self) -> Self:
        for reader in self._readers:
            reader.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Arrival]:
        while (arrival := self._queue.get()) is not None:
            yield arrival

    def acknowledge(self, positions: Sequence[Position]) -> None:
        """These positions are committed; their sources are told when their threads come to it."""
        latest = {position.source: position for position in positions}
        for reader in self._readers:
            if reader.source.name in latest:
                reader.committed = latest[reader.source.name]

    def lag(self) -> dict[str, Lag]:
        """How far behind the store is, as the sources that can tell said last."""
        return {reader.source.name: reader.lag for reader in self._readers if reader.lag is not None}

    def close(self) -> None:
        """Stop reading. What was handed over and not committed will be read again by the next run."""
        self._stopping.set()
        self._queue.close()
        for reader in self._readers:
            reader.join(SECONDS_TO_CLOSE)


class _Reader(threading.Thread):
    """Reads one source, and tries again with longer and longer waits while it is away."""

    def __init__(
        self,
        source: Source,
        after: Position | None,
        queue: ArrivalQueue,
        stopping: threading.Event,
        say: Callable[[str], None],
    ) -> None:
        super().__init__(name=f"source {source.name}", daemon=True)
        self.source = source
        self.committed = after
        self.lag: Lag | None = None
        self._looked = -LOOK_AT_LAG
        self._acknowledged: Position | None = None
        self._after = after
        self._queue, self._stopping, self._say = queue, stopping, say

    def run(self) -> None:
        problem: Exception | None = None
        try:
            self._read_for_ever()
        except FirststoryError as error:
            # The others go on; where none is left, this is how the run ends.
            self._say(Notice(error.without_owner, "source_failed", "error", source=self.source.name))
            problem = error
        except Exception as error:
            problem = error
        with suppress(Exception):
            self.source.close()
        self._queue.end(self.source.name, problem)

    def _read_for_ever(self) -> None:
        attempt = 0
        while not self._stopping.is_set():
            try:
                # Not over the connection that was lost: reading opens the next one, and then it is tried again.
                with suppress(Unavailable):
                    self._acknowledge()
                for arrival in self.source.read(self._after):
                    if attempt:
                        self._say(Notice(f"{self.source.name} is back.", "source_back", source=self.source.name))
                        attempt = 0
                    self._acknowledge()
                    if not self._queue.put(self.source.name, arrival) or self._stopping.is_set():
                        break
                    self._remember(arrival)
                    self._acknowledge()
                    self._look_at_lag()
                else:
                    return
            except Unavailable as problem:
                # What was read need not wait for the rest.
                self._queue.put(self.source.name, Idle())
                wait = wait_before(attempt, problem.retry_after)
                attempt += 1
                sentence = f"{self.source.name}: {problem}; trying again in {wait:.0f} s."
                self._say(Notice(sentence, "source_away", "warning", source=self.source.name, seconds=round(wait, 1)))
                self._stopping.wait(wait)
        with suppress(Unavailable):
            self._acknowledge()

    def _remember(self, arrival: Arrival) -> None:
        if isinstance(arrival, Quarantined):
            self._after = arrival.position
        elif not isinstance(arrival, Idle):
            self._after = arrival[1]

    def _acknowledge(self) -> None:
        committed = self.committed
        if committed is not None and committed is not self._acknowledged:
            self.source.acknowledge(committed)
            self._acknowledged = committed

    def _look_at_lag(self) -> None:
        now = time.monotonic()
        if isinstance(self.source, TellsLag) and now - self._looked >= LOOK_AT_LAG:
            self._looked = now
            self.lag = self.source.lag(self.committed)
