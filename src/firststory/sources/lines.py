"""Lines of a file that may be compressed, huge or broken, each with the place after it.

A `Place` is the byte offset after a line (in the decompressed text), the number of lines before it, and the length and
checksum of that line, so that a later reader notices when the file has changed.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

GZIP, ZSTD, PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
EXCERPT = 200
CHUNK = 1 << 20
HEADER = 64
"""Reads of up to this many bytes are those of headers and checksums."""


@dataclass(frozen=True, slots=True)
class Place:
    """The point after a line."""

    offset: int = 0
    line: int = 0
    length: int = 0
    checksum: int = 0

    def at(self) -> dict[str, int]:
        return {"offset": self.offset, "line": self.line, "length": self.length, "checksum": self.checksum}

    @classmethod
    def from_position(cls, at: Mapping[str, Any]) -> Place | None:
        """The place that a position names; None for a position in another kind of file."""
        names = ("offset", "line", "length", "checksum")
        return cls(**{name: int(at[name]) for name in names}) if all(name in at for name in names) else None


@dataclass(frozen=True, slots=True)
class Line:
    """One line with the place after it; `overlong` lines are cut to their beginning."""

    data: bytes
    place: Place
    overlong: int = 0
    """The true length of a line that was too long to be kept, else 0."""
    before: Place = Place()

    @property
    def place_if_bad(self) -> Place:
        """Where to resume if it could not be read: the last line may not be completely written yet."""
        return self.place if self.overlong or self.data.endswith(b"\n") else self.before


class Damaged(Exception):
    """The compressed file ends early or is corrupt; the message names the place that was reached."""


def open_binary(raw: io.BufferedReader) -> io.BufferedReader:
    """The decompressed bytes of an open file; its first bytes say how it is compressed, not its name."""
    magic = raw.peek(4)[:4]
    if magic.startswith(GZIP):
        return io.BufferedReader(cast(Any, _Pieces(gzip.GzipFile(fileobj=cast(Any, _Prompt(raw))))), CHUNK)
    if magic == ZSTD:
        import zstandard

        reader = zstandard.ZstdDecompressor().stream_reader(cast(Any, _Prompt(raw)), read_across_frames=True)
        return io.BufferedReader(cast(Any, _Pieces(reader)), CHUNK)
    return raw


class _Prompt:
    """A file whose reads return what is there instead of waiting for a full buffer: a pipe may be slow.

    Headers are a few bytes that must be whole, so short reads do wait.
    """

    def __init__(self, raw: io.BufferedReader) -> None:
        self._raw = raw

    def read(self, size: int = -1) -> bytes:
        return self._raw.read1(size) if size > HEADER else self._raw.read(size)


class _Pieces(io.RawIOBase):
    """A decompressor read piece by piece, so that everything before the damage in a file is read."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._reader.read1(min(len(buffer), 1 << 16))
        buffer[: len(data)] = data
        return len(data)


def skip_to(stream: io.BufferedReader, place: Place) -> bool:
    """Move to a place that was reached in an earlier run; False if the text before it has changed."""
    start = place.offset - place.length
    try:
        if stream.seekable():
            stream.seek(start)
        else:
            left = start
            while left > 0:
                piece = stream.read(min(CHUNK, left))
                if not piece:
                    return False
                left -= len(piece)
        checksum, left = 0, place.length
        while left > 0:
            piece = stream.read(min(CHUNK, left))
            if not piece:
                return False
            checksum, left = zlib.crc32(piece, checksum), left - len(piece)
    except (OSError, EOFError, zlib.error):
        return False
    return checksum == place.checksum


def read_lines(stream: io.BufferedReader, limit: int, start: Place | None = None) -> Iterator[Line]:
    """Every line from `start` on. No more than `limit` bytes of a line are ever held."""
    place = start or Place()
    while True:
        try:
            data = stream.readline(limit + 1)
            if not data:
                return
            length, checksum, overlong = len(data), zlib.crc32(data), 0
            if length > limit and not data.endswith(b"\n"):
                data = data[:EXCERPT]
                while piece := stream.readline(CHUNK):
                    length, checksum = length + len(piece), zlib.crc32(piece, checksum)
                    if piece.endswith(b"\n"):
                        break
                overlong = length
        except Exception as error:
            # gzip raises EOFError, BadGzipFile or zlib.error; zstandard its own; all mean the same to the user.
            raise Damaged(f"line {place.line + 1}: {error}") from error
        before, place = place, Place(place.offset + length, place.line + 1, length, checksum)
        yield Line(data, place, overlong, before)
