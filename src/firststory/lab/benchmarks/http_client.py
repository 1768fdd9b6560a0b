"""A client that costs little beside the service it asks: bytes are counted and thrown away as they come."""

from __future__ import annotations

import asyncio

EVENT = b"event: "


class Connection(asyncio.Protocol):
    """One connection on loopback, kept open; one request at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[int] | None = None
        self._head, self._left, self._status = b"", -1, 0

    async def get(self, path: str) -> int:
        """The status of an answer that was read to its end."""
        return await self._ask(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n".encode())

    async def post(self, path: str, body: bytes) -> int:
        """The status of the answer to JSON lines."""
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/x-ndjson\r\n"
        return await self._ask(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async def _ask(self, request: bytes) -> int:
        loop = asyncio.get_running_loop()
        if self._transport is None:
            transport, _ = await loop.create_connection(lambda: self, "127.0.0.1", self._port)
            self._transport = transport
        self._head, self._left, self._answer = b"", -1, loop.create_future()
        self._transport.write(request)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        if self._left < 0:
            self._head += data
            head, end, body = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            head = head.lower()
            self._status = int(head[9:12])
            length = head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
            self._left, data = int(length or 0), body
        self._left -= len(data)
        if self._left <= 0 and self._answer is not None and not self._answer.done():
            self._answer.set_result(self._status)

    def connection_lost(self, problem: Exception | None) -> None:
        self._transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError("closed"))


class Listener(asyncio.Protocol):
    """How many events and bytes one listener has had, and whether its connection ended."""

    def __init__(self, port: int, address: str = "/events") -> None:
        self._port, self._address = port, address
        self._transport: asyncio.Transport | None = None
        self._tail = b""
        self.heard = self.bytes = 0
        self.is_cut = False

    async def open(self) -> None:
        """Hold /events open and count."""
        transport, _ = await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self._port)
        self._transport = transport
        self._transport.write(f"GET {self._address} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n".encode())

    def close(self) -> None:
        """Listen no more."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def data_received(self, data: bytes) -> None:
        self.bytes += len(data)
        self.heard += data.count(EVENT) + (self._tail + data[: len(EVENT) - 1]).count(EVENT)
        self._tail = data[1 - len(EVENT) :]

    def connection_lost(self, problem: Exception | None) -> None:
        self.is_cut = self._transport is not None
