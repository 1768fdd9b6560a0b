"""What is pushed: checked, kept before it is answered, and judged once, whatever happens to the process."""

from __future__ import annotations

import json
import os
import random
import signal
import threading

import httpx
import pytest

from firststory.datasets import make_story_stream
from firststory.serve.stream import Stream
from firststory.settings import load
from firststory.store.inbox import Inbox
from firststory.store.store import Store
from serve.served import Listener, Served, served, server_on, wait_until

SETTINGS = {"detector": "neighbour", "language": "en", "step": 10, "topics": "none", "save_every": 4}
LINES = {"Content-Type": "application/x-ndjson"}


def documents(n):
    found = make_story_stream(n, max(n // 12, 2), sentences=2, random_state=7).documents
    return [{"id": d.id, "text": d.text, "time": d.time.isoformat(), "source": f"paper {d.id[-1]}"} for d in found]


@pytest.fixture
def here(new_store):
    """A service that runs its stream; gives the service, a client, and the URL of the store."""
    url = new_store()
    with Store(url) as store:
        store.claim()
        stream = Stream(store, load(SETTINGS))
        limits = {"max_documents": 50, "max_document_bytes": 2_000, "max_inbox": 60}
        with (
            server_on(url, stream, **limits) as (service, address, _),
            httpx.Client(base_url=address, timeout=60) as client,
        ):
            wait_until(lambda: client.get("/readyz").status_code == 200)
            yield service, client, url


def judged(client):
    return client.get("/status").json()["counts"].get("seen", 0)


def test_one_many_and_lines_are_taken_and_judged(here):
    service, client, _ = here
    made = documents(26)
    one = client.post("/documents", json=made[0])
    assert one.status_code == 202 and one.json() == {"accepted": 1, "ids": [made[0]["id"]], "rejected": []}
    assert client.post("/documents", json=made[1:20]).json()["accepted"] == 19
    lines = "\n".join(json.dumps(one) for one in made[20:]) + "\n\n"
    assert client.post("/documents", content=lines, headers=LINES).json()["accepted"] == 6
    wait_until(lambda: judged(client) == 26)
    told = client.get("/verdicts", params={"limit": 500}).json()["items"]
    assert [item["id"] for item in told] == [one["id"] for one in made]
    wait_until(lambda: service.inbox.after(0, 10) == ())


def test_a_document_is_judged_once_however_often_it_is_pushed(here):
    _, client, _ = here
    body = {"text": "Flood closes Bremen bridge", "source": "AP"}
    ids = {client.post("/documents", json=body).json()["ids"][0] for _ in range(3)}
    assert len(ids) == 1
    client.post("/documents", json={"text": "Mayor of Oslo resigns", "id": 7, "page": 3, "time": 1_800_000_000})
    wait_until(lambda: client.get("/documents/7").status_code == 200)
    assert len(client.get("/verdicts").json()["items"]) == 2
    whole = client.get("/documents/7").json()
    assert whole["time"] == "2027-01-15T08:00:00Z" and whole["extra"] == {"page": 3}
    assert client.get(f"/documents/{ids.pop()}").json()["time"]  # that of its arrival


WRONG = {
    "no text": {"id": "a"},
    "empty text": {"text": " \n"},
    "text that is none": {"text": 7},
    "an id that is none": {"text": "x", "id": [1]},
    "a time that is none": {"text": "x", "time": "whenever"},
    "a title that is none": {"text": "x", "title": {}},
    "too long": {"text": "x" * 3_000},
    "no object": "x",
    "nothing": None,
}


def test_what_cannot_be_read_is_said_and_nothing_is_taken(here):
    service, client, _ = here
    good = {"text": "Flood closes Bremen bridge"}
    for name, wrong in WRONG.items():
        answer = client.post("/documents", json=[good, wrong, good])
        assert answer.status_code == 422, name
        problem = answer.json()
        assert [one["number"] for one in problem["errors"]] == [1] and problem["errors"][0]["problem"], name
    assert service.inbox.length() == 0
    every = client.post("/documents", params={"partial": "true"}, json=[*WRONG.values(), good])
    assert every.status_code == 202 and every.json()["accepted"] == 1
    assert [one["number"] for one in every.json()["rejected"]] == list(range(len(WRONG)))
    none = client.post("/documents", params={"partial": "true"}, json=[WRONG["no text"]])
    assert none.status_code == 422


def test_bodies_that_are_no_documents(here):
    _, client, _ = here
    post = client.post
    for body in (b"{broken", b"\xff\xfe", b"", b"[]", b'{"text": NaN}', b"[" * 100_000):
        answer = post("/documents", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, body[:20]
    assert "line 2" in post("/documents", content='{"text": "x"}\n{', headers=LINES).json()["detail"]
    assert post("/documents", content="text=x", headers={"Content-Type": "text/plain"}).status_code == 415
    packed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert post("/documents", content=b"x", headers=packed).status_code == 415
    assert post("/documents", json=[{"text": "x"}] * 51).status_code == 413


def test_who_is_too_fast_is_told_to_wait(here, monkeypatch):
    service, client, _ = here
    monkeypatch.setattr(service.stream, "wake", lambda: None)
    monkeypatch.setattr(service, "waiting", lambda: 59)
    answer = client.post("/documents", json=[{"text": "a"}, {"text": "b"}])
    assert answer.status_code == 429 and int(answer.headers["retry-after"]) >= 1
    assert service.inbox.length() == 0
    monkeypatch.setattr(service, "waiting", lambda: 58)
    assert client.post("/documents", json=[{"text": "a"}, {"text": "b"}]).status_code == 202


def test_the_inbox_counts_on_however_many_add_at_once_and_when_all_are_gone(new_store):
    with Store(new_store()) as store:
        inboxes = [Inbox(store) for _ in range(4)]
        threads = [
            threading.Thread(target=lambda one=one, k=k: [one.add([f'"{k} {n}"'] * 3) for n in range(10)])
            for k, one in enumerate(inboxes)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = inboxes[0].after(0, 1000)
        assert [one.n for one in found] == list(range(1, 121)) and inboxes[0].length(20) == 100
        assert all(found[n].document == found[n + 2].document for n in range(0, 120, 3))
        inboxes[0].remove(120)
        assert inboxes[0].length() == 0 and inboxes[0].add(["{}"]) == 121


def test_a_changed_budget_is_taken_up_by_the_next_step_and_kept(here):
    _, client, url = here
    made = documents(30)
    client.post("/documents", json=made[:10])
    wait_until(lambda: judged(client) == 10)
    assert client.get("/settings").json()["budget"] == "20/day"
    changed = client.patch("/settings", json={"budget": "5/day", "false_alerts": 0.5})
    assert changed.status_code == 200 and changed.json()["wanted"] == {"budget": "5/day", "false_alerts": 0.5}
    client.post("/documents", json=made[10:20])
    wait_until(lambda: judged(client) == 20)
    told = wait_until(lambda: (found := client.get("/settings").json())["budget"] == "5/day" and found)
    assert told["false_alerts"] == 0.5 and told["wanted"] == {}
    assert wait_until(lambda: client.get("/status").json()["alerts"]["ceiling"] == "5/day")
    for wrong in ({"budget": "lots"}, {"budget": 7}, {"false_alerts": 0}, {"false_alerts": "x"}, {"step": 5}):
        assert client.patch("/settings", json=wrong).status_code == 422
    with Store(url, read_only=True) as store:
        assert store.settings()["budget"] == "5/day" and store.replayable_from() >= 0


# -- processes ---------------------------------------------------------------------------------------------


def test_what_was_answered_is_judged_once_though_the_process_is_killed_again_and_again(tmp_path):
    """Killed by signal 9 at random moments while documents are pushed; each push is repeated until it is answered."""
    store, dice = str(tmp_path / "news.db"), random.Random(3)
    made = documents(150)
    answered, kills, place = set(), 0, 0
    process = Served(store).ready()
    try:
        while place < len(made) or kills < 2:
            batch = made[place : place + 5]
            if batch:
                try:
                    answer = httpx.post(f"{process.url}/documents", json=batch, timeout=30)
                    assert answer.status_code == 202, answer.text
                    answered |= set(answer.json()["ids"])
                    place += 5
                except httpx.TransportError:  # killed meanwhile: whether it was kept is not known, so it is sent again
                    pass
            if (kills < 2 and dice.random() < 0.1) or (not batch and kills < 2):
                os.kill(process.process.pid, signal.SIGKILL)
                process.process.communicate()
                kills += 1
                process = Served(store).ready("/healthz")
        process.ready()
        wait_until(lambda: httpx.get(f"{process.url}/status").json()["documents"] >= len(made))
        wait_until(lambda: httpx.get(f"{process.url}/status").json()["inbox"] == 0)
        status, said = process.end()
        assert status == 130 and "Traceback" not in said
    finally:
        process.process.kill()
    with Store(store, read_only=True) as opened:
        found = [verdict.document.id for verdict in opened.verdicts()]
    assert answered == {one["id"] for one in made}
    assert sorted(found) == sorted(answered) and len(found) == len(set(found))


def test_a_second_service_on_a_store_reads_and_says_so(tmp_path):
    store = str(tmp_path / "news.db")
    with served(store) as first, served(store) as second:
        assert httpx.get(f"{second.url}/status").json()["mode"] == "reading"
        refused = httpx.post(f"{second.url}/documents", json={"text": "x"})
        assert refused.status_code == 503 and "writing to this store" in refused.json()["detail"]
        listener = Listener(f"{second.url}/events?all=1")
        wait_until(lambda: listener.of("status"))
        assert httpx.post(f"{first.url}/documents", json={"text": "Flood closes Bremen bridge"}).status_code == 202
        wait_until(lambda: listener.of("verdict"))
        status, said = second.end()
        wait_until(lambda: listener.is_over)
        assert status == 130 and "documents are not taken here" in said
        assert first.end()[0] == 130
    assert not (tmp_path / "news.db-writer").exists()


def test_files_are_followed_beside_what_is_pushed(tmp_path):
    made = documents(40)
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(one) + "\n" for one in made[:20]))
    with served(str(tmp_path / "news.db"), str(tmp_path / "news.jsonl")) as process:
        assert httpx.post(f"{process.url}/documents", json=made[20:]).status_code == 202
        wait_until(lambda: httpx.get(f"{process.url}/status").json()["documents"] == 40)
