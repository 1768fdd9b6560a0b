"""Lines of a file that may be compressed, huge or broken, each with the place after it.

A `Place` is the byte offset after a line (in the decompressed text), the number of lines before it, and the length and
checksum of that line, so that a later reader notices when the file has changed.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

PARQUET = b"PAR1"
EXCERPT = 200
CHUNK = 1 << 20


class Place(NamedTuple):
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


class Line(NamedTuple):
    """One line with the place after it; `overlong` lines are cut to their beginning."""

    data: bytes
    place: Place
    overlong: int = 0
    """The true length of a line that was too long to be kept, else 0."""
    before: Place = Place()

    def at_if_bad(self) -> dict[str, int]:
        """Where to resume if it could not be read: the last line may not be completely written yet.

        It is then before this line, and `bad_line` says which line was meant.
        """
        if self.overlong or self.data.endswith(b"\n"):
            return self.place.at()
        return self.before.at() | {"bad_line": self.place.line}


class Damaged(Exception):
    """The compressed file ends early or is corrupt; the message names the place that was reached."""


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
    except Exception:  # whatever a decompressor says of damage
        return False
    return checksum == place.checksum


def read_lines(stream: io.BufferedReader, limit: int, start: Place | None = None) -> Iterator[Line | None]:
    """Every line from `start` on. No more than `limit` bytes of a line are ever held.

    None says that nothing came for a while; only a stream that notices it (`StandardInput`) makes it say so.
    """
    place = start or Place()
    was_idle = getattr(getattr(stream, "raw", None), "was_idle", lambda: False)
    begun = b""
    while True:
        try:
            data = begun + stream.readline(max(limit + 1 - len(begun), 1))
            if was_idle():
                begun = data  # what there is of a line that is still being written
                yield None
                continue
            begun = b""
            if not data:
                return
            length, checksum, overlong = len(data), zlib.crc32(data), 0
            if length > limit and not data.endswith(b"\n"):
                data = data[:EXCERPT]
                while (piece := stream.readline(CHUNK)) or was_idle():
                    length, checksum = length + len(piece), zlib.crc32(piece, checksum)
                    if piece.endswith(b"\n"):
                        break
                overlong = length
        except Exception as error:
            # gzip raises EOFError, BadGzipFile or zlib.error; the others their own; all mean the same to the user.
            raise Damaged(f"line {place.line + 1}: {error}") from error
        before, place = place, Place(place.offset + length, place.line + 1, length, checksum)
        yield Line(data, place, overlong, before)
