"""The stream: a thread that follows sources and what is pushed into the store."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from firststory.backoff import wait_before
from firststory.datasets import make_story_stream
from firststory.errors import FirststoryError, StoreError
from firststory.pipeline.runner import Runner
from firststory.records import Arrival, Position, Step
from firststory.settings import Settings
from firststory.sinks.delivery import Delivery
from firststory.sinks.sink import Sink
from firststory.sources.live import LiveSources
from firststory.sources.push import PushSource
from firststory.sources.source import Source
from firststory.store.inbox import Inbox
from firststory.store.store import Store

RATE_SECONDS = 60.0
"""The rate is that of about so many seconds."""
SECONDS_TO_STOP = 30.0
TAKING = ("starting", "preparing", "running", "waiting", "restarting")
"""States in which what is pushed will be judged."""
WARM_UP_DOCUMENTS, WARM_UP_STEP = 120, 20


class AnyStream(Protocol):
    """What a service asks of its stream, wherever that runs."""

    on_step: Callable[[], None]
    on_end: Callable[[], None]

    @property
    def state(self) -> str:
        """starting, preparing, running, waiting (for the store), restarting, stopped or failed."""

    @property
    def problem(self) -> Exception | None: ...
    @property
    def memory_bytes(self) -> int:
        """Of a process of its own."""

    @property
    def takes_documents(self) -> bool: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def wake(self) -> None: ...
    def rate(self) -> float: ...
    def told(self) -> dict[str, Any]: ...


class _Stopped(Exception):
    """Someone wants the stream to stop: the step that is being gathered is left, and read again by the next run."""


class Stream:
    """Follows sources in a thread, and tries again where the store was away.

    Parameters
    ----------
    store : Store
        Claimed by this process.
    settings : Settings
    open_sources : callable
        Opens the sources that were named; called again when the stream begins anew.
    open_sinks : callable
        The same for sinks.
    say : callable
        Is told, in one sentence, what a person should know.
    warms_up : bool
        Whether a made-up stream is judged first, so that kernels are compiled before anyone relies on the stream.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        open_sources: Callable[[], Sequence[Source]] = lambda: (),
        open_sinks: Callable[[], Sequence[Sink]] = lambda: (),
        say: Callable[[str], None] = lambda sentence: None,
        *,
        warms_up: bool = False,
    ) -> None:
        self._warms_up = warms_up
        self._store, self._settings, self._say = store, settings, say
        self._open_sources, self._open_sinks = open_sources, open_sinks
        self._inbox = Inbox(store)
        self._push: PushSource | None = None
        self._live: LiveSources | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stream", daemon=True)
        self.on_step: Callable[[], None] = lambda: None
        self.on_end: Callable[[], None] = lambda: None
        """Called when the stream cannot go on."""
        self.memory_bytes = 0
        self.state = "starting"
        self.problem: Exception | None = None
        self.sources: tuple[str, ...] = ()
        self.steps = self.documents = 0
        """Since the start."""
        self.step_seconds = 0.0
        """What the last step took."""
        self._rate, self._counted, self._uncounted = 0.0, time.monotonic(), 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Finish the step that is being computed, save the model, and end."""
        self._stopping.set()
        if self._live is not None:
            self._live.close()
        if self._thread.is_alive():
            self._thread.join(SECONDS_TO_STOP)

    def wake(self) -> None:
        """Something was pushed."""
        if self._push is not None:
            self._push.wake()

    @property
    def takes_documents(self) -> bool:
        """Whether what is pushed will be judged: now, or when the store is back."""
        return self.state in TAKING

    def rate(self) -> float:
        """Documents a second over the last minute or so."""
        now = time.monotonic()
        elapsed = now - self._counted
        if elapsed >= 1.0:
            keep = max(0.0, 1.0 - elapsed / RATE_SECONDS)
            counted, self._uncounted, self._counted = self._uncounted, 0, now
            self._rate = self._rate * keep + (1.0 - keep) * counted / elapsed
        return self._rate

    def told(self) -> dict[str, Any]:
        """Where the stream stands, as JSON values."""
        return {
            "state": self.state,
            "problem": None if self.problem is None else _in_words(self.problem),
            "sources": list(self.sources),
            "documents_per_second": round(self.rate(), 2),
            "step_seconds": round(self.step_seconds, 4),
            "steps_since_start": self.steps,
            "documents_since_start": self.documents,
            "restarts": 0,
        }

    def _run(self) -> None:
        attempt = 0
        while not self._stopping.is_set():
            began = self.steps
            try:
                self._warm_up()
                self._follow()
                self.problem = None
                break
            except StoreError as error:
                self.problem = error
                if self.steps == 0:
                    break
                attempt = 0 if self.steps > began else attempt
                wait = wait_before(attempt, None)
                attempt += 1
                self.state = "waiting"
                self._say(f"{error.without_owner} Trying again in {wait:.0f} s.")
                self._stopping.wait(wait)
            except Exception as error:
                self.problem = error
                break
        self.state = "stopped" if self.problem is None or self._stopping.is_set() else "failed"
        if self.state == "failed":
            self.on_end()

    def _warm_up(self) -> None:
        if not self._warms_up:
            return
        self.state = "preparing"
        wanted = replace(self._settings, vectors=None, step=WARM_UP_STEP)
        made = make_story_stream(WARM_UP_DOCUMENTS, WARM_UP_DOCUMENTS // 10, duplicates=0.05).documents
        arrivals = ((document, Position("made up", {"n": n})) for n, document in enumerate(made))
        for _ in Runner(wanted).run(self._while_wanted(arrivals)):
            pass
        self._warms_up = False

    def _while_wanted(self, arrivals: Iterator[Arrival]) -> Iterator[Arrival]:
        return itertools.takewhile(lambda arrival: not self._stopping.is_set(), arrivals)

    def _follow(self) -> None:
        """From where the store stands until the stream is stopped."""
        self._store.claim()
        runner = Runner(self._settings, self._store, self._say)
        self._push = PushSource(self._inbox, self._settings.max_document_bytes)
        sources = list(self._open_sources())
        self.sources = tuple(source.name for source in sources)
        delivery = Delivery(
            list(self._open_sinks()), self._store, self._settings.sink_kinds, self._settings.sink_attempts, self._say
        )
        with LiveSources([self._push, *sources], self._store.positions(), self._say) as live, delivery:
            self._live = live
            self.state, self.problem = "running", None
            try:
                began = time.perf_counter()
                for step in runner.run(self._until_stopped(iter(live))):
                    live.acknowledge(step.positions)
                    delivery.wake()
                    self._settings = runner.settings
                    self._count(step, time.perf_counter() - began)
                    self.on_step()
                    began = time.perf_counter()
            except _Stopped:
                pass
            finally:
                self._live = None

    def _until_stopped(self, arrivals: Iterator[Arrival]) -> Iterator[Arrival]:
        for arrival in arrivals:
            if self._stopping.is_set():
                break
            yield arrival
        raise _Stopped

    def _count(self, step: Step, seconds: float) -> None:
        self.steps += 1
        self.documents += step.counts.get("seen", 0)
        self._uncounted += step.counts.get("seen", 0)
        self.step_seconds = seconds


def _in_words(error: Exception) -> str:
    return error.without_owner if isinstance(error, FirststoryError) else f"{type(error).__name__}: {error}"
