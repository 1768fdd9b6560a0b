"""A slice: one stream runs for some seconds on some worker, from where its store stands, and everything is saved.

Nothing of a stream stays on a worker after its slice, so that the next one may be taken by any other.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Self

from firststory.digest.shapes import alert_json
from firststory.digest.words import PUSHED
from firststory.errors import FirststoryError
from firststory.fleet.streams import Stream
from firststory.pipeline.opening import open_run
from firststory.pipeline.runner import Runner
from firststory.records import Arrival, Idle, Position
from firststory.settings import Settings
from firststory.sinks.delivery import Delivery
from firststory.sinks.opening import open_sinks
from firststory.sources.files import expand, read_all
from firststory.sources.live import LiveSources
from firststory.sources.opening import identity_of, is_live, open_sources, with_folders
from firststory.sources.source import Options
from firststory.store.file_lock import NUMBER_OF_WRITERS
from firststory.store.lease import LeaseLost
from firststory.store.store import Store

MORE, DONE, IDLE, BUSY, LOST, FAILED = "more", "done", "idle", "busy", "lost", "failed"
"""How a slice ends: there is more, the sources are at their end, nothing came; another has the lease, another has taken
it over; the stream cannot go on."""
SILENCE = 2
"""Times that live sources may say that nothing comes before the worker is given to another stream."""


class Job(NamedTuple):
    """A slice that is to be run."""

    stream: Stream
    owner: str
    """Who will hold the lease: a name that is used once."""
    dead: tuple[str, ...]
    """Owners that are known to have ended: their leases need not run out."""
    seconds: float
    lease_seconds: float


class Told(NamedTuple):
    """What became of a slice."""

    stream: str
    end: str
    documents: int = 0
    alerts: int = 0
    message: str = ""


class _TimeIsUp(Exception):
    """In the midst of a step, which the next slice reads again."""


def run_slice(job: Job, is_wanted: Callable[[], bool] = lambda: True) -> Told:
    """Run a stream until its time is up, its sources have nothing more, or it is no longer wanted."""
    counts, message = Counter[str](), ""
    try:
        settings, store = open_run(job.stream.named, job.stream.store)
        with store:
            store.lease(job.lease_seconds, job.owner, job.dead)
            end = _run(job, settings, store, is_wanted, counts)
    except LeaseLost as error:
        end, message = LOST, error.without_owner
    except FirststoryError as error:
        end, message = BUSY if error.parameter == NUMBER_OF_WRITERS else FAILED, error.without_owner
    return Told(job.stream.name, end, counts["documents"], counts["alerts"], message)


def _run(job: Job, settings: Settings, store: Store, is_wanted: Callable[[], bool], counts: Counter[str]) -> str:
    """How it ended."""
    clock = _Clock(job.seconds, is_wanted)
    runner = Runner(settings, store)
    sinks = open_sinks(settings.sinks, settings, alert_json)
    with (
        _Reading(job.stream, settings, store) as reading,
        Delivery(sinks, store, settings.sink_kinds, settings.sink_attempts, _not_said) as delivery,
    ):
        steps = runner.run(clock.watch(reading.arrivals))
        try:
            for step in steps:
                reading.acknowledge(step.positions)
                delivery.wake()
                counts["documents"] += step.counts["seen"]
                counts["alerts"] += sum(alert.kind in PUSHED for alert in step.alerts)
                if clock.is_up():
                    return MORE
        except _TimeIsUp:
            return IDLE if clock.is_silent else MORE
        finally:
            runner.save()
    return DONE


class _Clock:
    """Ends the arrivals of a slice where it may: files between steps, live sources while nothing comes."""

    def __init__(self, seconds: float, is_wanted: Callable[[], bool]) -> None:
        self._end = time.monotonic() + seconds
        self._is_wanted = is_wanted
        self._silence = 0

    @property
    def is_silent(self) -> bool:
        return self._silence > SILENCE

    def is_up(self) -> bool:
        return time.monotonic() >= self._end or not self._is_wanted()

    def watch(self, arrivals: Iterator[Arrival]) -> Iterator[Arrival]:
        for arrival in arrivals:
            if not self._is_wanted():
                raise _TimeIsUp
            yield arrival
            self._silence = self._silence + 1 if isinstance(arrival, Idle) else 0
            if self._silence and (self.is_silent or self.is_up()):
                raise _TimeIsUp


class _Reading:
    """The sources of a stream, from where its store stands."""

    def __init__(self, stream: Stream, settings: Settings, store: Store) -> None:
        names = list(stream.sources)
        reading = {name: getattr(settings, name) for name in ("format", "max_document_bytes", "columns")}
        self._live: LiveSources | None = None
        if is_live(names):
            options = Options(
                identity=identity_of(stream.store),
                max_document_bytes=settings.max_document_bytes,
                allow_private_addresses=settings.allow_private_addresses,
                poll_seconds=settings.poll,
                columns=settings.columns,
                read_file=reading,
            )
            self._live = LiveSources(open_sources(names, options), store.positions(), _not_said)
            self.arrivals = iter(self._live)
        else:
            self.arrivals = read_all(expand(with_folders(names)), store.positions(), _not_said, **reading)

    def acknowledge(self, positions: Sequence[Position]) -> None:
        if self._live is not None:
            self._live.acknowledge(positions)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._live is not None:
            self._live.close()


def _not_said(sentence: str) -> None:
    """Hundreds of streams cannot talk at once; what stops one of them is in `Told`."""
