"""Kafka with the cluster that librdkafka itself brings for tests: real sockets, groups and offsets."""

from __future__ import annotations

import json
import sys
from itertools import islice

import pytest

from firststory.errors import MissingExtraError, SourceError
from firststory.records import Idle, Quarantined
from firststory.sources.kafka import KafkaTopic
from firststory.sources.live import LiveSources
from firststory.sources.opening import open_sources
from firststory.sources.source import Options
from services.killing import contents, documents, run_from_file, run_with_kills
from services.servers import wait_until

kafka = pytest.importorskip("confluent_kafka")


@pytest.fixture(scope="module")
def producer():
    """A producer with a cluster inside; it lives as long as the producer."""
    made = kafka.Producer({"bootstrap.servers": "unused", "test.mock.num.brokers": 1, "log_level": 0})
    yield made
    made.flush(5)


@pytest.fixture(scope="module")
def broker(producer):
    (told,) = producer.list_topics(timeout=10).brokers.values()
    return f"{told.host}:{told.port}"


@pytest.fixture
def address(broker, fresh_name):
    return f"kafka://{broker}/{fresh_name}"


def fill(producer, topic, values, partition=0):
    for value in values:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        producer.produce(topic, data, partition=partition)
    assert producer.flush(20) == 0


def take(source, n, after=None):
    return list(islice((one for one in source.read(after) if not isinstance(one, Idle)), n))


def ids(arrivals):
    return [document.id for document, _ in arrivals]


def committed(broker, group, topic, partition=0):
    consumer = kafka.Consumer({"bootstrap.servers": broker, "group.id": group, "log_level": 0})
    (told,) = consumer.committed([kafka.TopicPartition(topic, partition)], timeout=10)
    consumer.close()
    return told.offset


@pytest.mark.parametrize("kills", [5, pytest.param(40, marks=pytest.mark.soak)])
def test_killed_runs_lose_nothing_and_repeat_nothing(producer, address, fresh_name, tmp_path, kills):
    values = documents(800)
    fill(producer, fresh_name, values)
    store = tmp_path / "killed.db"
    run_with_kills(store, [address], len(values), kills, seed=4)
    assert contents(store) == run_from_file(tmp_path, values)


def test_reading_goes_on_where_the_store_stands_not_the_group(producer, broker, address, fresh_name):
    fill(producer, fresh_name, [{"id": f"d{i}", "text": f"Text {i}"} for i in range(6)])
    source = KafkaTopic(address, Options(identity="mine"))
    found = take(source, 6)
    assert ids(found) == [f"d{i}" for i in range(6)] and found[2][1].at == {"offsets": {"0": 3}}
    source.acknowledge(found[4][1])
    source.close()
    assert committed(broker, "mine", fresh_name) == 5
    # A backup from before: the group is further than the store.
    again = KafkaTopic(address, Options(identity="mine"))
    assert ids(take(again, 4, found[1][1])) == ["d2", "d3", "d4", "d5"]
    again.close()


def test_partitions_have_offsets_of_their_own(producer, address, fresh_name):
    for partition in range(3):
        values = [{"id": f"{partition}-{i}", "text": f"Text {i}"} for i in range(4)]
        fill(producer, fresh_name, values, partition)
    source = KafkaTopic(address, Options(identity="p"))
    found = take(source, 12)
    source.close()
    assert len(set(ids(found))) == 12 and found[-1][1].at == {"offsets": {"0": 4, "1": 4, "2": 4}}
    again = KafkaTopic(address, Options(identity="p"))
    rest = take(again, 12 - 5, found[4][1])
    again.close()
    assert set(ids(found[:5])) | set(ids(rest)) == set(ids(found)) and len(set(ids(rest))) == 7


def test_partitions_move_between_the_readers_of_a_shared_group(producer, address, fresh_name):
    """The second reader takes over what the first has committed, and nothing of it again."""
    fill(producer, fresh_name, [{"id": f"d{i}", "text": f"Text {i}"} for i in range(6)])
    shared = address + "?group=team"
    first = KafkaTopic(shared, Options(identity="one"))
    found = take(first, 4)
    first.acknowledge(found[2][1])
    first.close()
    second = KafkaTopic(shared, Options(identity="two"))
    assert ids(take(second, 3)) == ["d3", "d4", "d5"]
    second.close()


def test_bad_messages_are_quarantined_and_missing_ids_are_those_of_the_topic(producer, address, fresh_name):
    fill(producer, fresh_name, [b"\xff", b'{"body": "Bridge closed"}'])
    source = KafkaTopic(address + "#text=body", Options(identity="q"))
    bad, (good, _) = take(source, 2)
    source.close()
    assert isinstance(bad, Quarantined) and bad.reason == "broken-utf8"
    assert good.id == f"{fresh_name}:0:1" and good.text == "Bridge closed" and good.time is not None


def test_idle_is_told_at_the_end_of_every_partition(producer, address, fresh_name):
    fill(producer, fresh_name, [{"id": "a", "text": "Text"}])
    source = KafkaTopic(address, Options(identity="i"))
    first, second = islice(source.read(None), 2)
    source.close()
    assert first[0].id == "a" and isinstance(second, Idle)


def test_mistakes_are_told_at_once(address, monkeypatch):
    with pytest.raises(SourceError, match="kafka://host:port/topic") as told:
        KafkaTopic("kafka://me:secret@127.0.0.1/", Options())
    assert "secret" not in str(told.value)
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[kafka\]'"):
        KafkaTopic(address, Options())


def test_the_lag_is_told(producer, address, fresh_name, monkeypatch):
    monkeypatch.setattr("firststory.sources.live.LOOK_AT_LAG", 0.0)
    for partition in range(2):
        fill(producer, fresh_name, [{"id": f"{partition}-{i}", "text": f"Text {i}"} for i in range(50)], partition)
    (source,) = open_sources([address], Options(identity="lag"))
    with LiveSources([source], {}, print) as live:
        taken = [arrival for arrival in islice(live, 100) if not isinstance(arrival, Idle)]
        live.acknowledge([taken[29][1]])
        fill(producer, fresh_name, [{"id": "later", "text": "Later"}])
        wait_until(lambda: live.lag().get(source.name) == (71, "documents"), "the lag")
