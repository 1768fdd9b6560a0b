"""NATS JetStream with a real nats-server."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import islice

import pytest

from firststory.errors import MissingExtraError, SourceError
from firststory.records import Idle, Quarantined
from firststory.sources.live import LiveSources
from firststory.sources.nats import NatsSubject
from firststory.sources.opening import open_sources
from firststory.sources.source import Options
from services.killing import contents, documents, finish, log_of, run_from_file, run_with_kills, start, stored
from services.servers import wait_until

nats = pytest.importorskip("nats")


def call(server, work):
    """Do something with a connection of our own."""

    async def connected():
        connection = await nats.connect(f"nats://127.0.0.1:{server.port}")
        try:
            return await work(connection.jetstream())
        finally:
            await connection.close()

    return asyncio.run(connected())


def fill(server, stream, values, **config):
    async def work(jetstream):
        await jetstream.add_stream(name=stream, subjects=[f"{stream}.>"], **config)
        for value in values:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            await jetstream.publish(f"{stream}.all", data)

    call(server, work)


def consumer_of(server, stream):
    async def work(jetstream):
        return (await jetstream.consumers_info(stream))[0]

    return call(server, work)


def nothing_waits(server, stream):
    """Whether the consumer has all messages and all acknowledgements; a run that begins sets it anew."""

    async def work(jetstream):
        return await jetstream.consumers_info(stream)

    consumers = call(server, work)
    return bool(consumers) and consumers[0].num_ack_pending == 0 and consumers[0].num_pending == 0


@pytest.fixture
def address(nats_server, fresh_name):
    return f"nats://127.0.0.1:{nats_server.port}/{fresh_name}.>"


def take(source, n, after=None):
    return list(islice((one for one in source.read(after) if not isinstance(one, Idle)), n))


def ids(arrivals):
    return [document.id for document, _ in arrivals]


@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.parametrize("retention", ["limits", pytest.param("workqueue", marks=pytest.mark.soak)])
def test_killed_runs_lose_nothing_and_repeat_nothing(
    nats_server, address, fresh_name, new_store, tmp_path, kills, retention
):
    values = documents(800 if kills == 20 else 4000)
    fill(nats_server, fresh_name, values, retention=retention)
    store = new_store("killed")
    settled = lambda: nothing_waits(nats_server, fresh_name)  # noqa: E731
    found = run_with_kills(store, [address], len(values), kills, seed=3, settled=settled)
    assert len(set(found)) > 5
    assert contents(store) == run_from_file(tmp_path, values, new_store("whole"))


def test_the_lag_is_told(nats_server, address, fresh_name, monkeypatch):
    monkeypatch.setattr("firststory.sources.live.LOOK_AT_LAG", 0.0)
    fill(nats_server, fresh_name, [{"id": f"d{i}", "text": f"Text {i}"} for i in range(300)])
    (source,) = open_sources([address], Options())
    with LiveSources([source], {}, print) as live:
        taken = [arrival for arrival in islice(live, 150) if not isinstance(arrival, Idle)]
        live.acknowledge([taken[99][1]])
        fill(nats_server, fresh_name, [{"id": "later", "text": "Later"}])
        wait_until(lambda: live.lag().get(source.name) == (201, "documents"), "the lag")


def test_a_server_that_is_killed_in_the_middle_loses_nothing(nats_server, address, fresh_name, tmp_path):
    values = documents(400)
    fill(nats_server, fresh_name, values[:300])
    store = tmp_path / "restarted.db"
    process = start(store, address)
    wait_until(lambda: stored(store) >= 40, "the first documents", 400)
    nats_server.kill()
    wait_until(lambda: "NATS is away" in log_of(store).read_text(), "the run to notice")
    nats_server.start()
    fill(nats_server, fresh_name, values[300:])
    finish(process, store, len(values))
    assert [row[1] for row in contents(store)["verdicts"]] == [value["id"] for value in values]


@pytest.mark.parametrize("retention", ["limits", "workqueue"])
def test_reading_goes_on_where_the_store_stands(nats_server, address, fresh_name, retention):
    fill(nats_server, fresh_name, [{"id": f"d{i}", "text": f"Text {i}"} for i in range(6)], retention=retention)
    source = NatsSubject(address, Options())
    found = take(source, 4)
    assert ids(found) == ["d0", "d1", "d2", "d3"] and found[0][0].time is not None
    source.close()  # nothing was acknowledged, and the second was committed
    again = NatsSubject(address, Options())
    again.acknowledge(found[1][1])
    rest = take(again, 4, found[1][1])
    assert ids(rest) == ["d2", "d3", "d4", "d5"]
    again.acknowledge(rest[-1][1])
    again.close()
    told = consumer_of(nats_server, fresh_name)
    assert told.num_ack_pending == 0 and told.ack_floor.stream_seq == 6


def test_before_the_first_commit_everything_comes_again(nats_server, address, fresh_name):
    fill(nats_server, fresh_name, [{"id": f"d{i}", "text": f"Text {i}"} for i in range(3)])
    for _ in range(2):
        source = NatsSubject(address, Options())
        assert ids(take(source, 3)) == ["d0", "d1", "d2"]
        source.close()


def test_bad_messages_are_quarantined_and_missing_ids_are_those_of_the_stream(nats_server, address, fresh_name):
    fill(nats_server, fresh_name, [b"{", b'{"text": "Bridge closed"}'])
    source = NatsSubject(address, Options())
    bad, (good, position) = take(source, 2)
    source.close()
    assert isinstance(bad, Quarantined) and bad.reason == "wrong-json"
    assert good.id == f"{fresh_name}:2" and position.at == {"sequence": 2}


def test_mistakes_are_told_at_once(nats_server, address, fresh_name, monkeypatch):
    source = NatsSubject(address, Options())
    with pytest.raises(SourceError, match="no JetStream stream"):
        take(source, 1)
    fill(nats_server, fresh_name, [{"text": "x"}], retention="interest")
    with pytest.raises(SourceError, match="by interest"):
        take(source, 1)
    source.close()
    with pytest.raises(SourceError, match="nats://host:port/subject") as told:
        NatsSubject("nats://me:secret@127.0.0.1/", Options())
    assert "secret" not in str(told.value)
    monkeypatch.setitem(sys.modules, "nats", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[nats\]'"):
        NatsSubject(address, Options())
