"""The service: a store that many read at once, the stream that fills it, and what is known of both."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.concurrency import run_in_threadpool

from firststory._version import __version__
from firststory.digest.words import iso
from firststory.errors import StoreError
from firststory.records import Position
from firststory.serve.authentication import Authentication
from firststory.serve.events import EventHub
from firststory.serve.intake import Intake
from firststory.serve.kept_answers import TIMES_AS_LONG, Version
from firststory.serve.metrics import Metrics
from firststory.serve.options import ServiceOptions
from firststory.serve.samples import Samples, memory_bytes
from firststory.serve.stream import AnyStream
from firststory.sources.push import NAME as PUSH
from firststory.store.inbox import Inbox
from firststory.store.setting_changes import wanted
from firststory.store.store import Store

STATUS_EVERY = 1.0
"""Seconds between two looks at the counts; more where counting takes long."""
BREATH = 0.05
"""Seconds from a step to a look at it: the next may follow at once."""
TICK = 0.25
"""Seconds between two looks at the steps, however fast they come: so often is sent to those who listen."""
ANSWERS_HOLD = 1.0
"""Seconds for which answers are kept at least while steps pour in; what is said or changed here shows at once."""
TOKENS_NOTED_EVERY = 60.0


class Service:
    """An open store and what runs on it.

    Parameters
    ----------
    url : str
        The store; it must exist.
    options : ServiceOptions
    stream : AnyStream, optional
        Judges what is pushed, and what sources bring. It is started and stopped with the service.
    why_read_only : str
        Why there is no stream, in words; empty where there is one.
    say : callable
        Is told, in one sentence, what whoever runs the service should know.
    """

    def __init__(
        self,
        url: str,
        options: ServiceOptions | None = None,
        *,
        stream: AnyStream | None = None,
        why_read_only: str = "",
        say: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.options = options or ServiceOptions()
        self.reader = Store(url, create=False, read_only=True)
        """The store, for reading."""
        self.writer = None if self.options.read_only else _writer(url)
        """The store, for what people say and push; None where it cannot be written."""
        self.stream, self.why_read_only, self.say = stream, why_read_only, say
        self.inbox = None if self.writer is None else Inbox(self.writer)
        self.intake = None if self.inbox is None else Intake(self.inbox.add)
        self.samples = Samples()
        """Rate, lag and memory of the last day, for people."""
        self.authentication = Authentication(
            self.reader,
            self.writer,
            is_demanded=not self.options.is_loopback,
            session_seconds=self.options.session_seconds,
        )
        self.hub = EventHub(self.reader, self.brief_status)
        self.metrics = Metrics(self.status, lambda: self.hub.listeners)
        self._seen: object = None
        self._seen_at = -ANSWERS_HOLD
        self._touched = self._touched_then = 0
        self._status: dict[str, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()

    # -- what is known -------------------------------------------------------------------------------------

    @property
    def version(self) -> Version:
        """Another value whenever the store has changed, as far as that is known."""
        return Version(self._seen, self._touched)

    def touch(self) -> None:
        """Something was written here: answers are worked out anew."""
        self._touched += 1
        self.wake()

    def status(self) -> dict[str, Any]:
        """What the store holds and how the stream goes, a second old at most in all but large stores."""
        if not self._status:
            self._status = self._read_status()
        return self._status | {"stream": self._stream_told(), "memory_bytes": self.memory_bytes()}

    def memory_bytes(self) -> int:
        """What the service has in memory, with the process that judges."""
        return memory_bytes() + (0 if self.stream is None else self.stream.memory_bytes)

    def brief_status(self) -> dict[str, Any]:
        """What is told to everyone who listens."""
        told = self.status()
        names = ("steps", "documents", "alert_counts", "stories", "last_time", "inbox", "mode")
        stream = told["stream"]
        return {name: told[name] for name in names} | {
            "state": None if stream is None else stream["state"],
            "version": __version__,
        }

    @property
    def mode(self) -> str:
        """ "stream": documents are taken and judged; "reading": another does, or nobody; "read-only"."""
        if self.stream is not None:
            return "stream"
        return "reading" if self.writer is not None else "read-only"

    def _stream_told(self) -> dict[str, Any] | None:
        return None if self.stream is None else self.stream.told()

    def waiting(self) -> int:
        """How many pushed documents wait to be judged."""
        return Inbox(self.reader).length(_judged(self.reader.positions()))

    def _read_status(self) -> dict[str, Any]:
        told = self.reader.status()
        positions = self.reader.positions()
        judged, waiting = _judged(positions), Inbox(self.reader)
        oldest = waiting.oldest(judged)
        lag = 0.0 if oldest is None else max(0.0, time.time() - oldest / 1e6)
        return told | {
            "first_time": iso(told["first_time"]),
            "last_time": iso(told["last_time"]),
            "settings": self.reader.settings(),
            "wanted_settings": wanted(self.reader),
            "positions": {name: dict(position.at) for name, position in positions.items()},
            "inbox": waiting.length(judged),
            "lag_seconds": round(lag, 3),
            "store_bytes": self.reader.size(),
            "mode": self.mode,
            "why_read_only": self.why_read_only,
            "version": __version__,
        }

    # -- life ----------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow the store while the application runs."""
        self._loop = asyncio.get_running_loop()
        await self._look()
        self._status = await run_in_threadpool(self._read_status)
        self.hub.tell_status()
        polling = asyncio.create_task(self._poll())
        if self.stream is not None:
            self.stream.on_step = self.wake
            self.stream.start()
        try:
            yield
        finally:
            self.hub.close()
            polling.cancel()
            with suppress(asyncio.CancelledError):
                await polling
            if self.stream is not None:
                await run_in_threadpool(self.stream.stop)
            self._loop = None

    def stop_listening(self) -> None:
        """Let everyone go who listens to events; may be called from a signal handler or another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.hub.close)

    def wake(self) -> None:
        """Look at the store at once; may be called from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                self._loop.call_soon_threadsafe(self._woken.set)

    def close(self) -> None:
        """Give the store back."""
        self.reader.close()
        if self.writer is not None:
            self.writer.close()

    async def _poll(self) -> None:
        """The only one who looks whether the store has changed."""
        count_next = noted = looked = 0.0
        while True:
            try:
                now = looked = time.monotonic()
                await self._look()
                if now >= count_next:
                    self._status = await run_in_threadpool(self._read_status)
                    took = time.monotonic() - now
                    count_next = now + max(STATUS_EVERY, took * TIMES_AS_LONG)
                    self.samples.take(self._status, self._stream_told(), self.memory_bytes())
                    self.hub.tell_status()
                if now - noted >= TOKENS_NOTED_EVERY:
                    noted = now
                    await run_in_threadpool(self.authentication.note_used)
            except StoreError as error:
                self.say(f"{error.without_owner} Trying again.")
                await asyncio.sleep(1.0)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.options.poll_seconds):
                    await self._woken.wait()
                await asyncio.sleep(max(BREATH, looked + TICK - time.monotonic()))
            self._woken.clear()

    async def _look(self) -> None:
        now = time.monotonic()
        if now - self._seen_at >= ANSWERS_HOLD or self._touched != self._touched_then:
            touched, seen = self._touched, await run_in_threadpool(self.reader.state_number)
            if seen != self._seen:
                self._seen, self._seen_at, self._touched_then = seen, now, touched
        await self.hub.advance()


def _judged(positions: Mapping[str, Position]) -> int:
    """The number of the last pushed document that was judged."""
    return int(positions[PUSH].at["n"]) if PUSH in positions else 0


def _writer(url: str) -> Store | None:
    """The store to write to; None where that is not allowed."""
    try:
        store = Store(url, create=False)
    except StoreError:
        return None
    if not store.is_writable():
        store.close()
        return None
    return store
