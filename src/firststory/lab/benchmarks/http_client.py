"""A client that costs little beside the service it asks: one connection kept open, bodies read and thrown away."""

from __future__ import annotations

import asyncio


class Connection:
    """One connection on loopback, opened when it is first used."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> int:
        """The status of an answer that was read to its end."""
        return await self._ask(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n".encode())

    async def post(self, path: str, body: bytes) -> int:
        """The status of the answer to JSON lines."""
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/x-ndjson\r\n"
        return await self._ask(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async def _ask(self, request: bytes) -> int:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head.split(b" ", 2)[1])
        if status == 304:
            return status
        if b"transfer-encoding: chunked" in head:
            while size := int((await reader.readline()).split(b";")[0], 16):
                await reader.readexactly(size + 2)
            await reader.readline()
        else:
            await reader.readexactly(int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0]))
        return status


class Listener:
    """How many events one listener has heard, and whether its connection ended."""

    def __init__(self) -> None:
        self.heard = 0
        self.is_cut = False

    async def listen(self, port: int) -> None:
        """Hold /events open and count."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        while line := await reader.readline():
            self.heard += line.startswith(b"event:")
        self.is_cut = True
