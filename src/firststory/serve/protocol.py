"""HTTP as it is read from a connection: by httptools, which is quick, with a bound on what comes before a body."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 65_536
"""Of the request line and the headers of one request."""


class BoundedHttpProtocol(HttpToolsProtocol):
    """Refuses a head without end, which the parser would gather for ever, and headers that follow a body."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._unused = 0
        """Bytes that were received since anything came of some."""
        self._head_bytes = 0
        self._is_in_head = True

    def data_received(self, data: bytes) -> None:
        self._unused += len(data)
        super().data_received(data)
        if self._unused > MOST_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head, self._head_bytes = True, 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._unused, self._is_in_head = 0, False
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unused = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unused = 0
        super().on_message_complete()

    def _count(self, length: int) -> None:
        self._head_bytes += length
        if self._head_bytes > MOST_HEAD_BYTES:
            raise ValueError("too long")  # the parser gives up, and the client is told
