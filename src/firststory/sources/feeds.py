"""RSS and Atom feeds: `rss+https://host/feed.xml`, asked again and again for what is new.

The position has the feed's ETag and date, so that an unchanged feed is not sent again, and a mark for each entry that
was taken in, so that none is taken in twice. ETag and date move on with the last entry of an answer: a run that is
killed between two entries asks for the whole answer again.
"""

from __future__ import annotations

import hashlib
import io
import time
from calendar import timegm
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from xml.parsers import expat

from firststory.errors import DocumentError, MissingExtraError, SourceError
from firststory.fetching import Failed, Fetcher, Refused, Response, retry_after
from firststory.records import Arrival, Document, Idle, Position, Quarantined
from firststory.sources.html import plain_text
from firststory.sources.messages import excerpt_of
from firststory.sources.parse import document_from
from firststory.sources.source import Options, Unavailable, wrong_address

MAX_FEED_BYTES = 10_000_000
MAX_ENTRIES = 2_000
"""Of one answer: the newest are taken."""
MAX_MARKS = 4_000
"""Entries that a position remembers."""
PREFIX = "rss+"


class _Known(NamedTuple):
    """What a position says of a feed."""

    etag: str | None = None
    modified: str | None = None
    marks: tuple[str, ...] = ()


class Feed:
    """One feed, asked every `poll_seconds`; 429 and 503 with Retry-After are obeyed, 410 ends it."""

    def __init__(self, address: str, options: Options) -> None:
        try:
            import feedparser
        except ImportError as error:
            raise MissingExtraError("firststory", "feedparser", "feeds") from error
        self._parse = feedparser.parse
        self._url = address.removeprefix(PREFIX)
        parts = urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise wrong_address(address, "rss+https://host/path", "Put rss+ before the address of the feed.")
        self.name = PREFIX + parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()
        self._host = parts.hostname
        self._options = options
        self._fetcher = Fetcher(
            allow_private=options.allow_private_addresses, deadline=options.fetch_seconds, max_bytes=MAX_FEED_BYTES
        )

    def read(self, after: Position | None) -> Iterator[Arrival]:
        at = after.at if after is not None else {}
        known = _Known(at.get("etag"), at.get("modified"), tuple(at.get("seen", ())))
        while True:
            answer = self._ask(known)
            if answer is not None:
                for arrival in self._arrivals(answer, known):
                    yield arrival
                    position = arrival.position if isinstance(arrival, Quarantined) else arrival[1]
                    known = known._replace(marks=tuple(position.at["seen"]))
                known = known._replace(etag=answer.headers.get("etag"), modified=answer.headers.get("last-modified"))
            end = time.monotonic() + self._options.poll_seconds
            yield Idle()
            while (left := end - time.monotonic()) > 0:
                time.sleep(min(1.0, left))
                yield Idle()

    def _ask(self, known: _Known) -> Response | None:
        """The feed, or None where it has not changed."""
        asked = {"If-None-Match": known.etag, "If-Modified-Since": known.modified}
        headers = {name: value for name, value in asked.items() if value}
        try:
            answer = self._fetcher.get(self._url, headers)
        except Failed as error:
            raise Unavailable(str(error)) from error
        except Refused as error:
            raise self._cannot(str(error)) from error
        if answer.status == 304:
            return None
        if answer.status == 200:
            return answer
        if answer.status in (401, 403, 404, 410):
            raise self._cannot(f"the server answers {answer.status}")
        raise Unavailable(f"the server answers {answer.status}", retry_after(answer.headers.get("retry-after")))

    def _arrivals(self, answer: Response, known: _Known) -> Iterator[tuple[Document, Position] | Quarantined]:
        if declares_entities(answer.body):
            raise self._cannot("the feed declares XML entities, which no honest feed needs")
        told: Any = self._parse(io.BytesIO(answer.body), response_headers={
            "content-type": answer.headers.get("content-type", "application/xml"), "content-location": answer.url,
        })  # fmt: skip
        if not told.get("version") and not told.entries:
            raise Unavailable(f"what the server sends is not a feed ({answer.headers.get('content-type', 'no type')})")
        publisher = plain_text(str(told.feed.get("title", ""))) or self._host
        marks = dict.fromkeys(known.marks)
        here = {mark_of(entry): entry for entry in told.entries[:MAX_ENTRIES]}
        # Feeds list the newest first; a stream goes forward.
        ordered = [(mark, entry) for mark, entry in reversed(here.items()) if mark not in marks]
        ordered.sort(key=lambda pair: _moment(pair[1]) or _LONG_AGO)
        for i, (mark, entry) in enumerate(ordered):
            marks[mark] = None
            seen = list(marks)
            if len(seen) > MAX_MARKS:
                # What the feed still lists would come again; what it has dropped will not.
                seen = [one for one in seen if one in here][-MAX_MARKS:]
            is_last = i == len(ordered) - 1
            etag, modified = (answer.headers.get("etag"), answer.headers.get("last-modified")) if is_last else known[:2]
            position = Position(self.name, {"etag": etag, "modified": modified, "seen": seen})
            try:
                yield self._document(entry, publisher), position
            except DocumentError as error:
                yield Quarantined(error.reason, str(error), position, excerpt_of(str(entry.get("title", ""))))

    def _document(self, entry: Any, publisher: str) -> Document:
        bodies = [str(part.get("value", "")) for part in entry.get("content", ())] + [str(entry.get("summary", ""))]
        limit = self._options.max_document_bytes
        text = max((plain_text(body[:limit]) for body in bodies), key=len)
        title = plain_text(str(entry.get("title", "")))
        identity = str(entry.get("id") or entry.get("link") or "")
        # Ids ought to be unique in the world; those that are mere numbers are not.
        name = identity if ":" in identity else f"{self.name}#{identity or mark_of(entry)}"
        return document_from({
            "id": name, "text": text or title, "title": title or None, "source": publisher,
            "url": entry.get("link") or None, "time": _moment(entry),
            **({"author": str(entry["author"])[:200]} if entry.get("author") else {}),
        })  # fmt: skip

    def _cannot(self, problem: str) -> SourceError:
        return SourceError(
            owner="source",
            parameter="SOURCE",
            allowed="a feed that can be fetched",
            received=f"{self.name}: {problem}",
            remedy="Check the address, or leave it out.",
            message=f"{self.name} cannot be read: {problem}.",
        )

    def acknowledge(self, position: Position) -> None:
        """A feed does not know who reads it."""

    def close(self) -> None:
        self._fetcher.close()


_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


def _moment(entry: Any) -> datetime | None:
    parsed = entry.get("published_parsed") or entry.get("updated_parsed")
    try:
        return datetime.fromtimestamp(timegm(parsed), UTC) if parsed else None
    except (ValueError, TypeError, OverflowError):
        return None


def mark_of(entry: Any) -> str:
    """A short name for an entry: by its id, else its link, else what it says."""
    said = entry.get("id") or entry.get("link") or f"{entry.get('title', '')}\n{entry.get('summary', '')}"
    return hashlib.sha256(str(said).encode("utf-8", "replace")).hexdigest()[:16]


def declares_entities(data: bytes) -> bool:
    """Whether XML declares entities of its own, in whatever encoding: bombs and files of this machine begin so."""
    found = False

    def declared(*_: object) -> None:
        nonlocal found
        found = True
        raise ValueError

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = declared
    # Broken XML is read as well as it can be, without entities.
    with suppress(expat.ExpatError, ValueError, LookupError):
        parser.Parse(data, True)
    return found
