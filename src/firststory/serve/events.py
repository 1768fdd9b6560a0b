"""What happens in a store, told to everyone who listens: read once, however many they are.

The latest steps are kept ready as bytes. A listener is a place in the stream of changes: while it keeps up it gets
those bytes; one that was away, or is slow, gets what it missed from the store. Nothing waits in a queue of its own.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool

from firststory.digest.shapes import alert_json, story_json
from firststory.records import Alert, Story
from firststory.store.changes import KINDS, Change, Cursor, changes
from firststory.store.store import Store

MOST_STEPS, MOST_BYTES = 1_000, 16_000_000
"""What is kept ready."""
REPLAY_STEPS = 50
"""Steps that a listener who was away gets at a time."""
REPLAYS_AT_ONCE = 4
LEAST_DOCUMENTS = 2
"""Of a story that is told: a single document is no story yet."""


class Wishes(NamedTuple):
    """What a listener wants to hear."""

    kinds: frozenset[str] = frozenset(KINDS)
    everything: bool = False
    """Also verdicts that are not novel, and stories of one document."""
    story: str | None = None
    """Of stories, only this one."""

    def has(self, told: Told) -> bool:
        """Whether an event is among them."""
        if told.kind not in self.kinds or (told.is_quiet and not self.everything):
            return False
        return told.story is None or self.story is None or told.story == self.story


class Told(NamedTuple):
    """One event, ready to be sent."""

    cursor: Cursor
    kind: str
    is_quiet: bool
    """Told only to those who want everything."""
    story: str | None
    """The story that changed, where it is one that did."""
    sent: bytes


class TellingStep(NamedTuple):
    """What is told of one step."""

    told: tuple[Told, ...]
    is_complete: bool
    """Whether the quiet events are among them."""
    size: int


class EventHub:
    """Follows the steps of a store on behalf of all listeners.

    Parameters
    ----------
    store : Store
        To read.
    status : callable
        What is told as status, as JSON values.
    """

    def __init__(self, store: Store, status: Callable[[], dict[str, Any]]) -> None:
        self._store, self._status = store, status
        self.head = store.last_step()
        """The last step that was told."""
        self._steps: OrderedDict[int, TellingStep] = OrderedDict()
        self._size = 0
        self._joined: dict[tuple[int, Wishes], bytes] = {}
        self._changed = asyncio.Event()
        self._replaying = asyncio.Semaphore(REPLAYS_AT_ONCE)
        self._last_status = b""
        self.status_number = 0
        """Counts the states that were told."""
        self.listeners = 0
        self.want_everything = 0
        """Listeners who want everything."""
        self.is_closing = False

    # -- what the poller does ------------------------------------------------------------------------------

    async def advance(self) -> None:
        """Look for new steps, and wake everyone up where there are any."""
        last = await run_in_threadpool(self._store.last_step)
        if last < self.head:  # another store lies there now
            self._steps.clear()
            self._size, self.head = 0, last
        if not self.listeners:  # whoever comes later finds it in the store
            self._steps.clear()
            self._size, self.head = 0, last
        while self.head < last and not self.is_closing:
            upto = min(last, self.head + REPLAY_STEPS)
            everything = self.want_everything > 0
            read = run_in_threadpool(tell_steps, self._store, self.head + 1, upto, everything)
            for step, telling in (await read).items():
                self._steps[step] = telling
                self._size += telling.size
            while len(self._steps) > MOST_STEPS or self._size > MOST_BYTES:
                self._size -= self._steps.popitem(last=False)[1].size
            self.head = upto
            self._wake()

    def tell_status(self) -> None:
        """Tell the state of the service, where it is another than before."""
        told = to_json(self._status())
        if told != self._last_status:
            self._last_status = told
            self.status_number += 1
            self._wake()

    def close(self) -> None:
        """Let every listener go."""
        self.is_closing = True
        self._wake()

    def _wake(self) -> None:
        self._joined.clear()
        before, self._changed = self._changed, asyncio.Event()
        before.set()

    # -- what a listener does ------------------------------------------------------------------------------

    async def wait(self, seconds: float) -> None:
        """Until something changes, or for some seconds."""
        changed = self._changed
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await changed.wait()

    def status_event(self) -> bytes:
        """The state of the service, as it was told last."""
        return event("status", Cursor(self.head), self._last_status)

    async def next(self, after: Cursor, wishes: Wishes) -> tuple[bytes, Cursor]:
        """What comes after a place, as much as is ready, and the place after that."""
        steps = range(after.step + 1, self.head + 1)
        is_whole = after == Cursor(after.step)
        if is_whole and all(
            step in self._steps and (self._steps[step].is_complete or not wishes.everything) for step in steps
        ):
            key = (after.step, wishes)
            if key not in self._joined:
                self._joined[key] = joined([one for step in steps for one in self._steps[step].told], wishes)
            return self._joined[key], Cursor(self.head)
        async with self._replaying:
            upto = min(self.head, after.step + REPLAY_STEPS)
            found = await run_in_threadpool(tell_steps, self._store, max(after.step, 0), upto, wishes.everything)
        missed = [one for telling in found.values() for one in telling.told if one.cursor > after]
        return joined(missed, wishes), Cursor(upto)


def tell_steps(store: Store, first: int, last: int, everything: bool) -> dict[int, TellingStep]:
    """What is told of some steps, each of them."""
    found: dict[int, list[Told]] = {step: [] for step in range(first, last + 1)}
    for change in changes(store, first, last, all_verdicts=everything):
        found[change.cursor.step].append(_told(change))
    return {
        step: TellingStep(tuple(told), everything, sum(len(one.sent) for one in told)) for step, told in found.items()
    }


def joined(told: list[Told], wishes: Wishes) -> bytes:
    """What a listener wants of some events, as it is sent."""
    return b"".join(one.sent for one in told if wishes.has(one))


def event(kind: str, cursor: Cursor, data: bytes) -> bytes:
    """One event of the stream; JSON has no line breaks outside of its escapes."""
    return b"event: %b\nid: %b\ndata: %b\n\n" % (kind.encode(), str(cursor).encode(), data)


def _told(change: Change) -> Told:
    record = change.record
    if isinstance(record, Alert):
        value, is_quiet = alert_json(record), False
    elif isinstance(record, Story):
        value = story_json(record)
        is_quiet = record.size + record.duplicates < LEAST_DOCUMENTS and record.status != "merged"
    else:
        value, is_quiet = record.to_dict(), not record.is_novel
    story = record.id if isinstance(record, Story) else None
    return Told(change.cursor, change.kind, is_quiet, story, event(change.kind, change.cursor, to_json(value)))
