"""Answers kept as the bytes that are sent: until the store changes, a question asked again costs next to nothing.

It stands behind the guard, so whoever gets a kept answer was let in like everyone else.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from firststory.serve.answering import KEEP
from firststory.serve.visitor import Visitor

MOST_BYTES = 32_000_000
"""Of all answers that are kept."""
LONG_TO_MAKE = 0.05
"""Seconds of work from which on an answer also holds while the stream brings more."""
TIMES_AS_LONG = 20.0
"""It then holds so many times as long as it took: so one address takes a twentieth of a processor at most. For as long
again it stands in for the next one while that is worked out, and nobody waits."""
LONGEST_HOLD = 30.0
"""Seconds."""
ZONE = b"zone="
"""The cookie with the zone of a reader, on which the times of a page depend."""

Key = tuple[str, bytes, bool, bool, bool, bytes]
Headers = list[tuple[bytes, bytes]]


class Version(NamedTuple):
    """What answers were worked out from."""

    store: object
    """Another value whenever the stream has changed the store."""
    said: int
    """Counts what people changed here, which they must see at once."""


class Kept(NamedTuple):
    """An answer, and until when it holds."""

    version: Version
    headers: Headers
    body: bytes
    tag: bytes
    route: object
    until: float
    """While the store is the same."""
    holds_until: float
    """Whatever the stream brings."""
    stands_in_until: float
    """While the next one is worked out."""


class KeptAnswers:
    """Answers to GET requests. The same question asked twice at once is worked out once.

    Parameters
    ----------
    app : ASGIApp
        Works answers out; those that may be kept are marked in the scope.
    version : callable
        The version of the store as it is known now.
    """

    def __init__(self, app: ASGIApp, version: Callable[[], Version]) -> None:
        self._app, self._version = app, version
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._bytes = 0
        self._being_made: dict[Key, asyncio.Future[None]] = {}
        self._behind: set[asyncio.Task[Kept | None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] == "/events":
            await self._app(scope, receive, send)
            return
        key, known = _key(scope)
        kept = self._get(key, scope)
        if kept is None and (making := self._being_made.get(key)) is not None:
            await asyncio.shield(making)
            kept = self._get(key, scope)
        if kept is None:
            kept = await self._make(key, scope, receive, send)
            if kept is None:
                return
        scope["route"] = kept.route
        if known is not None and _matches(known, kept.tag):
            headers = [pair for pair in kept.headers if pair[0] not in (b"content-length", b"content-encoding")]
            await send({"type": "http.response.start", "status": 304, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await send({"type": "http.response.start", "status": 200, "headers": kept.headers})
        await send({"type": "http.response.body", "body": kept.body})

    def _get(self, key: Key, scope: Scope) -> Kept | None:
        """The answer that holds, or one that stands in for it; the next one is then worked out behind."""
        kept, version, now = self._kept.get(key), self._version(), time.monotonic()
        if kept is None or kept.version.said != version.said:
            return None
        if now < kept.holds_until or (now < kept.until and kept.version == version):
            return kept
        if now >= kept.stands_in_until:
            return None
        if key not in self._being_made:
            task = asyncio.ensure_future(self._make(key, dict(scope), _nothing, _nowhere))
            self._behind.add(task)
            task.add_done_callback(self._behind.discard)
        return kept

    async def _make(self, key: Key, scope: Scope, receive: Receive, send: Send) -> Kept | None:
        """Work an answer out. One that can be kept is returned to be sent; any other is sent on the way."""
        version, making = self._version(), asyncio.get_running_loop().create_future()
        self._being_made[key] = making
        start: Message | None = None
        parts: list[bytes] = []
        began = time.monotonic()

        async def caught(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and message["status"] == 200 and KEEP in scope:
                start = message
            elif start is not None:
                parts.append(message.get("body", b""))
            else:
                await send(message)

        try:
            await self._app(scope, receive, caught)
        finally:
            if self._being_made.get(key) is making:
                del self._being_made[key]
            making.set_result(None)
        if start is None:
            return None
        headers = [(name.lower(), value) for name, value in start["headers"]]
        tag = next((value for name, value in headers if name == b"etag"), b"")
        now = time.monotonic()
        took = now - began
        hold = min(took * TIMES_AS_LONG, LONGEST_HOLD) if took > LONG_TO_MAKE else 0.0
        until = now + scope[KEEP], now + hold, now + 2 * hold
        kept = Kept(version, headers, b"".join(parts), tag, scope.get("route"), *until)
        self._put(key, kept)
        return kept

    def _put(self, key: Key, kept: Kept) -> None:
        before = self._kept.pop(key, None)
        self._bytes += len(kept.body) - (0 if before is None else len(before.body))
        self._kept[key] = kept
        while self._bytes > MOST_BYTES:
            self._bytes -= len(self._kept.popitem(last=False)[1].body)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _nowhere(message: Message) -> None:
    """Nobody waits for this answer."""


def _key(scope: Scope) -> tuple[Key, bytes | None]:
    """What an answer depends on, and the versions of it that the client has already."""
    packed, known, zone = False, None, b""
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            packed = b"gzip" in value
        elif name == b"if-none-match":
            known = value
        elif name == b"cookie" and ZONE in value:
            zone += next((one for one in value.split(b";") if one.strip().startswith(ZONE)), b"").strip()
    visitor: Visitor = scope["firststory.visitor"]
    key = (scope["path"], scope["query_string"], packed, visitor.may_write, bool(visitor.name), zone)
    return key, known


def _matches(given: bytes, tag: bytes) -> bool:
    """Whether a client has this version already; whether tags are weak does not matter here."""
    tags = [one.strip().removeprefix(b"W/") for one in given.split(b",")]
    return given.strip() == b"*" or tag.removeprefix(b"W/") in tags
