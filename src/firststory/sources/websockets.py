"""A websocket that sends JSON: `wss://host/path#text=body`; `bluesky://host` and `mastodon://TOKEN@host` are presets.

Bluesky's Jetstream can be asked for what was sent since a moment, so that nothing is lost while we are away. Others
cannot: what they send while nobody listens is gone, and that is told.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from firststory.errors import DocumentError, MissingExtraError
from firststory.records import Arrival, Idle, Position, Quarantined
from firststory.sources.html import plain_text
from firststory.sources.messages import at_path, excerpt_of, field_map, json_values, message_document
from firststory.sources.parse import content_id
from firststory.sources.source import Options, Unavailable, wrong_address

QUIET_SECONDS = 1.0
MAX_WAITING = 64
"""Messages that the client holds; after that the server waits, or hangs up."""
_SILENT = logging.getLogger("firststory.websockets")
"""The client would print tracebacks; what matters is raised."""
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
Reading = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""A message as the fields of a document; None where it tells of something else."""


class Websocket:
    """Messages of a websocket as documents."""

    def __init__(self, address: str, options: Options) -> None:
        try:
            import websockets.exceptions
            from websockets.sync.client import connect
        except ImportError as error:
            raise MissingExtraError("firststory", "websockets", "websockets") from error
        self._connect: Any = connect
        self._problems: Any = websockets.exceptions
        parts = urlsplit(address)
        preset, _, scheme = parts.scheme.rpartition("+") if "+" in parts.scheme else (parts.scheme, "", "wss")
        if preset in ("ws", "wss"):
            preset, scheme = "", preset
        if not parts.hostname:
            raise wrong_address(f"{parts.scheme}://", "wss://host/path", "Or bluesky://host, or mastodon://TOKEN@host.")
        host = parts.netloc.rpartition("@")[2]
        self.name = f"{parts.scheme}://{host}{parts.path}"
        query, path = parse_qs(parts.query), parts.path
        self._read: Reading = dict
        self._has_cursor = preset == "bluesky"
        if preset == "bluesky":
            path, self._read = path.rstrip("/") or "/subscribe", bluesky_post
            query.setdefault("wantedCollections", ["app.bsky.feed.post"])
        elif preset == "mastodon":
            path, self._read = path.rstrip("/") or "/api/v1/streaming", mastodon_status
            query.setdefault("stream", ["public"])
            if parts.username:
                query["access_token"] = [unquote(parts.username)]
        elif parts.username:
            host = parts.netloc
        self._url, self._query = f"{scheme}://{host}{path}", query
        self._fields, self._limit = {**options.columns, **field_map(parts.fragment)}, options.max_document_bytes

    def read(self, after: Position | None) -> Iterator[Arrival]:
        at = dict(after.at) if after is not None else {"received": 0}
        query = dict(self._query)
        if self._has_cursor and "cursor" in at:
            query["cursor"] = [str(at["cursor"])]
        url = self._url + (f"?{urlencode(query, doseq=True)}" if query else "")
        opening = {
            "max_size": self._limit,
            "max_queue": MAX_WAITING,
            "open_timeout": 10,
            "proxy": None,
            "logger": _SILENT,
        }
        try:
            with self._connect(url, **opening) as opened:
                while True:
                    try:
                        message = opened.recv(timeout=QUIET_SECONDS)
                    except TimeoutError:
                        yield Idle()
                        continue
                    arrival = self._arrival(message, at)
                    if arrival is not None:
                        yield arrival
        except (self._problems.WebSocketException, OSError, EOFError) as error:
            lost = "" if self._has_cursor else "; what is sent meanwhile is lost"
            raise Unavailable(f"the connection is gone ({str(error)[:150]}){lost}") from error

    def _arrival(self, message: bytes | str, at: dict[str, Any]) -> Arrival | None:
        """The document of a message; `at` moves on with it."""
        at["received"] = int(at.get("received", 0)) + 1
        try:
            values = json_values(message, self._limit)
            if self._has_cursor and isinstance(moment := at_path(values, "time_us"), int):
                if moment < int(at.get("cursor", 0)):
                    return None
                at["cursor"] = moment
            if isinstance(values, Mapping):
                values = self._read(values)
                if values is None:
                    return None
            identity = content_id(values) if isinstance(values, Mapping) else ""
            document = message_document(values, self._fields, self._limit, identity, None)
            return document, Position(self.name, dict(at))
        except DocumentError as error:
            return Quarantined(error.reason, str(error), Position(self.name, dict(at)), excerpt_of(message))

    def acknowledge(self, position: Position) -> None:
        """A websocket does not ask."""

    def close(self) -> None:
        """The connection ends with the reading."""


def bluesky_post(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """A new post of Bluesky's Jetstream; None for likes, deletions, replies without text and the like."""
    if at_path(message, "commit.operation") != "create" or not at_path(message, "commit.record.text"):
        return None
    did, key = str(message.get("did")), str(at_path(message, "commit.rkey"))
    return {
        "id": f"at://{did}/{at_path(message, 'commit.collection')}/{key}",
        "text": at_path(message, "commit.record.text"),
        "time": (message.get("time_us") or 0) / 1e6 or None,
        "source": did,
        "url": f"https://bsky.app/profile/{did}/post/{key}",
        "languages": at_path(message, "commit.record.langs") or [],
    }


def mastodon_status(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """A new status of a Mastodon server; None for deletions, notices and what others have boosted."""
    if message.get("event") != "update":
        return None
    payload = message.get("payload")
    try:
        status = json.loads(payload) if isinstance(payload, str) else payload
    except (ValueError, RecursionError):
        status = None
    if not isinstance(status, Mapping) or status.get("reblog"):
        return None
    text = plain_text(str(status.get("content") or ""))
    if not text:
        return None
    return {
        "id": str(status.get("uri") or status.get("url") or status.get("id") or ""),
        "text": text,
        "title": plain_text(str(status.get("spoiler_text") or "")) or None,
        "time": status.get("created_at"),
        "source": at_path(status, "account.acct"),
        "url": status.get("url"),
    }
