"""A Kafka topic: `kafka://host:9092/topic`; offsets are committed to Kafka after the store's commit.

Without `?group=` all partitions are read, from where the store stands; the offsets in Kafka only show the lag. In a
group that is shared with other stores partitions come and go, and what the group has committed counts too, where it is
further.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from firststory.errors import MissingExtraError, SourceError
from firststory.records import Arrival, Idle, Lag, Position
from firststory.sources.messages import arrival_from, field_map
from firststory.sources.source import Options, Unavailable, wrong_address

QUERY = ("group", "from", "security")
SESSION_MS, LONGEST_STEP_MS = 10_000, 600_000
"""After which the others of a shared group take over: from a process that is gone, and from one that is too slow."""
LOOK_FOR_PARTITIONS = 60.0
"""Seconds between two looks at how many partitions the topic has."""


class KafkaTopic:
    """Messages of a Kafka topic as documents in JSON."""

    def __init__(self, address: str, options: Options) -> None:
        try:
            import confluent_kafka
        except ImportError as error:
            raise MissingExtraError("firststory", "confluent_kafka", "kafka") from error
        self._kafka: Any = confluent_kafka
        parts = urlsplit(address)
        asked = parse_qs(parts.query)
        hosts = parts.netloc.rpartition("@")[2]
        self._topic = unquote(parts.path.strip("/"))
        if not hosts or not self._topic or "/" in self._topic or set(asked) - set(QUERY):
            advice = f"After ? there may be {', '.join(QUERY)}."
            raise wrong_address(f"kafka://{hosts}{parts.path}", "kafka://host:port/topic", advice)
        self.name = f"kafka://{hosts}/{self._topic}"
        self._is_shared = "group" in asked
        self._settings: dict[str, Any] = {
            "bootstrap.servers": hosts,
            "group.id": asked.get("group", [options.identity])[0],
            "client.id": options.identity,
            "enable.auto.commit": False,
            "auto.offset.reset": {"start": "earliest", "now": "latest"}.get(
                asked.get("from", ["start"])[0], "earliest"
            ),
            "enable.partition.eof": True,
            "session.timeout.ms": SESSION_MS,
            "max.poll.interval.ms": LONGEST_STEP_MS,
            "queued.max.messages.kbytes": 16_384,
            "log_level": 0,
            "error_cb": lambda error: None,
        }
        if parts.username:
            self._settings |= {
                "security.protocol": asked.get("security", ["SASL_SSL"])[0],
                "sasl.mechanism": "PLAIN",
                "sasl.username": unquote(parts.username),
                "sasl.password": unquote(parts.password or ""),
            }
        self._fields, self._limit = {**options.columns, **field_map(parts.fragment)}, options.max_document_bytes
        self._consumer: Any = None
        self._next: dict[int, int] = {}
        """The offset after the last message that was handed over, by partition."""
        self._at_end: set[int] = set()
        self._assigned: set[int] = set()

    def read(self, after: Position | None) -> Iterator[Arrival]:
        self._next = {int(key): int(value) for key, value in (after.at["offsets"] if after else {}).items()}
        self.close()
        self._consumer = self._kafka.Consumer(self._settings)
        if self._is_shared:
            self._consumer.subscribe([self._topic], on_assign=self._on_assign, on_revoke=self._on_revoke)
        heard = looked = time.monotonic()
        while True:
            if not self._is_shared and (not self._assigned or time.monotonic() - looked > LOOK_FOR_PARTITIONS):
                looked = time.monotonic()
                self._take_all()
            message = self._consumer.poll(0.5)
            if message is None:
                if self._assigned and self._at_end >= self._assigned and time.monotonic() - heard >= 1.0:
                    yield Idle()
                continue
            if message.error() is not None:
                self._take_error(message)
                continue
            heard = time.monotonic()
            partition, offset = message.partition(), message.offset()
            self._at_end.discard(partition)
            if offset < self._next.get(partition, 0):
                continue
            self._next[partition] = offset + 1
            kind, milliseconds = message.timestamp()
            has_time = kind != self._kafka.TIMESTAMP_NOT_AVAILABLE
            yield arrival_from(
                message.value() or b"",
                Position(self.name, {"offsets": {str(key): value for key, value in sorted(self._next.items())}}),
                fields=self._fields,
                limit=self._limit,
                default_id=f"{self._topic}:{partition}:{offset}",
                default_time=datetime.fromtimestamp(milliseconds / 1000, UTC) if has_time else None,
            )

    def _take_error(self, message: Any) -> None:
        error = message.error()
        code = self._kafka.KafkaError
        if error.code() == code._PARTITION_EOF:
            self._at_end.add(message.partition())
        elif error.code() in (code.UNKNOWN_TOPIC_OR_PART, code.TOPIC_AUTHORIZATION_FAILED, code._AUTHENTICATION):
            raise SourceError(
                owner="source",
                parameter="SOURCE",
                allowed="a topic that may be read",
                received=f"{self.name}: {error.str()}",
                remedy="Check the topic's name and who may read it.",
                message=f"{self.name} cannot be read: {error.str()}.",
            )
        else:
            raise Unavailable(f"Kafka is away ({error.str()[:150]})")

    def _take_all(self) -> None:
        """Read every partition, also those that were added since."""
        try:
            told = self._consumer.list_topics(self._topic, timeout=10.0).topics[self._topic]
        except self._kafka.KafkaException as error:
            raise Unavailable(f"Kafka is away ({str(error)[:150]})") from error
        if told.error is not None:
            raise Unavailable(f"the topic cannot be read ({told.error.str()[:150]})")
        start = (
            self._kafka.OFFSET_BEGINNING
            if self._settings["auto.offset.reset"] == "earliest"
            else self._kafka.OFFSET_END
        )
        new = [
            self._kafka.TopicPartition(self._topic, partition, self._next.get(partition, start))
            for partition in sorted(set(told.partitions) - self._assigned)
        ]
        if new:
            self._consumer.incremental_assign(new)
            self._assigned.update(told.partitions)

    def _on_assign(self, consumer: Any, partitions: list[Any]) -> None:
        """Begin where the store stands, or where another store of the group has come to."""
        try:
            committed = {one.partition: one.offset for one in consumer.committed(partitions, timeout=10.0)}
        except self._kafka.KafkaException:
            committed = {}
        for one in partitions:
            offset = max(self._next.get(one.partition, -1), committed.get(one.partition, -1))
            if offset >= 0:
                one.offset = offset
            self._assigned.add(one.partition)
            self._at_end.discard(one.partition)
        consumer.assign(partitions)

    def _on_revoke(self, consumer: Any, partitions: list[Any]) -> None:
        for one in partitions:
            self._assigned.discard(one.partition)

    def acknowledge(self, position: Position) -> None:
        if self._consumer is None:
            return
        offsets = [
            self._kafka.TopicPartition(self._topic, int(partition), int(offset))
            for partition, offset in position.at["offsets"].items()
            if int(partition) in self._assigned
        ]
        if not offsets:
            return
        try:
            self._consumer.commit(offsets=offsets, asynchronous=True)
        except self._kafka.KafkaException as error:
            raise Unavailable(f"Kafka is away ({str(error)[:150]})") from error

    def lag(self, committed: Position | None) -> Lag | None:
        if self._consumer is None or not self._assigned:
            return None
        reached = {} if committed is None else committed.at["offsets"]
        waiting = 0
        for partition in self._assigned:
            # What the last fetch said: no question to the broker.
            known = self._consumer.get_watermark_offsets(
                self._kafka.TopicPartition(self._topic, partition), cached=True
            )
            if known is None or known[1] < 0:
                return None
            low, high = known
            waiting += max(high - max(int(reached.get(str(partition), 0)), low), 0)
        return Lag(waiting, "documents")

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None
            self._assigned.clear()
            self._at_end.clear()
