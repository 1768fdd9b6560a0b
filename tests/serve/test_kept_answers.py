"""Kept answers: asked once of the store, never to the wrong reader, never older than promised."""

from __future__ import annotations

import asyncio

import pytest

from firststory.serve import kept_answers
from firststory.serve.answering import KEEP
from firststory.serve.kept_answers import KeptAnswers, Version
from firststory.serve.visitor import Visitor

READER, WRITER = Visitor("r", frozenset({"read"}), "1"), Visitor("w", frozenset({"read", "write"}), "2")


class Clock:
    """A clock that is moved by hand."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(kept_answers.time, "monotonic", lambda: self.now)


class Application:
    """Answers with what it was asked and how often it was; `takes` seconds of the clock."""

    def __init__(self, clock, takes=0.0, status=200, keeps=float("inf")):
        self.clock, self.takes, self.status, self.keeps, self.asked = clock, takes, status, keeps, 0

    async def __call__(self, scope, receive, send):
        self.asked += 1
        body = f"{scope['path']} {scope['firststory.visitor'].name} {self.asked}".encode()
        await asyncio.sleep(0)
        self.clock.now += self.takes
        scope[KEEP] = self.keeps
        headers = [(b"ETag", b'W/"%d"' % self.asked), (b"Content-Length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


class Asking:
    def __init__(self, app):
        self.version = Version(1, 0)
        self.kept = KeptAnswers(app, lambda: self.version)

    async def get(self, path="/a", visitor=READER, query=b"", method="GET", **headers):
        sent = []

        async def send(message):
            sent.append(message)

        raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http", "method": method, "path": path, "query_string": query, "headers": raw,
            "firststory.visitor": visitor,
        }  # fmt: skip
        await self.kept(scope, None, send)
        return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:]).decode()


def test_a_question_is_worked_out_once_for_each_reader_and_version(clock):
    async def scenario():
        here = Asking(Application(clock))
        assert await here.get() == await here.get() == (200, "/a r 1")
        assert await here.get(visitor=WRITER) == (200, "/a w 2")
        assert await here.get(query=b"x=1") == (200, "/a r 3")
        assert await here.get(accept_encoding="gzip") == (200, "/a r 4")
        assert await here.get(cookie="a=b; zone=Europe/Oslo") == (200, "/a r 5")
        assert await here.get(cookie="a=c; zone=Europe/Oslo") == (200, "/a r 5")
        here.version = Version(2, 0)
        assert await here.get() == (200, "/a r 6")
        assert await here.get(if_none_match='W/"6"') == (304, "")
        assert await here.get(if_none_match='"5"') == (200, "/a r 6")
        assert await here.get(method="HEAD") == (200, "/a r 7")  # not its business

    asyncio.run(scenario())


def test_the_same_question_at_once_is_worked_out_once(clock):
    async def scenario():
        here = Asking(Application(clock))
        told = await asyncio.gather(*(here.get() for _ in range(20)))
        assert set(told) == {(200, "/a r 1")}

    asyncio.run(scenario())


def test_errors_and_answers_whose_time_is_over_are_not_kept(clock):
    async def scenario():
        wrong = Asking(Application(clock, status=404))
        assert [await wrong.get(), await wrong.get()] == [(404, "/a r 1"), (404, "/a r 2")]
        short = Asking(Application(clock, keeps=10.0))
        assert await short.get() == (200, "/a r 1")
        clock.now += 11
        assert await short.get() == (200, "/a r 2")

    asyncio.run(scenario())


def test_what_takes_long_holds_while_the_stream_goes_on_and_stands_in_for_the_next(clock):
    async def scenario():
        app = Application(clock, takes=0.5)
        here = Asking(app)
        assert await here.get() == (200, "/a r 1")
        here.version = Version(2, 0)
        clock.now += 9.0  # twenty times as long as it took is ten seconds
        assert await here.get() == (200, "/a r 1") and app.asked == 1
        clock.now += 2.0
        assert await here.get() == (200, "/a r 1")  # the next one is worked out behind
        await asyncio.gather(*here.kept._behind)
        assert await here.get() == (200, "/a r 2") and app.asked == 2
        here.version = Version(3, 0)
        clock.now += 100.0  # too old to stand in
        assert await here.get() == (200, "/a r 3")
        here.version = Version(3, 1)  # someone changed something here: seen at once
        assert await here.get() == (200, "/a r 4")

    asyncio.run(scenario())


def test_there_is_a_bound_on_what_is_kept(clock, monkeypatch):
    monkeypatch.setattr(kept_answers, "MOST_BYTES", 30)

    async def scenario():
        here = Asking(Application(clock))
        for n in range(10):
            await here.get(f"/{n}")
        assert here.kept._bytes <= 30 and len(here.kept._kept) < 10
        assert here.kept._bytes == sum(len(one.body) for one in here.kept._kept.values())

    asyncio.run(scenario())
