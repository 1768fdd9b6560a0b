"""Redis streams with a real redis-server."""

from __future__ import annotations

import json
import sys
from itertools import islice

import pytest

from firststory.errors import MissingExtraError, SourceError
from firststory.records import Idle, Quarantined
from firststory.sources.live import LiveSources
from firststory.sources.opening import open_sources
from firststory.sources.queue import MAX_ARRIVALS
from firststory.sources.redis_streams import BATCH, RedisStream
from firststory.sources.source import Options
from services.killing import contents, documents, finish, log_of, run_from_file, run_with_kills, start, stored
from services.servers import wait_until

redis = pytest.importorskip("redis")


@pytest.fixture
def client(redis_server):
    with redis.Redis(port=redis_server.port) as client:
        yield client


@pytest.fixture
def address(redis_server, fresh_name):
    return f"redis://127.0.0.1:{redis_server.port}/{fresh_name}"


def fill(client, stream, values):
    with client.pipeline() as pipeline:
        for value in values:
            pipeline.xadd(stream, {"json": json.dumps(value)})
        pipeline.execute()


def take(source, n, after=None):
    """The next n arrivals, without waiting for more."""
    return list(islice((one for one in source.read(after) if not isinstance(one, Idle)), n))


def ids(arrivals):
    return [document.id for document, _ in arrivals]


@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_killed_runs_lose_nothing_and_repeat_nothing(client, address, fresh_name, new_store, tmp_path, kills):
    values = documents(800 if kills == 20 else 4000)
    fill(client, fresh_name, values)

    def nothing_waits():
        (group,) = client.xinfo_groups(fresh_name)
        return group["pending"] == 0 and group["lag"] == 0

    store = new_store("killed")
    found = run_with_kills(store, [address], len(values), kills, seed=1, settled=nothing_waits)
    assert len(set(found)) > 5
    assert contents(store) == run_from_file(tmp_path, values, new_store("whole"))


def test_a_redis_that_is_killed_in_the_middle_loses_nothing(redis_server, client, address, fresh_name, tmp_path):
    values = documents(400)
    fill(client, fresh_name, values[:300])
    store = tmp_path / "restarted.db"
    process = start(store, address)
    wait_until(lambda: stored(store) >= 40, "the first documents", 400)
    redis_server.kill()
    wait_until(lambda: "Redis is away" in log_of(store).read_text(), "the run to notice")
    redis_server.start()
    fill(client, fresh_name, values[300:])
    finish(process, store, len(values))
    assert [row[1] for row in contents(store)["verdicts"]] == [value["id"] for value in values]


def test_fields_by_name_or_one_field_with_json_and_a_map(client, address, fresh_name):
    client.xadd(fresh_name, {"text": "Bridge closed", "title": "Storm", "id": "a"})
    client.xadd(fresh_name, {"anything": json.dumps({"text": "Fire in Kiel", "id": 7})})
    (first, second) = take(RedisStream(address, Options()), 2)
    assert (first[0].id, first[0].text, first[0].title) == ("a", "Bridge closed", "Storm")
    assert (second[0].id, second[0].text) == ("7", "Fire in Kiel")
    client.xadd(fresh_name, {"json": json.dumps({"body": "Mapped", "meta": {"head": "Line"}})})
    mapped = take(RedisStream(address + "#text=body,title=meta.head", Options(identity="other")), 3)[-1]
    assert isinstance(mapped, tuple) and (mapped[0].text, mapped[0].title) == ("Mapped", "Line")


def test_an_entry_without_id_and_time_gets_those_of_the_stream(client, address, fresh_name):
    client.xadd(fresh_name, {"text": "Bridge closed"}, id="1500000000000-3")
    ((document, position),) = take(RedisStream(address, Options()), 1)
    assert document.id == f"{fresh_name}:1500000000000-3" and document.time.isoformat() == "2017-07-14T02:40:00+00:00"
    assert position.at == {"id": "1500000000000-3"} and "@" not in position.source


def test_what_is_no_document_is_quarantined_with_its_reason(client, address, fresh_name):
    bad = {
        "wrong-json": b"{",
        "not-an-object": b"[1]",
        "broken-utf8": b'{"text": "\xff"}',
        "too-long": json.dumps({"text": "x" * 300}).encode(),
        "missing-text": b'{"id": 1}',
    }
    for data in bad.values():
        client.xadd(fresh_name, {"json": data})
    client.xadd(fresh_name, {"json": "[" * 100_000})
    found = take(RedisStream(address, Options(max_document_bytes=200)), 6)
    assert all(isinstance(one, Quarantined) for one in found)
    assert [one.reason for one in found] == [*bad, "too-long"]


def test_what_a_dead_consumer_of_a_shared_group_held_is_claimed(client, address, fresh_name):
    fill(client, fresh_name, [{"id": f"d{i}", "text": f"Text {i}"} for i in range(6)])
    shared = address + "?group=team&claim_after=0.05"
    client.xgroup_create(fresh_name, "team", id="0")
    client.xreadgroup("team", "dead", {fresh_name: ">"}, count=3)
    source = RedisStream(shared, Options(identity="alive"))
    found = take(source, 6)
    assert ids(found) == ["d3", "d4", "d5", "d0", "d1", "d2"]
    # Killed after the commit of all but the last, before anything was acknowledged.
    again = RedisStream(shared, Options(identity="alive"))
    again.acknowledge(found[4][1])
    assert ids(take(again, 1, found[4][1])) == ["d2"]
    again.acknowledge(found[5][1])
    assert client.xpending(fresh_name, "team")["pending"] == 0


def test_a_restored_backup_is_gone_on_from(client, address, fresh_name):
    fill(client, fresh_name, [{"id": f"d{i}", "text": f"Text {i}"} for i in range(6)])
    source = RedisStream(address, Options())
    found = take(source, 6)
    source.acknowledge(found[-1][1])
    assert ids(take(RedisStream(address, Options()), 4, found[1][1])) == ["d2", "d3", "d4", "d5"]


def test_two_stores_each_read_everything_and_positions_are_kept_per_source(client, redis_server, fresh_name):
    names = [f"{fresh_name}-{letter}" for letter in "ab"]
    for name in names:
        fill(client, name, [{"id": f"{name}{i}", "text": f"Text {i}"} for i in range(5)])
    addresses = [f"redis://127.0.0.1:{redis_server.port}/{name}" for name in names]
    for identity in ("one", "two"):
        with LiveSources(open_sources(addresses, Options(identity=identity)), {}, print) as live:
            found = list(islice(live, 10))
            assert {document.id for document, _ in found} == {f"{name}{i}" for name in names for i in range(5)}
            latest = {position.source: position for _, position in found}
            assert sorted(latest) == sorted(addresses)
    for name in names:
        client.xadd(name, {"text": "Later", "id": f"{name}-later"})
    with LiveSources(open_sources(addresses, Options(identity="one")), latest, print) as live:
        assert {document.id for document, _ in islice(live, 2)} == {f"{name}-later" for name in names}


def test_mistakes_are_told_at_once(client, address, fresh_name, monkeypatch):
    client.set(fresh_name, "a string")
    with pytest.raises(SourceError, match="WRONGTYPE"):
        take(RedisStream(address, Options()), 1)
    with pytest.raises(SourceError, match="redis://host:port/stream"):
        RedisStream("redis://127.0.0.1/", Options())
    with pytest.raises(SourceError) as told:
        RedisStream("redis://me:secret@127.0.0.1/x?grup=y", Options())
    assert "secret" not in str(told.value)
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[redis\]'"):
        RedisStream(address, Options())


def lag_of(live, source):
    return live.lag().get(source.name)


def test_a_producer_that_is_faster_waits_in_redis_and_the_lag_is_told(client, address, fresh_name, monkeypatch):
    """Memory is bounded by the queue, whatever the producer does; the lag is told, also after a kill."""
    monkeypatch.setattr("firststory.sources.live.LOOK_AT_LAG", 0.0)
    fill(client, fresh_name, [{"id": f"d{i}", "text": f"Text {i}"} for i in range(5_000)])
    (source,) = open_sources([address], Options())
    with LiveSources([source], {}, print) as live:
        arrivals = iter(live)
        taken = [next(arrivals) for _ in range(300)]
        wait_until(lambda: len(live._queue) == MAX_ARRIVALS, "the queue to be full")
        fill(client, fresh_name, [{"id": f"d{i}", "text": f"Text {i}"} for i in range(5_000, 12_000)])
        live.acknowledge([taken[199][1]])
        taken += [next(arrivals) for _ in range(100)]
        wait_until(lambda: lag_of(live, source) == (12_000 - 200, "documents"), f"the lag, {live.lag()}", 10)
        assert len(live._queue) <= MAX_ARRIVALS and len(source._unacknowledged) <= MAX_ARRIVALS + 400 + BATCH
    # The next run stands where the store stands, and Redis counts from there.
    (again,) = open_sources([address], Options())
    with LiveSources([again], {again.name: taken[199][1]}, print) as live:
        assert next(iter(live))[0].id == "d200"
        wait_until(lambda: lag_of(live, again) == (12_000 - 200, "documents"), f"the lag, {live.lag()}", 10)
    # A backup from before: Redis no longer knows how many entries that is, and nothing wrong is told.
    (older,) = open_sources([address], Options())
    with LiveSources([older], {older.name: taken[99][1]}, print) as live:
        assert next(iter(live))[0].id == "d100"
        wait_until(lambda: len(live._queue) == MAX_ARRIVALS, "the queue to be full")
        assert lag_of(live, older) is None
