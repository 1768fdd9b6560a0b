"""Server-sent events over a real connection: nothing missed, nothing twice, whoever comes back and however often."""

from __future__ import annotations

import random
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import event

from firststory.serve import event_stream
from firststory.store.changes import changes
from firststory.store.store import Store
from serve.served import Listener, fill, one_step, server_on, wait_until

STEPS = 8


class Writer:
    """The run that fills the store while others read."""

    def __init__(self, url, service):
        self.store, self.service, self.next = Store(url), service, STEPS
        self.store.claim()

    def write(self, steps=1, title=None):
        for _ in range(steps):
            self.store.write_step(one_step(self.next, title))
            self.next += 1
        self.service.wake()

    def close(self):
        self.store.close()


@pytest.fixture
def url(new_store):
    return fill(new_store(), STEPS)


@pytest.fixture
def here(url):
    with server_on(url) as (service, address, _):
        writer = Writer(url, service)
        yield service, address, writer
        writer.close()


def expected(url, first, last, everything=False):
    """The events of some steps as the store has them: (kind, id of the document, alert or story)."""
    with Store(url, read_only=True) as store:
        found = changes(store, first, last, all_verdicts=everything)
    return [
        (one.kind, str(one.cursor))
        for one in found
        if everything or one.kind != "story" or one.record.size + one.record.duplicates > 1
    ]


def heard(listeners, kinds=("verdict", "alert", "story")):
    return [(kind, id) for one in listeners for kind, id, _ in one.events if kind in kinds]


def test_what_happens_is_told_once_and_in_order(here, url):
    _, address, writer = here
    listener = Listener(f"{address}/events")
    wait_until(lambda: listener.of("status"))
    writer.write(3)
    wanted = expected(url, STEPS, STEPS + 2)
    wait_until(lambda: len(heard([listener])) >= len(wanted))
    assert heard([listener]) == wanted
    assert {kind for kind, _ in wanted} == {"verdict", "alert", "story"}
    assert all(data["is_novel"] for _, _, data in listener.of("verdict"))
    listener.close()


def test_whoever_comes_back_gets_what_was_missed(here, url):
    """Connections are cut at random moments while steps are written; together they heard everything once."""
    _, address, writer = here
    dice = random.Random(5)
    listeners, last = [], None
    for _ in range(12):
        listener = Listener(f"{address}/events?all=1", **({} if last is None else {"Last-Event-ID": last}))
        wait_until(lambda one=listener: one.last_id is not None or one.is_over)
        writer.write(dice.randrange(3))
        time.sleep(dice.uniform(0, 0.1))
        listener.close()
        listeners.append(listener)
        last = listener.last_id or last
    end = Listener(f"{address}/events?all=1", **{"Last-Event-ID": last})
    final = f"{writer.next}-3-0"
    wait_until(lambda: end.last_id == final)
    end.close()
    told = heard([*listeners, end], ("verdict", "alert"))
    assert told == [one for one in expected(url, STEPS, writer.next - 1, everything=True) if one[0] != "story"]
    stories = [id for kind, id in heard([*listeners, end]) if kind == "story"]
    assert len(stories) == len(set(stories))
    assert {id for kind, id in expected(url, STEPS, writer.next - 1, True) if kind == "story"} <= set(stories)


def test_the_whole_past_can_be_replayed_from_any_event(here, url):
    _, address, _ = here
    wanted = expected(url, 0, STEPS - 1)
    for place in (None, 0, 5, len(wanted) // 2, len(wanted) - 1):
        after = "0-3-0" if place is None else wanted[place][1]
        listener = Listener(f"{address}/events?after={after}")
        wait_until(lambda one=listener: one.of("status"))
        assert heard([listener]) == wanted[0 if place is None else place + 1 :]
        listener.close()


def test_only_the_kinds_that_are_wanted(here):
    _, address, writer = here
    listener = Listener(f"{address}/events?types=alert&types=status")
    wait_until(lambda: listener.of("status"))
    writer.write(2)
    wait_until(lambda: len(listener.of("alert")) == 2)
    assert {kind for kind, _, _ in listener.events} == {"alert", "status"}
    listener.close()


def test_the_store_is_asked_once_however_many_listen(here):
    service, address, writer = here
    listeners = [Listener(f"{address}/events") for _ in range(12)]
    wait_until(lambda: all(one.of("status") for one in listeners))
    asked = []
    event.listen(service.reader._engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    writer.write(1)
    wait_until(lambda: all(one.of("alert") for one in listeners))
    assert 1 <= sum("evidence" in statement for statement in asked) <= 2
    for one in listeners:
        one.close()
    wait_until(lambda: service.hub.listeners == 0)


def test_silence_is_filled_with_heartbeats_that_move_the_place(url):
    with server_on(url, heartbeat_seconds=0.05) as (_, address, _):
        listener = Listener(f"{address}/events?types=alert")
        wait_until(lambda: listener.heartbeats >= 3)
        assert listener.last_id == f"{STEPS}-3-0" and not listener.events
        listener.close()


def test_a_listener_that_takes_nothing_is_let_go(url, monkeypatch):
    monkeypatch.setattr(event_stream, "PATIENCE", 0.3)
    with server_on(url) as (service, address, _):
        writer = Writer(url, service)
        there = urlsplit(address)
        stuck = socket.create_connection((there.hostname, there.port))
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        request = f"GET /events?all=1&after=0-3-0 HTTP/1.1\r\nHost: 127.0.0.1:{there.port}\r\n\r\n"
        stuck.sendall(request.encode())
        wait_until(lambda: service.hub.listeners == 1)
        well = Listener(f"{address}/events?types=alert&types=status")

        wait_until(lambda: well.of("status"))
        writer.write(20, title="long " * 60_000)  # more than the buffers of a connection hold
        wait_until(lambda: service.hub.listeners == 1)
        wait_until(lambda: len(well.of("alert")) == writer.next - STEPS)
        stuck.close()
        well.close()
        writer.close()


def test_stopping_does_not_wait_for_listeners(url):
    with server_on(url) as (_, address, server):
        listeners = [Listener(f"{address}/events") for _ in range(5)]
        wait_until(lambda: all(one.of("status") for one in listeners))
        server.stop()
        wait_until(lambda: all(one.is_over for one in listeners), 10)


def test_there_is_a_limit_to_listeners(url):
    with server_on(url, max_event_streams=1) as (_, address, _):
        listener = Listener(f"{address}/events")
        wait_until(lambda: listener.of("status"))
        refused = httpx.get(f"{address}/events")
        assert refused.status_code == 503 and int(refused.headers["retry-after"]) > 0
        listener.close()
