"""Attempts to get in, one by one. docs/how-to/service.md has the table."""

from __future__ import annotations

import hmac
import json
import re
import socket
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from firststory.errors import ParameterError
from firststory.serve import authentication, guard
from firststory.serve.app import create_app
from firststory.serve.options import ServiceOptions
from firststory.serve.server import check_address, serve
from firststory.serve.service import Service
from firststory.store import tokens
from firststory.store.store import Store
from firststory.store.tokens import create_token, revoke_token
from serve.served import fill, one_step, server_on

UNSAFE = (("POST", "/documents"), ("POST", "/verdicts/d1/feedback"), ("PATCH", "/settings"))
PRIVATE = (
    "/", "/alerts", "/verdicts", "/verdicts/d1", "/documents/d1", "/stories", "/stories/s1", "/storylines", "/topics",
    "/digest", "/search?q=x", "/status", "/settings", "/quarantine", "/events", "/metrics", "/openapi.json",
)  # fmt: skip


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return fill(str(tmp_path_factory.mktemp("security") / "news.db"), 3)


@pytest.fixture
def url(filled, tmp_path):
    """A store of one's own: tokens are made and revoked in it."""
    with closing(sqlite3.connect(filled)) as source, closing(sqlite3.connect(tmp_path / "news.db")) as target:
        source.backup(target)
    return str(tmp_path / "news.db")


@pytest.fixture
def make(url):
    """Makes clients of a service on the store; `options` are those of the service."""
    opened = []

    def client(base="http://localhost", headers=None, **options):
        service = Service(url, ServiceOptions(**{"requests_per_second": 0, **options}), why_read_only="a test reads.")
        made = TestClient(create_app(service), base_url=base, headers=headers, follow_redirects=False)
        made.__enter__()
        opened.append((made, service))
        return made

    yield client
    for made, service in opened:
        made.__exit__(None, None, None)
        service.close()


def token(url, *scopes):
    with Store(url) as store:
        return create_token(store, f"someone {'+'.join(scopes)}", scopes)


def bearer(given):
    return {"Authorization": f"Bearer {given}"}


# -- who may listen, and where -----------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "news.example.org", ""])
def test_it_does_not_start_for_others_without_a_token(url, host):
    with Store(url, read_only=True) as store, pytest.raises(ParameterError, match="token create"):
        check_address(ServiceOptions(host=host), store)
    with pytest.raises(ParameterError, match="token create"):
        serve(url, ServiceOptions(host=host, port=0), say=print)


def test_a_revoked_token_is_as_good_as_none(url):
    given = token(url, "read")
    options = ServiceOptions(host="0.0.0.0")
    with Store(url) as store:
        check_address(options, store)
        revoke_token(store, given.split("_")[1])
        with pytest.raises(ParameterError):
            check_address(options, store)


def test_by_default_only_this_machine_can_connect():
    assert ServiceOptions().host == "127.0.0.1" and ServiceOptions().is_loopback


def test_when_the_last_token_is_revoked_nobody_gets_in_from_outside(make, url):
    given = token(url, "read")
    client = make(host="0.0.0.0")
    assert client.get("/alerts", headers=bearer(given)).status_code == 200
    with Store(url) as store:
        revoke_token(store, given.split("_")[1])
    client.app.state.service.authentication._looked_up = 0
    assert client.get("/alerts", headers=bearer(given)).status_code == 401
    assert client.get("/alerts").status_code == 401


# -- tokens ------------------------------------------------------------------------------------------------


def test_nothing_is_told_without_a_token(make, url):
    token(url, "read", "write")
    client = make()
    for path in PRIVATE:
        answer = client.get(path)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "Title d" not in answer.text and "Story of" not in answer.text
    for method, path in UNSAFE:
        assert client.request(method, path, json={"text": "x", "useful": True}).status_code == 401
    assert client.get("/healthz").status_code == 200


def test_wrong_tokens_are_refused(make, url):
    given = token(url, "read")
    kind, identity, secret = given.split("_", 2)
    client = make()
    wrong = (
        "", "x", identity, secret, f"{kind}_{identity}", f"{kind}_{identity}_", f"{kind}__{secret}", given[:-1],
    )  # fmt: skip
    for one in wrong:
        assert client.get("/alerts", headers=bearer(one)).status_code == 401, one
    client.app.state.service.authentication._looked_up = 0
    assert client.get("/alerts", headers=bearer(given)).status_code == 200


@pytest.mark.parametrize("how", ["Basic", "Token", ""])
def test_only_bearer_tokens_count(make, url, how):
    given = token(url, "read")
    assert make().get("/alerts", headers={"Authorization": f"{how} {given}"}).status_code == 401


def test_a_token_in_the_address_is_not_a_token(make, url):
    given = token(url, "read")
    client = make()
    for name in ("token", "access_token", "authorization", "bearer"):
        assert client.get("/alerts", params={name: given}).status_code == 401
    client.cookies.set("token", given)
    client.cookies.set(authentication.COOKIE, given)
    assert client.get("/alerts").status_code == 401


def test_scopes_are_kept_apart(make, url):
    reader, writer = token(url, "read"), token(url, "write")
    client = make()
    for path in PRIVATE[1:]:
        if path != "/events":
            assert client.get(path, headers=bearer(writer)).status_code == 403, path
    for method, path in UNSAFE:
        assert client.request(method, path, json={"useful": True}, headers=bearer(reader)).status_code == 403, path
    answer = client.post("/verdicts/d1/feedback", json={"useful": True}, headers=bearer(writer))
    assert answer.status_code == 200


def test_a_revoked_token_is_refused_within_a_second(make, url):
    given = token(url, "read")
    client = make()
    assert client.get("/alerts", headers=bearer(given)).status_code == 200
    with Store(url) as store:
        revoke_token(store, given.split("_")[1])
    give_up = time.monotonic() + 10 * authentication.LOOKED_UP_FOR
    while client.get("/alerts", headers=bearer(given)).status_code == 200:
        assert time.monotonic() < give_up
        time.sleep(0.05)


def test_the_store_keeps_no_token(url):
    given = token(url, "read", "write")
    secret = given.split("_", 2)[2]
    with Store(url) as store:
        kept = json.dumps(store.dump(), default=str)
        assert secret not in kept and tokens.hash_of(given) in kept
    for file in (url, f"{url}-wal"):
        if Path(file).exists():
            assert secret.encode() not in Path(file).read_bytes()


def test_tokens_are_compared_in_constant_time(url, monkeypatch):
    """Known or not, one whole hash is compared with another, by the function that is made for it."""
    given, compared = token(url, "read"), []
    compare = hmac.compare_digest
    monkeypatch.setattr(tokens.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or compare(a, b))
    with Store(url) as store:
        known = tokens.tokens(store)
    for one in (given, "fst_nobody_x", given[:-1] + "x"):
        tokens.matching(one, known)
    assert len(compared) == 3 and {len(one) for pair in compared for one in pair} == {64}


def test_tokens_cannot_be_guessed(url):
    made = {token(url, "read") for _ in range(20)}
    assert len(made) == 20 and all(len(one.split("_", 2)[2]) >= 43 for one in made)


def test_guessing_is_slowed_down(make, url):
    token(url, "read")
    client = make()
    statuses = [client.get("/alerts", headers=bearer(f"fst_000000000000_{n}")).status_code for n in range(20)]
    assert statuses[: guard.FAILURES] == [401] * guard.FAILURES and set(statuses[guard.FAILURES :]) == {429}
    for n in range(20):
        last = client.post("/login", data={"token": str(n)})
    assert last.status_code == 429 and int(last.headers["retry-after"]) > 0


# -- browsers ----------------------------------------------------------------------------------------------


def sign_in(client, given, next_page="/"):
    form = {"token": given, "next": next_page}
    return client.post("/login", data=form, headers={"Sec-Fetch-Site": "same-origin"})


def test_signing_in_gives_a_cookie_that_scripts_and_other_sites_do_not_get(make, url):
    given = token(url, "read")
    client = make()
    shown = client.get("/", headers={"Accept": "text/html"})
    assert shown.status_code == 303 and shown.headers["location"] == "/login?next=%2F"
    answer = sign_in(client, given)
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    assert re.search(r"HttpOnly", cookie) and re.search(r"SameSite=strict", cookie, re.IGNORECASE)
    assert given not in cookie and given not in answer.text
    assert client.get("/alerts").status_code == 200


def test_over_https_the_cookie_never_leaves_it(make, url):
    given = token(url, "read")
    answer = sign_in(make("https://localhost"), given)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-") and "Secure" in cookie and "Domain" not in cookie
    assert answer.headers["strict-transport-security"]


def test_signing_in_makes_a_new_session_each_time(make, url):
    given = token(url, "read")
    client = make()
    client.cookies.set(authentication.COOKIE, "chosen-by-an-attacker")
    first = sign_in(client, given).cookies[authentication.COOKIE]
    second = sign_in(client, given).cookies[authentication.COOKIE]
    assert len({first, second, "chosen-by-an-attacker"}) == 3


def test_signing_out_ends_the_session_on_this_side(make, url):
    given = token(url, "read")
    client = make()
    stolen = sign_in(client, given).cookies[authentication.COOKIE]
    client.post("/logout", headers={"Sec-Fetch-Site": "same-origin"})
    assert client.get("/alerts").status_code == 401
    other = make()
    other.cookies.set(authentication.COOKIE, stolen)
    assert other.get("/alerts").status_code == 401


def test_a_session_outlives_the_process_but_not_its_time_nor_its_token(make, url, monkeypatch):
    given = token(url, "read")
    secret = sign_in(make(), given).cookies[authentication.COOKIE]
    again = make()
    again.cookies.set(authentication.COOKIE, secret)
    assert again.get("/alerts").status_code == 200
    later = tokens.now() + 13 * 3600 * 1_000_000
    with monkeypatch.context() as patched:
        patched.setattr(tokens, "now", lambda: later)
        expired = make()
        expired.cookies.set(authentication.COOKIE, secret)
        assert expired.get("/alerts").status_code == 401
    with Store(url) as store:
        revoke_token(store, given.split("_")[1])
    revoked = make()
    revoked.cookies.set(authentication.COOKIE, secret)
    assert revoked.get("/alerts").status_code == 401


FOREIGN = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost.evil.example"},
    {"Origin": "http://localhost:9999"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
)


@pytest.mark.parametrize("signed_in", [False, True])
def test_another_site_cannot_make_a_browser_write(make, url, signed_in):
    client = make()
    if signed_in:
        given = token(url, "read", "write")
        client = make()
        sign_in(client, given)
    for headers in FOREIGN:
        for method, path in (*UNSAFE, ("POST", "/login"), ("POST", "/logout")):
            answer = client.request(method, path, json={"useful": True, "text": "x"}, headers=headers)
            assert answer.status_code == 403, (path, headers)
    assert client.app.state.service.reader.feedback() == ()
    own = {"Origin": "http://localhost"}
    assert client.post("/verdicts/d1/feedback", json={"useful": True}, headers=own).status_code == 200


def test_a_cookie_alone_does_not_write(make, url):
    """Whatever sends a cookie and does not say where it comes from is no browser that we know."""
    given = token(url, "read", "write")
    client = make()
    sign_in(client, given)
    assert client.post("/verdicts/d1/feedback", json={"useful": True}).status_code == 403


def test_a_form_of_another_site_cannot_push(make):
    client = make()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = client.post("/verdicts/d1/feedback", content=b'{"useful": true}', headers={"Content-Type": kind})
        assert answer.status_code in (403, 415, 422), kind


def test_other_origins_get_no_permission(make):
    client = make()
    answers = [client.get("/alerts", headers={"Origin": "https://evil.example"})]
    wish = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answers.append(client.options("/documents", headers=wish))
    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answers[1].status_code == 405


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[::1"])
def test_another_name_for_this_machine_is_not_answered(make, host):
    """DNS rebinding: a site gives its own name our address, and its script asks us by that name."""
    answer = make().get("/alerts", headers={"Host": host})
    assert answer.status_code == 421 and "Title" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:8765", "[::1]:8765", "news.internal"])
def test_the_names_of_this_machine_and_those_allowed_are(make, host):
    assert make(allowed_hosts=("news.internal",)).get("/alerts", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "wanted", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\nb", "evil"]
)
def test_signing_in_never_leads_elsewhere(make, url, wanted):
    given = token(url, "read")
    client = make()
    assert sign_in(client, given, wanted).headers["location"] == "/"
    shown = client.get("/login", params={"next": wanted}).text
    assert 'value="/"' in shown


def test_the_page_to_sign_in_repeats_nothing_as_markup(make):
    shown = make().get("/login", params={"next": '/"><script>alert(1)</script>'}).text
    assert "<script>alert" not in shown


def test_every_answer_has_the_headers(make, url):
    client = make()
    paths = ("/", "/alerts", "/nothing", "/login", "/static/nothing", "/alerts?limit=0", "/healthz")
    for path in paths:
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
        parts = (
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "img-src 'self' data:",
            "font-src 'self'",
        )
        assert all(part in policy.split("; ") for part in parts)
        assert "frame-ancestors 'none'" in policy and headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
        assert "no-store" in headers["cache-control"] or "private" in headers["cache-control"]


# -- too much, too often, too strange ----------------------------------------------------------------------


def test_a_client_that_asks_too_often_waits(make):
    client = make(requests_per_second=1.0, burst=5)
    statuses = [client.get("/healthz").status_code for _ in range(8)]
    assert statuses.count(200) in (5, 6) and statuses[-1] == 429
    answer = client.get("/alerts")
    assert answer.status_code == 429 and int(answer.headers["retry-after"]) >= 1


def test_the_word_of_a_stranger_on_who_asks_is_not_taken(make):
    client = make(requests_per_second=1.0, burst=2)
    spoofed = [{"X-Forwarded-For": f"10.0.0.{n}", "Forwarded": f"for=10.0.0.{n}"} for n in range(5)]
    assert [client.get("/healthz", headers=one).status_code for one in spoofed][-1] == 429


def test_bodies_are_bounded_whatever_they_say_of_their_length(url):
    with server_on(url, small_body_bytes=1_000) as (_, address, _):
        long = b'{"useful": true, "x": "' + b"x" * 5_000 + b'"}'
        path = f"{address}/verdicts/d1/feedback"
        kind = {"Content-Type": "application/json"}
        assert httpx.post(path, content=long, headers=kind).status_code == 413
        chunked = httpx.post(path, content=(long[n : n + 500] for n in range(0, len(long), 500)), headers=kind)
        assert chunked.status_code == 413
        assert httpx.get(f"{address}/healthz").status_code == 200


def raw(address, sent, wait=5.0):
    there = urlsplit(address)
    with socket.create_connection((there.hostname, there.port), timeout=wait) as connection:
        connection.sendall(sent)
        found = b""
        try:
            while data := connection.recv(65536):
                found += data
                if b"\r\n\r\n" in found:
                    break
        except TimeoutError:
            pass
        return found.split(b"\r\n")[0]


def test_strange_requests_do_no_harm(url):
    with server_on(url) as (_, address, _):
        host = f"Host: {urlsplit(address).netloc}\r\n".encode()
        smuggled = b"POST /documents HTTP/1.1\r\n" + host
        smuggled += b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x"
        for sent in (
            b"\x16\x03\x01\x02\x00\x01\x00",
            b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(20_000)) + host + b"\r\n",
            b"BREW /alerts HTTP/1.1\r\n" + host + b"\r\n",
            smuggled,
        ):
            with suppress(ConnectionError):
                assert b" 200 " not in raw(address, sent, 2.0)
        for path in ("/../../etc/passwd", "/static/../app.py", "/static/..%2f..%2fapp.py", "/static//etc/passwd"):
            line = raw(address, b"GET " + path.encode() + b" HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n")
            assert b" 404 " in line or b" 405 " in line, (path, line)
        assert httpx.get(f"{address}/healthz").status_code == 200


def test_ids_and_words_are_values_and_never_statements(make):
    client = make()
    for hostile in ("' OR 1=1 --", 'd1"; DROP TABLE documents; --', "%", "\0", "d1' UNION SELECT hash FROM tokens --"):
        for path in ("/stories/", "/verdicts/", "/documents/", "/alerts/", "/storylines/"):
            assert client.get(path + httpx.QueryParams({"x": hostile})["x"].replace("\0", "%00")).status_code == 404
        for query in ({"q": hostile}, {"q": hostile, "story": hostile}):
            answer = client.get("/search", params=query)
            assert answer.status_code in (200, 404)
            assert answer.json().get("total", 0) == 0
    assert client.get("/status").json()["documents"] == 9


def test_hostile_text_is_told_as_json_and_not_as_a_page(make, url):
    with Store(url) as store:
        store.claim()
        store.write_step(one_step(3, title="<script>alert(1)</script>\r\nSet-Cookie: a=b"))
    client = make()
    answer = client.get("/verdicts", params={"order": "newest"})
    assert answer.headers["content-type"] == "application/json" and "set-cookie" not in answer.headers
    assert "<script>alert(1)</script>" in answer.json()["items"][0]["title"]


# -- what is said ------------------------------------------------------------------------------------------


def test_no_secret_is_ever_said(url):
    given = token(url, "read", "write")
    said = []
    with server_on(url, say=said.append) as (_, address, _):
        with httpx.Client(base_url=address, follow_redirects=False) as client:
            wrong = given[:-3] + "abc"
            answers = [client.get("/alerts", headers=bearer(one)) for one in (given, wrong)]
            answers.append(client.post("/login", data={"token": given}))
            answers.append(client.post("/login", data={"token": wrong}))
            secret = answers[2].cookies[authentication.COOKIE]
            answers.append(client.get("/metrics", headers=bearer(given)))
            answers.append(client.get("/status", headers=bearer(given)))
            answers.append(client.get("/nothing", headers=bearer(given)))
        told = json.dumps([answer.text for answer in answers]) + json.dumps(said)
        for one in (given, wrong, secret, tokens.hash_of(given), given.split("_", 2)[2]):
            assert one not in told
        assert all(given not in str(answer.headers) for answer in answers)


def test_the_password_of_the_database_is_never_said(postgres):
    url = fill(postgres.new_schema(), 1).replace("://tests@", "://tests:pass-of-mine@")
    service = Service(url, ServiceOptions(requests_per_second=0), why_read_only="a test reads.")
    try:
        with TestClient(create_app(service), base_url="http://localhost") as client:
            told = "".join(client.get(path).text for path in ("/status", "/metrics", "/settings", "/readyz"))
        assert "pass-of-mine" not in told
    finally:
        service.close()
