"""The fleet: keeps every worker busy with the slices of streams, late ones first, until all are done.

No stream ever has two writers: every slice holds the lease of its store, and every step checks it. The fleet keeps
nothing itself; where it is ended and started again, every stream goes on from its store.
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from firststory.backoff import wait_before
from firststory.fleet.slices import BUSY, DONE, FAILED, IDLE, LOST, Job, Told
from firststory.fleet.streams import Stream
from firststory.fleet.workers import DIED, Workers
from firststory.store.file_lock import this_process

MOST_FAILURES = 5
"""In a row, after which a stream is given up."""
IDLE_SECONDS = 5.0
"""Between two looks at queues that had nothing; feeds are asked as seldom as their setting `poll` says."""
POLL_SECONDS = 0.2


@dataclass(slots=True)
class Standing:
    """Where a stream stands."""

    stream: Stream
    due: float = 0.0
    """When it may have its next slice."""
    end: str = "waiting"
    documents: int = 0
    alerts: int = 0
    slices: int = 0
    failures: int = 0
    """In a row."""
    message: str = ""
    dead: list[str] = field(default_factory=list)
    """Owners of its lease that have ended."""
    owner: str = ""

    @property
    def is_over(self) -> bool:
        return self.end == DONE or self.failures >= MOST_FAILURES


class Fleet:
    """Runs streams in slices.

    Parameters
    ----------
    streams : sequence of Stream
    workers : Workers
    seconds : float
        Of a slice.
    lease_seconds : float
        How long a store is kept from others after the last sign of its writer.
    say : callable
        Is told of streams that fail.
    """

    def __init__(
        self,
        streams: Sequence[Stream],
        workers: Workers,
        *,
        seconds: float = 10.0,
        lease_seconds: float = 30.0,
        say: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.standings = [Standing(stream) for stream in streams]
        self._workers, self._seconds, self._lease_seconds, self._say = workers, seconds, lease_seconds, say
        self._jobs: queue.Queue[tuple[Standing, Job] | None] = queue.Queue()
        self._done: queue.Queue[tuple[Standing, Told | BaseException]] = queue.Queue()
        self._running: set[int] = set()

    def run(self, is_wanted: Callable[[], bool] = lambda: True) -> Iterator[Told]:
        """What became of each slice, until every stream is done or given up, or no more is wanted."""
        threads = [
            threading.Thread(target=self._serve, args=(place,), name=f"place {place}", daemon=True)
            for place in range(self._workers.places)
        ]
        for thread in threads:
            thread.start()
        try:
            while is_wanted() and not all(one.is_over for one in self.standings):
                self._hand_out()
                yield from self._take_in()
            self._workers.stop()
            while self._running:
                yield from self._take_in()
        finally:
            self._workers.stop()
            for _ in threads:
                self._jobs.put(None)

    def _hand_out(self) -> None:
        """Give a slice to every free place: the stream that has waited longest first."""
        now = time.monotonic()
        free = self._workers.places - len(self._running)
        waiting = [one for one in self.standings if not one.is_over and id(one) not in self._running and one.due <= now]
        for standing in sorted(waiting, key=lambda one: one.due)[:free]:
            standing.owner = f"{this_process()} {uuid.uuid4().hex[:12]}"
            job = Job(standing.stream, standing.owner, tuple(standing.dead), self._seconds, self._lease_seconds)
            self._running.add(id(standing))
            self._jobs.put((standing, job))

    def _take_in(self) -> Iterator[Told]:
        """What has come back, after waiting for it for a moment."""
        try:
            standing, told = self._done.get(timeout=POLL_SECONDS)
        except queue.Empty:
            return
        self._running.discard(id(standing))
        if isinstance(told, BaseException):
            raise told
        self._note(standing, told)
        yield told

    def _note(self, standing: Standing, told: Told) -> None:
        standing.slices += 1
        standing.end, standing.message = told.end, told.message
        standing.documents += told.documents
        standing.alerts += told.alerts
        if told.end == DIED:
            standing.dead.append(standing.owner)
        elif told.end not in (BUSY, FAILED):
            standing.dead.clear()
        is_failure = told.end in (FAILED, DIED)
        standing.failures = standing.failures + 1 if is_failure else 0
        wait = 0.0
        if is_failure:
            wait = wait_before(standing.failures)
            given_up = " It is given up." if standing.is_over else ""
            self._say(f"{told.stream}: {told.message}{given_up}")
        elif told.end in (BUSY, LOST):
            wait = min(self._lease_seconds / 2, 5.0)
        elif told.end == IDLE:
            is_feed = any(source.startswith(("rss", "opml")) for source in standing.stream.sources)
            wait = standing.stream.settings.poll if is_feed else IDLE_SECONDS
        standing.due = time.monotonic() + wait

    def _serve(self, place: int) -> None:
        """One place: slice after slice."""
        while (given := self._jobs.get()) is not None:
            standing, job = given
            try:
                self._done.put((standing, self._workers.run(place, job)))
            except BaseException as error:
                self._done.put((standing, error))
