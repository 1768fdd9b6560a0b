"""Documents that were pushed to the service: they wait in the inbox of the store until the stream comes to them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Protocol

from firststory.errors import StoreError
from firststory.records import Arrival, Idle, Position
from firststory.sources.messages import arrival_from
from firststory.sources.source import Unavailable

NAME = "push"
"""The name under which the position is kept."""
AT_ONCE = 500
"""Documents that are read at a time."""
SILENCE = 0.2
"""Seconds without a document after which the stream need not wait for more."""
FORGET_AFTER = 2_000
"""Judged documents that may lie in the inbox before they are removed; when it is silent all of them are."""


class Waiting(Protocol):
    """A document of the inbox."""

    @property
    def n(self) -> int: ...
    @property
    def document(self) -> str: ...


class Inbox(Protocol):
    """Where pushed documents wait, see `store.inbox`."""

    def after(self, n: int, limit: int) -> Sequence[Waiting]: ...
    def remove(self, up_to: int) -> None: ...


class PushSource:
    """The inbox as a source. A position is the number of the last document that was judged."""

    name = NAME

    def __init__(self, inbox: Inbox, max_document_bytes: int) -> None:
        self._inbox, self._limit = inbox, max_document_bytes
        self._woken = threading.Event()
        self._judged = self._removed = 0
        self._is_closed = False

    def wake(self) -> None:
        """Something was put into the inbox; may be called from any thread."""
        self._woken.set()

    def read(self, after: Position | None) -> Iterator[Arrival]:
        reached = 0 if after is None else int(after.at["n"])
        while not self._is_closed:
            self._woken.clear()
            try:
                found = self._inbox.after(reached, AT_ONCE)
            except StoreError as error:
                raise Unavailable(error.without_owner) from error
            for waiting in found:
                reached = waiting.n
                # What was let in once must not stop for being written a little longer.
                yield arrival_from(
                    waiting.document,
                    Position(self.name, {"n": waiting.n}),
                    fields={},
                    limit=2 * self._limit + 1_000,
                    default_id=f"push:{waiting.n}",
                )
            if not found and not self._woken.wait(SILENCE):
                self._forget()
                yield Idle()
            elif self._judged - self._removed >= FORGET_AFTER:
                self._forget()

    def acknowledge(self, position: Position) -> None:
        self._judged = int(position.at["n"])

    def close(self) -> None:
        self._is_closed = True
        self._woken.set()

    def _forget(self) -> None:
        """Remove what was judged. Should the process end before it, the position still says that it was."""
        if self._judged > self._removed:
            with suppress(StoreError):  # another time, then
                self._inbox.remove(self._judged)
                self._removed = self._judged
