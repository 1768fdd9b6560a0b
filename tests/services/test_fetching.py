"""Fetching from servers that mean no good, and from addresses that must not be reached."""

from __future__ import annotations

import gzip
import socket
import threading

import pytest

from firststory.fetching import Failed, Fetcher, Refused, is_public
from services.http_servers import reply

pytest.importorskip("httpx")


@pytest.fixture
def fetcher():
    made = Fetcher(allow_private=True, deadline=1.0, max_bytes=100_000)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True), ("2606:4700::1111", True),
        ("127.0.0.1", False), ("127.8.8.8", False), ("0.0.0.0", False), ("10.1.2.3", False), ("172.16.0.1", False),
        ("192.168.1.1", False), ("169.254.169.254", False), ("100.64.0.1", False), ("224.0.0.1", False),
        ("255.255.255.255", False), ("::1", False), ("::", False), ("fe80::1%eth0", False), ("fc00::1", False),
        ("::ffff:127.0.0.1", False), ("::ffff:8.8.8.8", True), ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False),
        ("ff02::1", False),
    ],
)  # fmt: skip
def test_only_addresses_of_the_public_internet_are_public(address, public):
    assert is_public(address) is public


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f000001", "2130706433", "127.1", "[::1]", "0.0.0.0"])
def test_this_machine_is_not_reached_however_it_is_written(web, host):
    web.serve("/", b"secret")
    with pytest.raises((Refused, Failed)) as told:
        Fetcher().get(f"http://{host}:{web.port}/")
    assert not web.requests and "secret" not in str(told.value)
    assert "private address" in str(told.value) or host == "[::1]" or "no address" in str(told.value)


def test_a_name_that_resolves_to_a_private_address_is_refused(web, monkeypatch):
    """The answer of the name server decides, and the address that was checked is the one that is connected to."""
    web.serve("/", b"secret")
    asked = []
    real = socket.getaddrinfo

    def answer(host, port, *arguments, **options):
        asked.append(host)
        # The second answer would be another one: whoever asks twice can be deceived.
        address = "127.0.0.1" if host == "innocent.example" else host
        return real(address, port, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    with pytest.raises(Refused, match=r"innocent\.example has the private address 127\.0\.0\.1"):
        Fetcher().get(f"http://innocent.example:{web.port}/")
    assert asked == ["innocent.example"] and not web.requests
    assert Fetcher(allow_private=True).get(f"http://innocent.example:{web.port}/").body == b"secret"
    assert asked[1:] == ["innocent.example", "127.0.0.1"]


def test_a_redirect_to_a_private_address_is_refused(web, monkeypatch):
    """The first server is taken for a public one; where it points to is not."""
    web.serve("/public", status=302, Location=f"http://localhost:{web.port}/secret")
    web.serve("/secret", b"secret")
    monkeypatch.setattr("firststory.fetching.is_public", lambda address: len(web.requests) == 0)
    with pytest.raises(Refused, match="localhost has the private address"):
        Fetcher().get(web.url("/public"))
    assert [path for _, path, _, _ in web.requests] == ["/public"]


def test_redirects_are_followed_a_few_times_and_to_web_addresses_only(web, fetcher):
    web.serve("/a", status=301, Location="/b")
    web.serve("/b", b"found")
    assert fetcher.get(web.url("/a"))[2:] == (b"found", web.url("/b"))
    web.serve("/loop", status=302, Location="/loop")
    with pytest.raises(Refused, match="more than 5 redirects"):
        fetcher.get(web.url("/loop"))
    assert len(web.requests) == 2 + 6
    web.serve("/file", status=302, Location="file:///etc/passwd")
    with pytest.raises(Refused, match="not an http or https address"):
        fetcher.get(web.url("/file"))


def test_huge_bodies_and_bombs_are_cut_off(web, fetcher):
    with pytest.raises(Refused, match="longer than 100,000 bytes"):
        fetcher.get(web.serve("/huge", b"x" * 200_000))
    bomb = gzip.compress(b"\0" * 50_000_000)
    with pytest.raises(Refused, match="longer than 100,000 bytes"):
        fetcher.get(web.serve("/bomb", bomb, Content_Encoding="gzip"))
    with pytest.raises(Failed, match="damaged"):
        fetcher.get(web.serve("/torn", b"no gzip at all", Content_Encoding="gzip"))


def test_an_endless_body_is_cut_off(web, fetcher):
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 10_000)

    web.answers["/endless"] = endless
    with pytest.raises(Refused, match="longer than"):
        fetcher.get(web.url("/endless"))


def test_a_server_that_sends_a_byte_now_and_then_is_given_up(web, fetcher):
    stop = threading.Event()

    def slowly(handler):
        handler.send_response(200)
        handler.end_headers()
        while not stop.wait(0.05):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    def slow_headers(handler):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
        while not stop.wait(0.05):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    web.answers["/headers"] = slow_headers
    with pytest.raises(Failed, match="no whole answer"):
        fetcher.get(web.url("/headers"))
    web.answers["/slow"] = slowly
    with pytest.raises(Failed, match="no whole answer"):
        fetcher.get(web.url("/slow"))
    stop.set()


def test_a_server_that_hangs_up_or_is_not_there(web, fetcher):
    web.answers["/gone"] = lambda handler: handler.connection.close()
    with pytest.raises(Failed):
        fetcher.get(web.url("/gone"))
    port = web.port
    web.stop()
    with pytest.raises(Failed):
        Fetcher(allow_private=True).get(f"http://127.0.0.1:{port}/")


def test_proxies_of_the_environment_are_not_asked(web, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", web.url("/"))
    monkeypatch.setenv("ALL_PROXY", web.url("/"))
    with pytest.raises((Refused, Failed)):
        Fetcher().get("http://localhost:1/")
    assert not web.requests


def test_a_body_is_not_sent_on_to_where_a_redirect_points(web, fetcher):
    web.serve("/hook", status=307, Location="/elsewhere")
    assert fetcher.post(web.url("/hook"), b"alert", {}).status == 307
    assert [path for _, path, _, _ in web.requests] == ["/hook"]
    web.answers["/echo"] = lambda handler: reply(handler, b"ok")
    assert fetcher.post(web.url("/echo"), b"alert", {"Idempotency-Key": "a1"}).body == b"ok"
    assert web.requests[-1][3] == b"alert" and web.requests[-1][2]["Idempotency-Key"] == "a1"
