"""Each sink by itself, with real files, a real HTTP server that fails on purpose, and real commands."""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from datetime import UTC, datetime

import pytest

from firststory.digest.shapes import alert_json
from firststory.errors import MissingExtraError, ParameterError
from firststory.records import Alert, Document
from firststory.settings import Settings, load
from firststory.sinks.command import Command
from firststory.sinks.jsonl import JsonLines
from firststory.sinks.notify import Notification
from firststory.sinks.opening import open_sinks
from firststory.sinks.sink import NotDelivered
from firststory.sinks.webhook import Webhook
from services.http_servers import HttpServer, reply


@pytest.fixture
def web():
    server = HttpServer()
    yield server
    server.stop()


def alert(number, title="Harbour bridge closed"):
    document = Document(id=f"d{number}", text="Storm closes the bridge.", title=title, url="https://paper.example/1")
    moment = datetime(2026, 11, 16, tzinfo=UTC)
    return Alert(
        id=f"a{number}", kind="confirmed", first=document, headline=document, fired_at=moment, delay=None,
        documents=(document.id,), sources=("A", "B"), terms=("bridge",), story="s1", storyline=None, score=9.0,
        sentence="Told by 2 sources.",
    )  # fmt: skip


def lines(path):
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_a_file_gets_a_line_an_alert_also_after_a_kill_in_the_middle_of_one(tmp_path):
    path = tmp_path / "alerts.jsonl"
    JsonLines(str(path), alert_json).deliver([alert(1)])
    JsonLines(str(path), alert_json).deliver([alert(2)])
    assert json.loads(path.read_text().splitlines()[0]) == json.loads(json.dumps(alert_json(alert(1))))
    # Written, but killed before the place in the outbox moved: not written again.
    JsonLines(str(path), alert_json).deliver([alert(2)])
    with path.open("a") as file:
        file.write('{"id": "a3", "ki')
    JsonLines(str(path), alert_json).deliver([alert(3)])
    assert lines(path) == ["a1", "a2", "a3"]


def test_a_file_that_cannot_be_written_is_tried_again(tmp_path):
    sink = JsonLines(str(tmp_path / "missing" / "alerts.jsonl"), alert_json)
    with pytest.raises(NotDelivered, match="cannot be written") as told:
        sink.deliver([alert(1)])
    assert not told.value.is_final
    (tmp_path / "missing").mkdir()
    sink.deliver([alert(1)])
    assert lines(tmp_path / "missing" / "alerts.jsonl") == ["a1"]


def test_a_webhook_is_signed_and_carries_an_idempotency_key(web):
    url = web.serve("/hook", b"thanks")
    Webhook(url, alert_json, secret="sesame", allow_private=True).deliver([alert(7)])
    ((method, _, headers, body),) = web.requests
    assert method == "POST" and json.loads(body)["id"] == headers["Idempotency-Key"] == "a7"
    signed = headers["Firststory-Timestamp"].encode() + b"." + body
    expected = hmac.new(b"sesame", signed, hashlib.sha256).hexdigest()
    assert headers["Firststory-Signature"] == f"sha256={expected}"


@pytest.mark.parametrize(("status", "is_final"), [(500, False), (503, False), (429, False), (408, False), (400, True),
                                                  (401, True), (404, True), (410, True), (302, True)])  # fmt: skip
def test_what_the_server_answers_decides_whether_to_try_again(web, status, is_final):
    web.answers["/hook"] = lambda handler: reply(handler, status=status, Retry_After="9", Location="/elsewhere")
    with pytest.raises(NotDelivered, match=str(status)) as told:
        Webhook(web.url("/hook"), alert_json, allow_private=True).deliver([alert(1)])
    assert told.value.is_final is is_final and told.value.retry_after == 9.0


def test_a_webhook_reaches_no_private_address_unless_it_may(web):
    with pytest.raises(NotDelivered, match="private address") as told:
        Webhook(web.serve("/hook"), alert_json).deliver([alert(1)])
    assert told.value.is_final and not web.requests


def test_a_webhook_that_is_not_there_is_tried_again(web):
    url = web.serve("/hook")
    web.stop()
    with pytest.raises(NotDelivered) as told:
        Webhook(url, alert_json, allow_private=True).deliver([alert(1)])
    assert not told.value.is_final


def test_a_command_gets_the_alert_and_no_shell_reads_it(tmp_path):
    path = tmp_path / "got"
    code = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
    sink = Command(f'{sys.executable} -c "{code}" {path}', alert_json)
    sink.deliver([alert(1, title="$(touch hacked); `id` && rm -rf x"), alert(2)])
    assert lines(path) == ["a1", "a2"] and not (tmp_path / "hacked").exists()
    with pytest.raises(NotDelivered, match=r"status 3 \(no room\)"):
        Command(f"{sys.executable} -c 'import sys; sys.stderr.write(\"no room\"); sys.exit(3)'", alert_json).deliver(
            [alert(1)]
        )


def test_notifications_one_by_one_or_gathered(web):
    """apprise's own json:// service, so that a message goes over a real connection."""
    pytest.importorskip("apprise")
    web.serve("/people", b"{}")
    url = f"json://127.0.0.1:{web.port}/people"
    Notification(url).deliver([alert(1)])
    Notification(url, every=3600.0).deliver([alert(number) for number in range(40)])
    one, many = (json.loads(body) for _, _, _, body in web.requests)
    assert one["title"] == "Harbour bridge closed" and "Told by 2 sources." in one["message"]
    assert many["title"] == "40 alerts" and "and 10 more" in many["message"]
    web.serve("/people", status=500)
    with pytest.raises(NotDelivered, match="did not take"):
        Notification(url).deliver([alert(1)])


def test_names_have_no_secrets_and_mistakes_are_told_at_once(monkeypatch):
    pytest.importorskip("apprise")
    names = [
        Webhook("https://me:hidden@host.example/hook?token=hidden", alert_json).name,
        Notification("json://me:hidden@host.example/").name,
    ]
    assert not any("hidden" in name for name in names)
    for wrong in ("webhook:ftp://host/x", "exec:no-such-program-here", "notify:nothing://x", "jsonll:x", "jsonl:"):
        with pytest.raises(ParameterError):
            open_sinks([wrong], Settings(), alert_json)
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[notify\]'"):
        Notification("json://host.example/")


def test_sinks_in_a_settings_file(tmp_path):
    path = tmp_path / "firststory.toml"
    path.write_text('sinks = ["jsonl:a.jsonl", "exec:true"]\nnotify_every = "1h"\nsink_kinds = ["turn"]\npoll = 60\n')
    settings = load(config=path)
    assert settings.sinks == ("jsonl:a.jsonl", "exec:true") and settings.notify_every == 3600.0
    assert settings.sink_kinds == ("turn",) and settings.poll == 60.0
    assert [sink.name.partition(":")[0] for sink in open_sinks(settings.sinks, settings, alert_json)] == [
        "jsonl",
        "exec",
    ]
