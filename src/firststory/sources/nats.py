"""A subject of NATS JetStream: `nats://host:4222/news.>`, read by a durable consumer, acknowledged after the commit.

The consumer belongs to this store. Before reading begins it is made to stand where the store stands, so that messages
come in the order of the stream, each once, also after a kill or a restored backup.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from firststory.errors import MissingExtraError, SourceError
from firststory.records import Arrival, Idle, Lag, Position
from firststory.sources.messages import arrival_from, field_map
from firststory.sources.source import Options, Unavailable, wrong_address

T = TypeVar("T")

BATCH = 100
QUERY = ("stream", "durable")
ACK_WAIT = 3600.0
"""Seconds until the server sends a message again: a step may take long, and the consumer is set anew at each start."""


class NatsSubject:
    """Messages of a JetStream subject as documents in JSON."""

    def __init__(self, address: str, options: Options) -> None:
        try:
            import nats
            import nats.errors
            import nats.js.errors
        except ImportError as error:
            raise MissingExtraError("firststory", "nats", "nats") from error
        parts = urlsplit(address)
        asked = parse_qs(parts.query)
        self._subject = unquote(parts.path.strip("/"))
        if not parts.hostname or not self._subject or set(asked) - set(QUERY):
            advice = f"After ? there may be {', '.join(QUERY)}."
            raise wrong_address(f"{parts.scheme}://…{parts.path}", "nats://host:port/subject", advice)
        host = f"{parts.hostname}:{parts.port or 4222}"
        self.name = f"{parts.scheme}://{host}/{self._subject}"
        self._server = f"{parts.scheme}://{parts.netloc.rpartition('@')[0]}{'@' if '@' in parts.netloc else ''}{host}"
        self._stream = asked.get("stream", [None])[0]
        self._durable = asked.get("durable", [options.identity])[0]
        self._fields, self._limit = {**options.columns, **field_map(parts.fragment)}, options.max_document_bytes
        self._nats: Any = nats
        self._loop = asyncio.new_event_loop()
        self._connection: Any = None
        self._subscription: Any = None
        self._unacknowledged: deque[tuple[int, Any]] = deque()
        self._committed = 0

    def read(self, after: Position | None) -> Iterator[Arrival]:
        reached = 0 if after is None else int(after.at["sequence"])
        subscription, stream = self._wait(self._begin(reached))
        self._subscription = subscription
        while True:
            for message in self._wait(self._fetch(subscription)):
                told = message.metadata
                sequence = int(told.sequence.stream)
                if sequence <= self._committed:
                    self._wait(message.ack())
                    continue
                self._unacknowledged.append((sequence, message))
                if sequence <= reached:
                    continue
                reached = sequence
                yield arrival_from(
                    message.data,
                    Position(self.name, {"sequence": sequence}),
                    fields=self._fields,
                    limit=self._limit,
                    default_id=f"{stream}:{sequence}",
                    default_time=told.timestamp,
                )
            else:
                if not subscription.pending_msgs and self._is_quiet:
                    yield Idle()

    _is_quiet = False
    """Whether the last fetch brought nothing."""

    async def _fetch(self, subscription: Any) -> list[Any]:
        try:
            found: list[Any] = await subscription.fetch(BATCH, timeout=1.0)
        except (TimeoutError, self._nats.errors.TimeoutError):
            found = []
            if self._connection.is_closed:
                raise self._nats.errors.ConnectionClosedError from None
        self._is_quiet = not found
        return found

    async def _begin(self, reached: int) -> tuple[Any, str]:
        """Connect, and set the consumer to where the store stands."""
        await self._disconnect()
        self._unacknowledged.clear()
        self._connection = await self._nats.connect(
            self._server, allow_reconnect=False, connect_timeout=5, error_cb=_ignore, name=self._durable
        )
        jetstream = self._connection.jetstream()
        errors = self._nats.js.errors
        try:
            stream = self._stream or await jetstream.find_stream_name_by_subject(self._subject)
            config = (await jetstream.stream_info(stream)).config
        except errors.NotFoundError:
            raise self._cannot("no JetStream stream has this subject", "Make one: nats stream add") from None
        retention = str(config.retention).lower()
        if "interest" in retention:
            raise self._cannot(
                f"the stream {stream} keeps messages by interest, and would drop them when the consumer is set anew",
                "Use a stream with retention by limits or of a work queue.",
            )
        wanted = self._nats.js.api.ConsumerConfig(
            durable_name=self._durable,
            filter_subject=self._subject,
            ack_policy=self._nats.js.api.AckPolicy.EXPLICIT,
            ack_wait=ACK_WAIT,
            max_ack_pending=-1,
        )
        try:
            told = await jetstream.consumer_info(stream, self._durable)
            if not reached:
                reached = int(told.ack_floor.stream_seq)
            await jetstream.delete_consumer(stream, self._durable)
        except errors.NotFoundError:
            pass
        if reached and "workqueue" not in retention:
            policy = self._nats.js.api.DeliverPolicy.BY_START_SEQUENCE
            wanted = replace(wanted, deliver_policy=policy, opt_start_seq=reached + 1)
        await jetstream.add_consumer(stream, wanted)
        return await jetstream.pull_subscribe_bind(consumer=self._durable, stream=stream), stream

    def acknowledge(self, position: Position) -> None:
        self._committed = max(self._committed, int(position.at["sequence"]))
        while self._unacknowledged and self._unacknowledged[0][0] <= self._committed:
            self._wait(self._unacknowledged[0][1].ack())
            self._unacknowledged.popleft()

    def lag(self, committed: Position | None) -> Lag | None:
        try:
            told = self._wait(self._subscription.consumer_info())
        except Unavailable:  # reading finds out why
            return None
        return Lag(int(told.num_pending or 0) + int(told.num_ack_pending or 0), "documents")

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return self._loop.run_until_complete(work)
        except SourceError:
            raise
        except (TimeoutError, self._nats.errors.Error, OSError) as error:
            raise Unavailable(f"NATS is away ({str(error)[:150] or type(error).__name__})") from error

    async def _disconnect(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()

    def close(self) -> None:
        try:
            if self._connection is not None and not self._connection.is_closed:
                # Acknowledgements are sent before the connection goes.
                self._wait(self._connection.flush(2))
            self._wait(self._disconnect())
        except Unavailable:
            pass
        finally:
            self._loop.run_until_complete(_cancel_others())
            self._loop.close()

    def _cannot(self, problem: str, remedy: str) -> SourceError:
        return SourceError(
            owner="source",
            parameter="SOURCE",
            allowed="a subject that JetStream keeps",
            received=f"{self.name}: {problem}",
            remedy=remedy,
            message=f"{self.name} cannot be read: {problem}.",
        )


async def _cancel_others() -> None:
    """The client leaves tasks behind that would complain when the loop is gone."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


async def _ignore(error: Exception) -> None:
    """The client would print; what matters is raised where we wait."""
