"""Feeds from a local server that behaves, and from one that does not."""

from __future__ import annotations

import sys
from html import escape
from itertools import islice

import pytest

from firststory.errors import MissingExtraError, SourceError
from firststory.fetching import retry_after
from firststory.records import Idle, Quarantined
from firststory.sources.feeds import Feed, declares_entities
from firststory.sources.live import LiveSources
from firststory.sources.opening import open_sources
from firststory.sources.source import Options, Unavailable
from services.http_servers import reply
from services.killing import contents, documents, run_from_file, run_with_kills

pytest.importorskip("feedparser")
OPEN = Options(allow_private_addresses=True, poll_seconds=0.0, fetch_seconds=1.0)
BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def item(name, text, date="Mon, 16 Nov 2026 10:00:00 GMT", title=None):
    return (
        f"<item><guid isPermaLink='false'>{name}</guid><title>{title or name}</title><link>https://paper.example/{name}</link>"
        f"<pubDate>{date}</pubDate><description>{text}</description></item>"
    )


def rss(*items, title="Harbour News", prolog=""):
    channel = f"<channel><title>{title}</title>{''.join(items)}</channel>"
    return f"<?xml version='1.0'?>{prolog}<rss version='2.0'>{channel}</rss>".encode()


def arrivals(source, n, after=None):
    return list(islice((one for one in source.read(after) if not isinstance(one, Idle)), n))


def feed(web, path="/feed"):
    return Feed("rss+" + web.url(path), OPEN)


def test_entries_become_documents_oldest_first_with_their_full_text(web):
    atom = """<feed xmlns='http://www.w3.org/2005/Atom'><title>Port &amp; Sea</title>
      <entry><id>urn:b</id><title>Second</title><updated>2026-11-16T12:00:00Z</updated>
        <link href='https://port.example/b'/><summary>Short</summary>
        <content type='html'>&lt;p&gt;The whole &lt;b&gt;story&lt;/b&gt;.&lt;style&gt;x&lt;/style&gt;</content>
      </entry><entry><id>urn:a</id><title>First</title><updated>2026-11-16T11:00:00+01:00</updated>
        <summary>Earlier</summary></entry></feed>"""
    web.serve("/feed", atom.encode(), Content_Type="application/atom+xml")
    first, second = (document for document, _ in arrivals(feed(web), 2))
    assert (first.id, first.text, first.time.isoformat()) == ("urn:a", "Earlier", "2026-11-16T10:00:00+00:00")
    assert (second.id, second.text, second.source) == ("urn:b", "The whole story.", "Port & Sea")
    assert second.url == "https://port.example/b" and second.title == "Second"


def test_an_unchanged_feed_is_not_sent_again_and_no_entry_comes_twice(web):
    state = {"items": [item("a", "One"), item("b", "Two")], "etag": '"1"'}

    def answer(handler):
        if handler.headers.get("If-None-Match") == state["etag"]:
            reply(handler, status=304)
        else:
            reply(handler, rss(*state["items"]), ETag=state["etag"], Last_Modified="Mon, 16 Nov 2026 10:00:00 GMT")

    web.answers["/feed"] = answer
    found = arrivals(feed(web), 2)
    assert [document.text for document, _ in found] == ["Two", "One"]
    assert found[0][1].at["etag"] is None and found[1][1].at["etag"] == '"1"'
    assert isinstance(next(feed(web).read(found[1][1])), Idle) and len(web.requests) == 2
    state.update(items=[item("c", "Three"), *state["items"]], etag='"2"')
    assert [document.text for document, _ in arrivals(feed(web), 1, found[1][1])] == ["Three"]
    assert web.requests[-1][2]["If-None-Match"] == '"1"'
    assert web.requests[-1][2]["If-Modified-Since"] == "Mon, 16 Nov 2026 10:00:00 GMT"
    # Killed after the first of two entries: the answer is asked for as a whole, and only the other one is taken.
    assert [document.text for document, _ in arrivals(feed(web), 2, found[0][1])] == ["One", "Three"]


def test_the_server_says_when_to_come_back(web):
    web.serve("/feed", status=429, Retry_After="37")
    with pytest.raises(Unavailable, match="429") as told:
        arrivals(feed(web), 1)
    assert told.value.retry_after == 37.0
    assert retry_after("Thu, 01 Jan 1970 00:00:00 GMT") == 0.0 and retry_after("1e99") == 86_400.0
    assert retry_after("soon") is None


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_in_trouble_is_asked_again(web, status):
    answers = iter([lambda h: reply(h, status=status), lambda h: reply(h, rss(item("a", "Back again")))])
    web.answers["/feed"] = lambda handler: next(answers)(handler)
    said = []
    with LiveSources([feed(web)], {}, said.append) as live:
        ((document, _),) = islice((one for one in live if not isinstance(one, Idle)), 1)
    assert document.text == "Back again" and f"answers {status}" in said[0] and "is back" in said[1]


def test_one_bad_feed_does_not_stop_the_others_and_the_last_one_ends_the_run(web):
    web.serve("/good", rss(item("a", "Good")))
    said = []
    with LiveSources([feed(web, "/missing"), feed(web, "/good")], {}, said.append) as live:
        ((document, _),) = islice((one for one in live if not isinstance(one, Idle)), 1)
        assert document.text == "Good"
    with LiveSources([feed(web, "/missing")], {}, said.append) as live, pytest.raises(SourceError, match="404"):
        list(live)
    assert any("/missing" in sentence for sentence in said)


def test_what_is_not_a_feed_is_told(web):
    pages = {
        "/html": (b"<html><p>Log in</p></html>", "text/html"),
        "/png": (b"\x89PNG\r\n" * 9, "image/png"),
        "/empty": (b"", "application/rss+xml"),
        "/json": (b"{}", "application/json"),
    }
    for path, (body, kind) in pages.items():
        web.serve(path, body, Content_Type=kind)
        with pytest.raises(Unavailable, match="not a feed"):
            arrivals(feed(web, path), 1)


def test_a_feed_is_read_whatever_type_the_server_names(web):
    web.serve("/feed", rss(item("a", "One")), Content_Type="text/plain")
    assert arrivals(feed(web), 1)[0][0].text == "One"


def test_broken_xml_is_read_as_far_as_it_goes(web):
    web.serve("/feed", rss(item("a", "One"), item("b", "Two"))[:-16])
    assert {document.text for document, _ in arrivals(feed(web), 2)} == {"One", "Two"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_bombs_and_files_of_this_machine_are_refused(web, encoding):
    for prolog in (BOMB, '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'):
        data = (
            rss(item("a", "&b;"), prolog=prolog)
            .decode()
            .replace("<?xml version='1.0'?>", f"<?xml version='1.0' encoding='{encoding}'?>")
        )
        web.serve("/feed", data.encode(encoding))
        with pytest.raises(SourceError, match="XML entities"):
            arrivals(feed(web), 1)
    assert not declares_entities(rss(item("a", "One")))


def test_a_private_feed_is_refused_unless_it_is_allowed(web):
    web.serve("/feed", rss(item("a", "One")))
    with pytest.raises(SourceError, match="allow_private_addresses"):
        arrivals(Feed("rss+" + web.url("/feed"), Options()), 1)
    assert not web.requests


def test_entries_that_say_nothing_are_quarantined_and_numbers_as_ids_are_made_unique(web):
    web.serve("/feed", rss("<item><guid isPermaLink='false'>1</guid></item>", item("2", "Fine")))
    bad, (good, _) = arrivals(feed(web), 2)
    assert isinstance(bad, Quarantined) and bad.reason == "empty-text"
    assert good.id == f"rss+{web.url('/feed')}#2"


def test_a_list_of_feeds_is_every_feed_once(web, tmp_path):
    web.serve("/a", rss(item("a", "From a"), title="A"))
    web.serve("/b", rss(item("b", "From b"), title="B"))
    path = tmp_path / "feeds.opml"
    outlines = "".join(f"<outline xmlUrl='{web.url(name)}'/>" for name in ("/a", "/b", "/a"))
    path.write_text(f"<opml><body><outline text='Folder'>{outlines}</outline></body></opml>")
    sources = open_sources([str(path)], OPEN)
    assert [source.name for source in sources] == [f"rss+{web.url(name)}" for name in ("/a", "/b")]
    with LiveSources(sources, {}, print) as live:
        found = list(islice((one for one in live if not isinstance(one, Idle)), 2))
    assert {(document.source, document.text) for document, _ in found} == {("A", "From a"), ("B", "From b")}
    assert {position.source for _, position in found} == {source.name for source in sources}
    path.write_text(f"<?xml version='1.0'?>{BOMB}<opml/>")
    with pytest.raises(SourceError, match="entities"):
        open_sources([str(path)], OPEN)
    path.write_text("<opml/>")
    with pytest.raises(SourceError, match="no feeds"):
        open_sources([str(path)], OPEN)


def test_mistakes_are_told_at_once(monkeypatch):
    with pytest.raises(SourceError, match="rss\\+https://host/path"):
        Feed("rss+https://", OPEN)
    assert "secret" not in Feed("rss+https://me:secret@host.example/feed", OPEN).name
    monkeypatch.setitem(sys.modules, "feedparser", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[feeds\]'"):
        Feed("rss+https://host.example/feed", OPEN)


@pytest.mark.parametrize("kills", [4, pytest.param(40, marks=pytest.mark.soak)])
def test_killed_runs_lose_nothing_and_repeat_nothing(web, tmp_path, kills):
    values = [value | {"text": " ".join(value["text"].split())} for value in documents(400)]
    items = [
        f"<item><guid isPermaLink='false'>urn:{v['id']}</guid><pubDate>{v['time']}</pubDate>"
        f"<description>{escape(v['text'])}</description></item>"
        for v in values
    ]
    web.serve("/feed", rss(*reversed(items)), ETag='"1"')
    store = tmp_path / "killed.db"
    run_with_kills(store, [f"rss+{web.url('/feed')}", "--allow-private-addresses"], len(values), kills, seed=2)
    as_fed = [v | {"id": f"urn:{v['id']}", "source": "Harbour News"} for v in values]
    assert contents(store) == run_from_file(tmp_path, as_fed)
