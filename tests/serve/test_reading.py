"""What programs are answered: pages, tags, problems; in every database."""

from __future__ import annotations

import gzip
import json

import pytest
from fastapi.testclient import TestClient

from firststory.serve.app import create_app
from firststory.serve.options import ServiceOptions
from firststory.serve.service import Service
from firststory.store.store import Store
from serve.served import STEP_SIZE, fill, one_step

STEPS = 12
N_DOCUMENTS = STEPS * STEP_SIZE


@pytest.fixture
def url(new_store):
    return fill(new_store(), STEPS)


@pytest.fixture
def service(url):
    made = Service(url, ServiceOptions(requests_per_second=0), why_read_only="a test reads.")
    yield made
    made.close()


@pytest.fixture
def client(service):
    with TestClient(create_app(service), base_url="http://localhost") as made:
        yield made


def all_pages(client, path, **parameters):
    """Every item of a list, by following the links to the next pages."""
    address, items, pages = client.build_request("GET", path, params=parameters).url, [], 0
    while True:
        answer = client.get(address)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        items += page["items"]
        pages += 1
        assert ("next" in answer.links) == (page["next"] is not None)
        if page["next"] is None:
            return items, pages
        address = answer.links["next"]["url"]


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_pages_of_verdicts_have_each_once_in_order(client, order):
    items, pages = all_pages(client, "/verdicts", limit=5, order=order)
    names = [f"d{n + 1}" for n in range(N_DOCUMENTS)]
    assert [item["id"] for item in items] == (names if order == "oldest" else names[::-1])
    assert pages == -(-N_DOCUMENTS // 5)


def test_verdicts_can_be_asked_for_by_novelty_and_story(client):
    novel, _ = all_pages(client, "/verdicts", novel="true")
    rest, _ = all_pages(client, "/verdicts", novel="false", limit=500)
    assert len(novel) == STEPS and len(rest) == N_DOCUMENTS - STEPS
    of_story, _ = all_pages(client, "/verdicts", story="s1")
    assert {item["story"] for item in of_story} == {"s1"}


def test_who_follows_asks_after_the_last_id(client, url):
    last = client.get("/alerts", params={"limit": 500}).json()["items"][-1]["id"]
    assert client.get("/alerts", params={"after": last}).json() == {"items": [], "next": None}
    with Store(url) as store:
        store.claim()
        store.write_step(one_step(STEPS))
    client.app.state.service._touched += 1
    assert [item["id"] for item in client.get("/alerts", params={"after": last}).json()["items"]] == [f"a{STEPS}"]


def test_alerts_by_kind_since_and_backwards(client):
    turns, _ = all_pages(client, "/alerts", kind="turn", limit=1)
    assert {item["kind"] for item in turns} == {"turn"} and len(turns) == STEPS // 3
    both = client.get("/alerts", params={"kind": ["turn", "confirmed"], "limit": 500}).json()["items"]
    assert {item["kind"] for item in both} == {"turn", "confirmed"}
    backwards, _ = all_pages(client, "/alerts", order="newest", limit=5)
    assert [item["id"] for item in backwards] == [f"a{n}" for n in reversed(range(STEPS))]
    late = client.get("/alerts", params={"since": "5h"}).json()["items"]
    assert 0 < len(late) < STEPS
    assert client.get("/alerts/a3").json()["id"] == "a3"


@pytest.mark.parametrize("order", ["last_seen", "first_seen", "size", "growth"])
def test_pages_of_stories_have_each_once(client, service, order):
    items, pages = all_pages(client, "/stories", order=order, limit=4)
    names = [item["id"] for item in items]
    assert sorted(names) == sorted(story.id for story in service.reader.stories()) and pages > 3
    values = [item[order] or "" for item in items]
    assert values == sorted(values, reverse=True)


def test_a_story_a_storyline_and_their_documents(client):
    told = client.get("/stories/s1").json()
    assert told["n_documents"] == len(told["documents"]) > 0 and told["turning_points"]
    line = client.get("/storylines/l1").json()
    assert line["id"] == "l1" and line["stories"]
    assert client.get("/storylines").json()["items"][0]["id"] == "l1"
    whole = client.get("/documents/d1").json()
    assert whole["text"].startswith("Text of d1") and whole["extra"]["page"] == 3
    assert client.get("/verdicts/d1").json()["id"] == "d1"


def test_topics_digest_search_status_and_quarantine(client):
    assert client.get("/topics").json() == {"step": None, "time": None, "items": []}
    assert client.get("/topics", params={"at": "2026-11-15T12:00:00Z"}).status_code == 200
    assert client.get("/digest", params={"since": "all"}).json()["n_confirmed"] >= 1
    found = client.get("/search", params={"q": "überschwemmung", "limit": 2}).json()
    assert found["total"] == N_DOCUMENTS and len(found["items"]) == 2
    status = client.get("/status").json()
    assert (status["documents"], status["mode"], status["stream"]) == (N_DOCUMENTS, "reading", None)
    bad, _ = all_pages(client, "/quarantine", limit=1)
    assert [item["at"]["line"] for item in bad] == [10, 5, 0]
    assert client.get("/healthz").json()["status"] == client.get("/readyz").json()["status"] == "ok"


def test_what_has_not_changed_is_not_sent_again(client):
    for path in ("/alerts", "/stories", "/stories/s1", "/topics", "/digest", "/settings", "/verdicts"):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"") and again.headers["etag"] == first.headers["etag"]
        assert client.get(path, headers={"If-None-Match": '"another"'}).status_code == 200


def test_a_new_step_makes_another_tag(client, url):
    before = client.get("/verdicts", params={"order": "newest"})
    with Store(url) as store:
        store.claim()
        store.write_step(one_step(STEPS))
    client.app.state.service._touched += 1
    after = client.get("/verdicts", params={"order": "newest"}, headers={"If-None-Match": before.headers["etag"]})
    assert after.status_code == 200 and after.json()["items"][0]["id"] == f"d{N_DOCUMENTS + STEP_SIZE}"


def test_long_answers_are_compressed_for_those_who_can(client):
    with client.stream("GET", "/verdicts", headers={"Accept-Encoding": "gzip"}) as packed:
        raw = b"".join(packed.iter_raw())
    plain = client.get("/verdicts", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert gzip.decompress(raw) == plain.content and len(raw) < len(plain.content) / 2


PROBLEMS = {
    # method and path: the status that is answered
    ("GET", "/nothing"): 404,
    ("GET", "/stories/s999"): 404,
    ("GET", "/storylines/l999"): 404,
    ("GET", "/documents/none"): 404,
    ("GET", "/verdicts/none"): 404,
    ("GET", "/alerts/none"): 404,
    ("GET", "/alerts?after=none"): 404,
    ("GET", "/verdicts?after=none"): 404,
    ("GET", "/stories?after=bm9uc2Vuc2U"): 404,
    ("DELETE", "/stories"): 405,
    ("GET", "/alerts?kind=loud"): 422,
    ("GET", "/alerts?limit=0"): 422,
    ("GET", "/alerts?limit=501"): 422,
    ("GET", "/alerts?since=whenever"): 422,
    ("GET", "/topics?at=soon"): 422,
    ("GET", "/search"): 422,
    ("GET", "/events?after=nonsense"): 422,
    ("POST", "/documents"): 503,
}


def test_errors_are_problem_documents(client):
    for (method, path), status in PROBLEMS.items():
        answer = client.request(method, path)
        assert answer.status_code == status, path
        assert answer.headers["content-type"] == "application/problem+json", path
        problem = answer.json()
        assert problem["status"] == status and problem["title"] and problem["detail"].endswith("."), path


def test_a_fault_says_nothing_of_the_inside(service, monkeypatch):
    said = []

    def broken(*args, **kwargs):
        raise KeyError("a secret of the inside")

    monkeypatch.setattr("firststory.serve.routes.stories.storylines_page", broken)
    service.say = said.append
    with TestClient(create_app(service), base_url="http://localhost") as client:
        answer = client.get("/storylines")
    assert answer.status_code == 500 and "secret" not in answer.text
    assert answer.headers["content-type"] == "application/problem+json" and "content-security-policy" in answer.headers
    assert any("a secret of the inside" in sentence for sentence in said)


def test_feedback_is_kept_and_taken_back(client, service):
    for useful in (True, False, None):
        answer = client.post("/verdicts/d1/feedback", json={"useful": useful})
        assert answer.json() == {"id": "d1", "useful": useful}
    assert [row["useful"] for row in service.reader.feedback()] == [True, False, None]
    assert client.post("/verdicts/none/feedback", json={"useful": True}).status_code == 404
    for wrong in ({}, {"useful": "yes"}, {"useful": 1}, {"useful": True, "more": 1}):
        assert client.post("/verdicts/d1/feedback", json=wrong).status_code == 422


def test_the_description_has_every_status_and_every_shape(client):
    told = client.get("/openapi.json").json()
    assert json.dumps(told).count('"$ref"') > 50
    for path, operations in told["paths"].items():
        for method, operation in operations.items():
            answers = operation["responses"]
            assert {"401", "403", "422", "429", "500", "503"} <= set(answers), (method, path)
            wrong = [s for s, a in answers.items() if s >= "400" and "application/json" in a.get("content", {})]
            assert wrong in ([], ["503"] if path == "/readyz" else []), (method, path)


def test_a_read_only_service_keeps_nothing(url):
    made = Service(url, ServiceOptions(read_only=True), why_read_only="it was started with --read-only.")
    try:
        with TestClient(create_app(made), base_url="http://localhost") as client:
            assert client.get("/alerts").status_code == 200
            for method, path, body in (
                ("POST", "/documents", {"text": "x"}),
                ("POST", "/verdicts/d1/feedback", {"useful": True}),
                ("PATCH", "/settings", {"budget": "5/day"}),
            ):
                answer = client.request(method, path, json=body)
                assert answer.status_code == 503 and "read" in answer.json()["detail"]
    finally:
        made.close()
