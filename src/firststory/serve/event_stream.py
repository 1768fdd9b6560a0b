"""One listener: an answer that goes on until it is closed from either side."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from firststory.serve.events import EventHub, Wishes
from firststory.store.changes import Cursor

RETRY_MILLISECONDS = 2_000
"""When a browser comes back after the connection was cut."""
PATIENCE = 30.0
"""Seconds in which a listener must take what it is sent; one that does not is let go, and may come back."""

SECONDS_TO_CLOSE = 1.0


class EventStream(Response):
    """Server-sent events after a place.

    Parameters
    ----------
    hub : EventHub
    after : Cursor
        The place after which to begin.
    wishes : Wishes
    heartbeat : float
        Seconds of silence after which a comment is sent, so that nothing in between closes the connection.
    """

    media_type = "text/event-stream"

    def __init__(self, hub: EventHub, after: Cursor, wishes: Wishes, heartbeat: float) -> None:
        super().__init__(None, 200, {"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._hub, self._after, self._wishes, self._heartbeat = hub, after, wishes, heartbeat
        self._status_number = -1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hub = self._hub
        hub.listeners += 1
        hub.want_everything += self._wishes.everything
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            telling = asyncio.ensure_future(self._tell(send))
            await asyncio.wait((gone, telling), return_when=asyncio.FIRST_COMPLETED)
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            if not gone.done():
                with suppress(TimeoutError):  # one that takes nothing is left as it is
                    async with asyncio.timeout(SECONDS_TO_CLOSE):
                        await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            hub.listeners -= 1
            hub.want_everything -= self._wishes.everything

    async def _tell(self, send: Send) -> None:
        hub = self._hub
        await _send(send, b"retry: %d\n\n" % RETRY_MILLISECONDS)
        while not hub.is_closing:
            sent = b""
            if self._after < Cursor(hub.head):
                sent, self._after = await hub.next(self._after, self._wishes)
            if self._after >= Cursor(hub.head) and self._status_number != hub.status_number:
                self._status_number = hub.status_number
                sent += hub.status_event() if "status" in self._wishes.kinds else b""
            if sent:
                await _send(send, sent)
            elif self._after >= Cursor(hub.head):
                before = (hub.head, hub.status_number)
                await hub.wait(self._heartbeat)
                if before == (hub.head, hub.status_number) and not hub.is_closing:
                    # An id without data moves the place from which a browser comes back, and calls nobody.
                    await _send(send, b": nothing new\nid: %b\n\n" % str(self._after).encode())


async def _send(send: Send, sent: bytes) -> None:
    async with asyncio.timeout(PATIENCE):
        await send({"type": "http.response.body", "body": sent, "more_body": True})


async def _gone(receive: Receive) -> None:
    """Until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
