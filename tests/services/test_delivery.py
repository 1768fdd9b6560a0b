"""Alerts from a real run to sinks that fail, across kills: each at least once, and the stream never waits."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

from firststory.store.outbox import dead_letters
from firststory.store.store import Store
from services.http_servers import reply
from services.killing import contents, documents, log_of, query, run_with_kills, start
from services.test_redis import fill

redis = pytest.importorskip("redis")


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    path = tmp_path_factory.mktemp("news") / "news.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in documents(600)))
    return path


def fired(store):
    """The alerts that sinks are to get, by the store itself."""
    return [row[0] for row in query(store, "SELECT id FROM alerts WHERE kind != 'first_seen' ORDER BY n")]


def run(store, *arguments):
    """A run to its end; what it said is that of all runs on the store."""
    status = start(store, *arguments).wait(400)
    return subprocess.CompletedProcess(arguments, status, stderr=log_of(store).read_text())


def firststory(*arguments):
    """What another command prints."""
    words = [sys.executable, "-m", "firststory.cli.main", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=100, check=True).stdout


def test_every_sink_gets_every_alert_in_order(news, web, new_store, tmp_path):
    web.serve("/hook")
    web.serve("/people", b"{}")
    store, path = new_store("news"), tmp_path / "alerts.jsonl"
    got = tmp_path / "got"
    done = run(
        store, news, "--sink", f"jsonl:{path}", "--sink", f"webhook:{web.url('/hook')}", "--allow-private-addresses",
        "--exec", f"tee -a {got}", "--notify", f"json://127.0.0.1:{web.port}/people", "--notify-every", "1h",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    alerts = fired(store)
    assert len(alerts) > 3
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == alerts
    assert [json.loads(line)["id"] for line in got.read_text().splitlines()] == alerts
    hooks = [headers["Idempotency-Key"] for _, where, headers, _ in web.requests if where == "/hook"]
    assert hooks == alerts
    (told,) = (json.loads(body) for _, where, _, body in web.requests if where == "/people")
    assert told["title"] == f"{len(alerts)} alerts"


def test_a_sink_that_is_down_does_not_stop_the_stream_and_gets_everything_later(news, web, new_store):
    web.serve("/hook", status=500)
    store = new_store("news")
    hook = ("--sink", f"webhook:{web.url('/hook')}", "--allow-private-addresses")
    done = run(store, news, *hook)
    assert done.returncode == 0 and "not delivered: the server answers 500" in done.stderr
    assert len(contents(store)["verdicts"]) == 600
    web.serve("/hook")
    web.requests.clear()
    assert run(store, news, *hook).returncode == 0
    assert [headers["Idempotency-Key"] for _, _, headers, _ in web.requests] == fired(store)


def test_what_a_server_refuses_becomes_a_dead_letter(news, web, new_store):
    refused = []

    def answer(handler):
        key = handler.headers["Idempotency-Key"]
        is_first = not refused
        refused.append(key) if is_first else None
        reply(handler, status=400 if is_first else 200)

    web.answers["/hook"] = answer
    store = new_store("news")
    done = run(store, news, "--sink", f"webhook:{web.url('/hook')}", "--allow-private-addresses")
    assert done.returncode == 0 and "gave up on" in done.stderr
    with Store(str(store)) as opened:
        (letter,) = dead_letters(opened)
    assert letter["alert"] == refused[0] == fired(store)[0] and "400" in letter["problem"]
    assert [headers["Idempotency-Key"] for _, _, headers, _ in web.requests] == fired(store)
    # Looked at, tried again by the next run, and gone.
    shown = firststory("sinks", "dead", "--store", store)
    assert refused[0] in shown and "400" in shown and "firststory sinks retry" in shown
    assert firststory("sinks", "retry", "--store", store) == "1 dead letter will be tried again.\n"
    web.requests.clear()
    again = run(store, news, "--sink", f"webhook:{web.url('/hook')}", "--allow-private-addresses")
    assert again.returncode == 0, again.stderr
    assert [headers["Idempotency-Key"] for _, _, headers, _ in web.requests] == refused
    assert "No dead letters" in firststory("sinks", "dead", "--store", store)
    assert firststory("sinks", "retry", "--store", store) == "0 dead letters will be tried again.\n"


def test_a_new_sink_gets_what_comes_from_now_on(news, tmp_path):
    store, path = tmp_path / "news.db", tmp_path / "alerts.jsonl"
    assert run(store, news).returncode == 0 and fired(store)
    assert run(store, news, "--sink", f"jsonl:{path}").returncode == 0
    assert not path.exists()


@pytest.mark.parametrize("kills", [10, pytest.param(100, marks=pytest.mark.soak)])
def test_each_alert_is_delivered_across_kills_to_sinks_that_fail(
    redis_server, fresh_name, web, new_store, tmp_path, kills
):
    draw = random.Random(5)
    web.answers["/hook"] = lambda handler: reply(handler, status=draw.choice([200, 200, 500, 503]))
    values = documents(600)
    with redis.Redis(port=redis_server.port) as client:
        fill(client, fresh_name, values)
    store, path = new_store("killed"), tmp_path / "alerts.jsonl"
    hook = ("--sink", f"webhook:{web.url('/hook')}", "--allow-private-addresses", "--sink", f"jsonl:{path}")
    run_with_kills(store, [f"redis://127.0.0.1:{redis_server.port}/{fresh_name}", *hook], len(values), kills, seed=6)
    # The last run was ended like a service; the next one delivers what was left.
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    web.serve("/hook")
    assert run(store, empty, *hook).returncode == 0
    alerts = fired(store)
    posted = [headers["Idempotency-Key"] for _, _, headers, _ in web.requests]
    assert len(alerts) > 3 and set(posted) == set(alerts)
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == alerts
    assert dead_letters_of(store) == []


def dead_letters_of(store):
    with Store(str(store)) as opened:
        return list(dead_letters(opened))
