"""Lists of feeds in OPML, as feed readers export them: a file `feeds.opml`, or `opml+https://host/feeds.opml`."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from firststory.errors import SourceError
from firststory.fetching import Failed, Fetcher, Refused
from firststory.sources.feeds import MAX_FEED_BYTES, PREFIX, Feed, declares_entities
from firststory.sources.source import Options, Source

MAX_FEEDS = 1_000


def open_list(address: str, options: Options) -> list[Source]:
    """Every feed of a list, none twice."""
    data = _fetched(address, options) if "://" in address else Path(address).read_bytes()
    found: dict[str, Source] = {}
    for url in feed_addresses(data, address)[:MAX_FEEDS]:
        feed = Feed(PREFIX + url, options)
        found.setdefault(feed.name, feed)
    return list(found.values())


def feed_addresses(data: bytes, name: str) -> list[str]:
    """The addresses in an OPML document, folders or not."""
    try:
        if declares_entities(data):
            raise _unreadable(name, "it declares XML entities")
        outlines = ElementTree.fromstring(data).iter("outline")
        found = [url for one in outlines if (url := one.get("xmlUrl", "").strip()).startswith(("http://", "https://"))]
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise _unreadable(name, str(error)) from error
    if not found:
        raise _unreadable(name, "it lists no feeds (outline elements with xmlUrl)")
    return found


def _fetched(address: str, options: Options) -> bytes:
    fetcher = Fetcher(allow_private=options.allow_private_addresses, max_bytes=MAX_FEED_BYTES)
    try:
        answer = fetcher.get(address.removeprefix("opml+"))
    except (Failed, Refused) as error:
        raise _unreadable(address, str(error)) from error
    finally:
        fetcher.close()
    if answer.status != 200:
        raise _unreadable(address, f"the server answers {answer.status}")
    return answer.body


def _unreadable(name: str, problem: str) -> SourceError:
    return SourceError(
        owner="source",
        parameter="SOURCE",
        allowed="an OPML list of feeds",
        received=f"{name}: {problem}",
        remedy="Export the list again from your feed reader.",
        message=f"{name} cannot be read as a list of feeds: {problem}.",
    )
