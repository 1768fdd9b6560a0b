"""A Redis stream: `redis://host:6379/stream`, read by a consumer group, acknowledged after the store's commit.

Without `?group=` the group belongs to this store alone, and is moved to where the store stands before reading begins:
nothing is lost or read twice, also after a kill, a restored backup or a Redis that has forgotten. With a group that is
shared, entries that a dead consumer holds are claimed after `?claim_after=` seconds (60).
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from firststory.errors import MissingExtraError, SourceError
from firststory.records import Arrival, Idle, Lag, Position
from firststory.sources.messages import arrival_from, field_map
from firststory.sources.source import Options, Unavailable, wrong_address

BATCH = 100
"""Entries asked for at once."""
BLOCK_MILLISECONDS = 1000
MOST_PENDING = 100_000
QUERY = ("group", "consumer", "db", "from", "claim_after")
"""What may stand after the ? of the address."""


class RedisStream:
    """Entries of a Redis stream as documents: fields by name, or one field with JSON."""

    def __init__(self, address: str, options: Options) -> None:
        try:
            import redis
        except ImportError as error:
            raise MissingExtraError("firststory", "redis", "redis") from error
        parts = urlsplit(address)
        asked = parse_qs(parts.query)
        self._stream = unquote(parts.path.strip("/"))
        if not parts.hostname or not self._stream or set(asked) - set(QUERY):
            advice = f"After ? there may be {', '.join(QUERY)}."
            raise wrong_address(_without_password(address), "redis://host:port/stream", advice)
        database = int(asked.get("db", ["0"])[0])
        port = parts.port or 6379
        self.name = f"{parts.scheme}://{parts.hostname}:{port}/{self._stream}" + (f"?db={database}" if database else "")
        self._is_shared = "group" in asked
        self._group = asked.get("group", [options.identity])[0]
        self._consumer = asked.get("consumer", [options.identity])[0]
        # Claimed entries stand out of order: a consumer of their own keeps them apart from what was read in order.
        self._claimer = self._consumer + "-claimed"
        self._from = {"start": "0", "now": "$"}.get(asked.get("from", ["start"])[0], asked.get("from", ["0"])[0])
        self._claim_after = float(asked.get("claim_after", ["60"])[0])
        self._fields, self._limit = {**options.columns, **field_map(parts.fragment)}, options.max_document_bytes
        self._redis = redis
        self._client: Any = redis.Redis(
            host=parts.hostname,
            port=port,
            db=database,
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            ssl=parts.scheme == "rediss",
            socket_timeout=10.0,
            socket_connect_timeout=5.0,
        )
        self._unacknowledged: deque[str] = deque()
        self._claimed: list[str] = []
        """Claimed entries that were handed over and are not acknowledged."""

    def read(self, after: Position | None) -> Iterator[Arrival]:
        try:
            yield from self._read(after)
        except (self._redis.ConnectionError, self._redis.TimeoutError) as error:
            raise Unavailable(f"Redis is away ({_short(error)})") from error
        except self._redis.ResponseError as error:
            if any(word in str(error) for word in ("LOADING", "NOGROUP", "CLUSTERDOWN", "READONLY", "MASTERDOWN")):
                raise Unavailable(_short(error)) from error
            raise SourceError(
                owner="source",
                parameter="SOURCE",
                allowed="a stream of a Redis of version 6.2 or later",
                received=f"{self.name}: {_short(error)}",
                remedy="Check the address, the password and the kind of the key.",
            ) from error

    def _read(self, after: Position | None) -> Iterator[Arrival]:
        reached = None if after is None else str(after.at["id"])
        done = set() if after is None else set(after.at.get("claimed", ()))
        reached = self._begin(reached)
        if self._is_shared:
            for name, values in self._history(self._consumer):
                if _order(name) > _order(reached or "0"):
                    reached = name
                    yield self._arrival(name, values, reached)
            for name, values in self._history(self._claimer):
                if name in done:
                    self._client.xack(self._stream, self._group, name)
                elif name not in self._claimed:
                    self._claimed.append(name)
                    yield self._arrival(name, values, reached)
        looked = time.monotonic()
        while True:
            found: Any = self._client.xreadgroup(
                self._group, self._consumer, {self._stream: ">"}, count=BATCH, block=BLOCK_MILLISECONDS
            )
            for name, values in found[0][1] if found else ():
                reached = name.decode()
                yield self._arrival(name.decode(), values, reached)
            if not found:
                yield Idle()
            if time.monotonic() - looked >= min(self._claim_after, 10.0):
                looked = time.monotonic()
                yield from self._claim(reached)

    def _begin(self, reached: str | None) -> str | None:
        """Make the group, or move it to where the store stands."""
        try:
            start = self._from if reached is None else reached
            self._client.xgroup_create(self._stream, self._group, id=start, mkstream=True)
            return reached
        except self._redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise
        if not self._is_shared:
            if reached is None:
                # Nothing is committed: what an earlier run was given and did not commit comes again.
                pending: Any = self._client.xpending(self._stream, self._group)
                if pending["pending"]:
                    self._client.xgroup_setid(self._stream, self._group, _before(pending["min"].decode()))
            else:
                n_read = self._read_up_to(reached)
                self._client.xgroup_setid(self._stream, self._group, reached, entries_read=n_read)
        return reached

    def _told_of_group(self) -> dict[str, Any]:
        groups: Any = self._client.xinfo_groups(self._stream)
        return next((group for group in groups if group["name"].decode() == self._group), {})

    def _read_up_to(self, reached: str) -> int | None:
        """How many entries of the stream there were up to one: Redis counts on from there, and can tell the lag.

        It has counted up to what it delivered last. What came between was delivered and is not acknowledged, unless
        the store is a backup of long ago: then nobody knows, and Redis tells no lag until it has caught up.
        """
        group = self._told_of_group()
        if group.get("entries-read") is None:  # a Redis before 7 does not count
            return None
        delivered, after = group["last-delivered-id"].decode(), f"({reached}"
        if delivered == reached:
            return int(group["entries-read"])
        # What was delivered beyond that, in an earlier life, is pending too.
        pending: Any = self._client.xpending_range(self._stream, self._group, after, delivered, MOST_PENDING)
        following: Any = self._client.xrange(self._stream, min=after, count=1)
        if not pending or not following or following[0][0] != pending[0]["message_id"]:
            return None
        return int(group["entries-read"]) - len(pending)

    def lag(self, committed: Position | None) -> Lag | None:
        try:
            group = self._told_of_group()
        except self._redis.RedisError:  # reading finds out why
            return None
        if group.get("lag") is None:
            return None
        return Lag(int(group["lag"]) + len(self._unacknowledged) + len(self._claimed), "documents")

    def _history(self, consumer: str) -> Iterator[tuple[str, dict[bytes, bytes]]]:
        """What a consumer was given and has not acknowledged, oldest first."""
        last = "0"
        while True:
            found: Any = self._client.xreadgroup(self._group, consumer, {self._stream: last}, count=BATCH)
            entries = found[0][1] if found else []
            if not entries:
                return
            for name, values in entries:
                last = name.decode()
                if values:  # an entry that was deleted has none
                    yield last, values
                else:
                    self._client.xack(self._stream, self._group, last)

    def _claim(self, reached: str | None) -> Iterator[Arrival]:
        """Take over what consumers hold that have not been heard of; a few at a time, since each is remembered."""
        if self._claimed:
            return
        idle = int(self._claim_after * 1000)
        pending: Any = self._client.xpending_range(self._stream, self._group, "-", "+", BATCH, idle=idle)
        theirs = [p["message_id"] for p in pending if p["consumer"].decode() not in (self._consumer, self._claimer)]
        if not theirs:
            return
        taken: Any = self._client.xclaim(self._stream, self._group, self._claimer, idle, theirs)
        for name, values in taken:
            if values:
                self._claimed.append(name.decode())
                yield self._arrival(name.decode(), values, reached)

    def _arrival(self, name: str, values: dict[bytes, bytes], reached: str | None) -> Arrival:
        at: dict[str, Any] = {"id": reached or "0"}
        if self._claimed:
            at["claimed"] = list(self._claimed)
        if name not in self._claimed:
            self._unacknowledged.append(name)
        return arrival_from(
            _payload(values),
            Position(self.name, at),
            fields=self._fields,
            limit=self._limit,
            default_id=f"{self._stream}:{name}",
            default_time=datetime.fromtimestamp(int(name.partition("-")[0]) / 1000, UTC),
        )

    def acknowledge(self, position: Position) -> None:
        reached = _order(str(position.at["id"]))
        claimed = set(position.at.get("claimed", ()))
        try:
            if not self._unacknowledged:
                self._acknowledge_earlier(str(position.at["id"]))
            while self._unacknowledged and _order(self._unacknowledged[0]) <= reached:
                ready = [name for name in list(self._unacknowledged)[:1000] if _order(name) <= reached]
                self._client.xack(self._stream, self._group, *ready)
                for _ in ready:
                    self._unacknowledged.popleft()
            if claimed:
                self._client.xack(self._stream, self._group, *claimed)
                self._claimed = [name for name in self._claimed if name not in claimed]
        except (self._redis.ConnectionError, self._redis.TimeoutError) as error:
            raise Unavailable(f"Redis is away ({_short(error)})") from error
        except self._redis.ResponseError as error:
            if "NOGROUP" not in str(error):  # Redis has forgotten the group: there is nothing to acknowledge
                raise Unavailable(_short(error)) from error

    def _acknowledge_earlier(self, reached: str) -> None:
        """What an earlier process committed and could not acknowledge before it ended."""
        while True:
            pending: Any = self._client.xpending_range(
                self._stream, self._group, "-", reached, 1000, consumername=self._consumer
            )
            if not pending:
                return
            self._client.xack(self._stream, self._group, *(entry["message_id"] for entry in pending))

    def close(self) -> None:
        self._client.close()


def _payload(values: dict[bytes, bytes]) -> Any:
    """The fields by name; or the JSON of the only field."""
    if b"text" not in values and len(values) == 1:
        return next(iter(values.values()))
    made: dict[str, Any] = {key.decode("utf-8", "replace"): _text(value) for key, value in values.items()}
    if isinstance(vector := made.get("vector"), str):
        with suppress(ValueError):  # the document is refused with its own reason
            made["vector"] = json.loads(vector)
    return made


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _order(name: str) -> tuple[int, int]:
    """Where an entry stands in the stream."""
    milliseconds, _, number = name.partition("-")
    return int(milliseconds), int(number or 0)


def _before(name: str) -> str:
    milliseconds, number = _order(name)
    if number:
        return f"{milliseconds}-{number - 1}"
    return f"{milliseconds - 1}-{2**64 - 1}" if milliseconds else "0-0"


def _short(error: Exception) -> str:
    return str(error)[:150]


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    return address.replace(f":{parts.password}@", ":…@") if parts.password else address
