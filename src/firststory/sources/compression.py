"""Compressed files, recognised by their first bytes, whatever their names: gzip, zstd, bzip2 and xz.

Everything before the damage in a file is read; a file that ends in the middle is damaged, too. Output comes in
pieces of bounded size, so that a small file that unpacks to terabytes cannot fill memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import Any, cast

SUFFIXES = (".gz", ".zst", ".zstd", ".bz2", ".xz")
CHUNK = 1 << 20
PIECE = 1 << 16
HEADER = 64
"""Reads of up to this many bytes are those of headers and checksums."""
ZSTD_PIECE = 1 << 9
"""Bytes given to zstd at a time: four of them can become 128 KiB."""
XZ_MEMORY = 1 << 28


def open_binary(raw: io.BufferedReader) -> io.BufferedReader:
    """The decompressed bytes of an open file; the file itself where it is not compressed."""
    magic = raw.peek(6)[:6]
    source = _Prompt(raw)
    reader: Any
    if magic.startswith(b"\x1f\x8b"):
        reader = gzip.GzipFile(fileobj=cast(Any, source))
    elif magic.startswith(b"\x28\xb5\x2f\xfd"):
        import zstandard

        reader = _Frames(source, lambda: zstandard.ZstdDecompressor().decompressobj(), ZSTD_PIECE)
    elif magic.startswith(b"BZh"):
        reader = _Frames(source, lambda: _Bounded(bz2.BZ2Decompressor()), PIECE)
    elif magic == b"\xfd7zXZ\0":
        reader = _Frames(source, lambda: _Bounded(lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)), PIECE)
    else:
        return raw
    return io.BufferedReader(cast(Any, _Pieces(reader)), CHUNK)


class _Prompt:
    """A file whose reads return what is there instead of waiting for a full buffer: a pipe may be slow.

    Headers are a few bytes that must be whole, so short reads do wait.
    """

    def __init__(self, raw: io.BufferedReader) -> None:
        self._raw = raw

    def read(self, size: int = -1) -> bytes:
        return self._raw.read1(size) if size > HEADER else self._raw.read(size)


class _Bounded:
    """A decompressor that gives at most a piece at a time; asked with nothing, it goes on with what it has."""

    def __init__(self, decompressor: Any) -> None:
        self._decompressor = decompressor

    def decompress(self, data: bytes) -> bytes:
        found: bytes = self._decompressor.decompress(data, PIECE)
        return found

    @property
    def has_more(self) -> bool:
        return not self._decompressor.eof and not self._decompressor.needs_input

    @property
    def eof(self) -> bool:
        return bool(self._decompressor.eof)

    @property
    def unused_data(self) -> bytes:
        found: bytes = self._decompressor.unused_data
        return found


class _Frames:
    """One compressed piece after another, as `cat a.zst b.zst` makes them; the end must be the end of one."""

    def __init__(self, source: _Prompt, make: Callable[[], Any], piece: int) -> None:
        self._source, self._make, self._piece = source, make, piece
        self._decompressor: Any = None
        self._rest = b""
        self._ready = b""

    def read1(self, size: int) -> bytes:
        while not self._ready:
            has_more = self._decompressor is not None and getattr(self._decompressor, "has_more", False)
            data = b"" if has_more else self._rest or self._source.read(self._piece)
            if not data and not has_more:
                if self._decompressor is not None:
                    raise EOFError("the file ends in the middle")
                return b""
            if self._decompressor is None:
                self._decompressor = self._make()
            self._rest = b""
            self._ready = self._decompressor.decompress(data)
            if self._decompressor.eof:
                # xz files may be padded with zeros.
                self._rest, self._decompressor = self._decompressor.unused_data.lstrip(b"\0"), None
        found, self._ready = self._ready[:size], self._ready[size:]
        return found


class _Pieces(io.RawIOBase):
    """A decompressor read piece by piece, so that everything before the damage in a file is read."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._reader.read1(min(len(buffer), PIECE))
        buffer[: len(data)] = data
        return len(data)
