"""Websockets from a local server that also hangs up, floods and sends nonsense."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import closing
from itertools import islice
from urllib.parse import parse_qs, urlsplit

import pytest

from firststory.errors import MissingExtraError, SourceError
from firststory.records import Idle, Quarantined
from firststory.sources.live import LiveSources
from firststory.sources.opening import open_sources
from firststory.sources.source import Options, Unavailable
from firststory.sources.websockets import Websocket, bluesky_post, mastodon_status
from services.killing import contents, run_with_kills
from services.killing import documents as made_up

server_module = pytest.importorskip("websockets.sync.server")


@pytest.fixture
def serve():
    """Start a server: `serve(handler)` gives its host and port; `handler(connection, query)` sends."""
    servers = []

    def start(handler):
        def answer(connection):
            handler(connection, parse_qs(urlsplit(connection.request.path).query))

        server = server_module.serve(answer, "127.0.0.1", 0)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"127.0.0.1:{server.socket.getsockname()[1]}"

    yield start
    for server in servers:
        server.shutdown()


def documents(source, n, after=None):
    with closing(source.read(after)) as arrivals:
        return list(islice((one for one in arrivals if not isinstance(one, Idle)), n))


def post(n, text="Storm over Kiel", operation="create"):
    record = {"text": f"{text} {n}", "createdAt": "2026-11-16T10:00:00Z", "langs": ["en"]}
    commit = {"operation": operation, "collection": "app.bsky.feed.post", "rkey": f"k{n}", "record": record}
    return {"did": "did:plc:x", "time_us": 1_763_287_200_000_000 + n, "kind": "commit", "commit": commit}


def test_json_with_a_map_and_nonsense_between(serve):
    def handler(connection, query):
        assert query == {"token": ["t"]}
        for message in ('{"data": {"body": "One", "key": 1}}', "nonsense", b"\xff", '{"data": {}}',
                        '{"data": {"body": "Two", "key": 2}}'):  # fmt: skip
            connection.send(message)
        connection.recv()

    address = f"ws://{serve(handler)}/stream?token=t#text=data.body,id=data.key"
    found = documents(Websocket(address, Options()), 5)
    assert [one.reason for one in found if isinstance(one, Quarantined)] == [
        "wrong-json",
        "broken-utf8",
        "missing-text",
    ]
    assert [(one[0].id, one[0].text) for one in found if isinstance(one, tuple)] == [("1", "One"), ("2", "Two")]
    assert found[-1][1].at == {"received": 5} and "token" not in found[-1][1].source


def test_a_message_that_is_too_long_ends_the_connection_and_not_the_run(serve):
    def handler(connection, query):
        connection.send(json.dumps({"text": "x" * 10_000}))
        connection.recv()

    with pytest.raises(Unavailable, match="connection is gone"):
        documents(Websocket(f"ws://{serve(handler)}/", Options(max_document_bytes=1_000)), 1)


def test_bluesky_is_asked_for_what_was_sent_meanwhile(serve):
    """The server hangs up after every second post; posts are told from the cursor on, itself included."""
    asked = []

    def handler(connection, query):
        asked.append(query)
        cursor = int(query.get("cursor", ["0"])[0])
        sent = 0
        for n in range(6):
            if post(n)["time_us"] >= cursor:
                connection.send(json.dumps(post(n, operation="delete")))
                connection.send(json.dumps(post(n)))
                sent += 1
                if sent == 3:
                    return
        connection.recv()

    sources = open_sources([f"bluesky+ws://{serve(handler)}"], Options())
    seen = []
    with LiveSources(sources, {}, print) as live:
        for arrival in live:
            if not isinstance(arrival, Idle):
                seen.append(arrival[0].id)
            if len(set(seen)) == 6:
                break
    assert list(dict.fromkeys(seen)) == [f"at://did:plc:x/app.bsky.feed.post/k{n}" for n in range(6)]
    assert asked[0] == {"wantedCollections": ["app.bsky.feed.post"]} and int(asked[1]["cursor"][0]) % 10 == 2


def test_what_bluesky_and_mastodon_say_that_is_no_new_text():
    made = bluesky_post(post(1))
    assert made["url"] == "https://bsky.app/profile/did:plc:x/post/k1" and made["text"] == "Storm over Kiel 1"
    assert bluesky_post({"kind": "identity"}) is None and bluesky_post({"commit": []}) is None
    for other in ({"event": "delete", "payload": "1"}, {"event": "update", "payload": "{"}, {"event": "update"},
                  {"event": "update", "payload": json.dumps({"reblog": {"id": 1}, "content": "x"})},
                  {"event": "update", "payload": json.dumps({"content": "<p></p>"})}):  # fmt: skip
        assert mastodon_status(other) is None


def test_mastodon_statuses_are_documents(serve):
    status = {"uri": "https://m.example/1", "content": "<p>Storm &amp; flood</p>", "created_at": "2026-11-16T10:00:00Z",
              "account": {"acct": "ann"}, "url": "https://m.example/@ann/1", "spoiler_text": ""}  # fmt: skip

    def handler(connection, query):
        assert query == {"stream": ["public"], "access_token": ["secret"]}
        connection.send(json.dumps({"stream": ["public"], "event": "update", "payload": json.dumps(status)}))
        connection.recv()

    source = Websocket(f"mastodon+ws://secret@{serve(handler)}", Options())
    ((document, position),) = documents(source, 1)
    assert (document.text, document.source, document.id) == ("Storm & flood", "ann", "https://m.example/1")
    assert "secret" not in position.source


def test_silence_is_told(serve):
    arrivals = Websocket(f"ws://{serve(lambda connection, query: connection.recv())}/", Options()).read(None)
    assert isinstance(next(arrivals), Idle)
    arrivals.close()


def test_mistakes_are_told_at_once(monkeypatch):
    with pytest.raises(SourceError, match="wss://host/path"):
        Websocket("wss://", Options())
    with pytest.raises(SourceError, match="FIELD=NAME"):
        Websocket("wss://host/#body=text", Options())
    monkeypatch.setitem(sys.modules, "websockets.sync.client", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[websockets\]'"):
        Websocket("wss://host/", Options())


@pytest.mark.parametrize("kills", [5, pytest.param(40, marks=pytest.mark.soak)])
def test_killed_runs_lose_nothing_and_repeat_nothing_where_the_server_has_a_cursor(serve, tmp_path, kills):
    values = made_up(400)

    def handler(connection, query):
        cursor = int(query.get("cursor", ["0"])[0])
        for n, value in enumerate(values):
            if post(n)["time_us"] >= cursor:
                connection.send(json.dumps(post(n, text=value["text"])))
        connection.recv()

    store = tmp_path / "killed.db"
    found = run_with_kills(store, [f"bluesky+ws://{serve(handler)}"], len(values), kills, seed=8)
    assert len(set(found)) > 2
    ids = [row[1] for row in contents(store)["verdicts"]]
    assert ids == [f"at://did:plc:x/app.bsky.feed.post/k{n}" for n in range(len(values))]
