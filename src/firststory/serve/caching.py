"""Answers as bytes, kept for as long as the store is the same: ETags, 304, and no question asked twice."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fastapi import Request
from pydantic_core import to_json
from starlette.responses import Response

MOST_BYTES = 32_000_000
"""Of all answers that are kept."""
WORTH_COMPRESSING = 1_000
COMPRESSION_LEVEL = 5


class Kept(NamedTuple):
    """An answer: its bytes, the same compressed where that is worth it, and its headers."""

    body: bytes
    compressed: bytes | None
    headers: Mapping[str, str]

    @property
    def size(self) -> int:
        return len(self.body) + len(self.compressed or b"")


class AnswerCache:
    """Answers to GET requests, by address, of one version of the store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version: object = None
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._bytes = 0

    def get(self, version: object, address: str) -> Kept | None:
        with self._lock:
            return self._kept.get(address) if version == self._version else None

    def put(self, version: object, address: str, kept: Kept) -> None:
        """Keep an answer; those to an earlier version of the store are dropped."""
        with self._lock:
            if version != self._version:
                self._kept.clear()
                self._version, self._bytes = version, 0
            if address in self._kept:
                return
            self._kept[address] = kept
            self._bytes += kept.size
            while self._bytes > MOST_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].size


def answer(
    request: Request, make: Callable[[], Any], headers: Callable[[Any], Mapping[str, str]] = lambda value: {}
) -> Response:
    """The JSON of what `make` returns, or 304 where the client has it already.

    `make` is called only when the store has changed since this address was asked last; `headers` are worked out from
    what it returned.
    """
    service = request.app.state.service
    version = service.version
    address = str(request.url.include_query_params()).partition("://")[2]
    kept = service.cache.get(version, address)
    if kept is None:
        value = make()
        body = to_json(value)
        tag = f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
        compressed = gzip.compress(body, COMPRESSION_LEVEL, mtime=0) if len(body) >= WORTH_COMPRESSING else None
        kept = Kept(body, compressed, {"ETag": tag, "Vary": "Accept-Encoding, Cookie, Authorization", **headers(value)})
        service.cache.put(version, address, kept)
    if _matches(request.headers.get("if-none-match", ""), kept.headers["ETag"]):
        return Response(None, 304, kept.headers)
    if kept.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(kept.compressed, 200, {**kept.headers, "Content-Encoding": "gzip"}, "application/json")
    return Response(kept.body, 200, kept.headers, "application/json")


def _matches(given: str, tag: str) -> bool:
    """Whether a client has this version already; whether tags are weak does not matter here."""
    tags = [one.strip().removeprefix("W/") for one in given.split(",")]
    return given.strip() == "*" or tag.removeprefix("W/") in tags
