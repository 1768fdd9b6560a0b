"""The process that judges: killed, it is started again and nothing is lost; the service says what is going on."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import httpx

from firststory.datasets import make_story_stream
from firststory.serve.stream_process import MOST_DEATHS, StreamProcess
from serve.served import Served, served, wait_until


def documents(n):
    found = make_story_stream(n, max(n // 12, 2), sentences=2, random_state=7).documents
    return [{"id": d.id, "text": d.text, "time": d.time.isoformat()} for d in found]


def child_of(process):
    pid = process.process.pid
    found = [
        int(word) for children in Path(f"/proc/{pid}/task").glob("*/children") for word in children.read_text().split()
    ]
    assert len(found) == 1
    return found[0]


def is_gone(pid):
    """Whether a process has ended, also where nobody has asked yet how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_killed_it_is_started_again_and_what_was_pushed_is_judged_once(tmp_path):
    made = documents(60)
    with served(str(tmp_path / "news.db")) as process, httpx.Client(base_url=process.url, timeout=60) as client:
        assert client.post("/documents", json=made[:20]).status_code == 202
        wait_until(lambda: client.get("/status").json()["documents"] >= 10)
        os.kill(child_of(process), signal.SIGKILL)
        assert client.post("/documents", json=made[20:]).status_code == 202
        told = wait_until(lambda: (found := client.get("/readyz")).status_code == 503 and found.json())
        assert told["status"] == "restarting" and "started again" in told["detail"]
        assert client.get("/healthz").status_code == 200 and client.get("/verdicts").status_code == 200
        wait_until(lambda: client.get("/readyz").status_code == 200)
        wait_until(lambda: client.get("/status").json()["documents"] == 60)
        assert [one["id"] for one in client.get("/verdicts?limit=500").json()["items"]] == [one["id"] for one in made]
        assert client.get("/status").json()["stream"]["restarts"] == 1
        status, said = process.end()
        assert status == 130 and "ended unasked (signal 9)" in said


def test_it_does_not_outlive_the_service(tmp_path):
    store = str(tmp_path / "news.db")
    process = Served(store).ready()
    child = child_of(process)
    process.end("kill")
    wait_until(lambda: is_gone(child))
    with served(store) as again:  # nobody writes the store any more
        assert httpx.get(f"{again.url}/status").json()["mode"] == "stream"


def test_one_that_dies_again_and_again_ends_the_service(monkeypatch):
    monkeypatch.setattr("firststory.serve.stream_process.wait_before", lambda attempt, asked: 0.0)
    ended, said = [], []
    stream = StreamProcess([sys.executable, "-c", "raise SystemExit(7)"], {}, said.append)
    stream.on_end = lambda: ended.append(stream.state)
    stream.start()
    wait_until(lambda: ended)
    assert ended == ["failed"] and not stream.takes_documents
    assert "exit status 7" in str(stream.problem) and len(said) == MOST_DEATHS - 1
    stream.stop()


def test_what_it_fails_of_is_said_by_the_service(tmp_path):
    """A settings file is read here; the store goes away before the other process opens it."""
    failing = (
        "import json, sys; print(json.dumps({'failed': {'sentence': 'The disk is full.', 'is_ours': True, "
        "'traceback': ''}}), flush=True)"
    )
    stream = StreamProcess([sys.executable, "-c", failing], {})
    stream.start()
    wait_until(lambda: stream.state == "failed")
    assert stream.told()["problem"].strip() == "The disk is full." and stream.told()["state"] == "failed"
    stream.stop()
