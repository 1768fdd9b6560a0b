"""Files beside live sources, read once or followed for ever as `tail -F` does: appended to, rotated, truncated."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firststory.errors import SourceError
from firststory.records import Arrival, Idle, Lag, Position, Quarantined
from firststory.sources.files import STDIN, expand, read, source_name
from firststory.sources.lines import Place, skip_to
from firststory.sources.source import Options, Source, wrong_address

POLL_SECONDS = 0.2
PIECE = 4 << 20
LINES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".txt": "text", ".log": "text"}
"""Formats that can be followed, by the end of the name."""


def open_files(name: str, options: Options) -> list[Source]:
    """The files that a path or a glob means."""
    if name == STDIN:
        raise wrong_address(
            name,
            "a file or an address where sources are followed",
            "Standard input is read alone, or with files that end.",
        )
    kind = FollowedFile if options.follow else FileSource
    return [kind(path, options) for path in expand([name])]


class FileSource:
    """One file among live sources, read to its end."""

    def __init__(self, path: str, options: Options) -> None:
        self.name = source_name(path)
        self._path, self._options = path, options

    def read(self, after: Position | None) -> Iterator[Arrival]:
        yield from read(self._path, after=after, **(self._options.read_file or {}))

    def acknowledge(self, position: Position) -> None:
        """A file remembers nothing."""

    def close(self) -> None:
        """Nothing stays open."""


class FollowedFile(FileSource):
    """A file of lines that others append to. A line is read when it is finished.

    A file that was rotated (renamed, and another made under its name) is read to its end first, also where that
    happened while nobody was reading; the position has the inode to find it by.
    """

    def __init__(self, path: str, options: Options) -> None:
        super().__init__(path, options)
        given = (options.read_file or {}).get("format", "auto")
        self._format = given if given != "auto" else LINES.get(Path(path).suffix.lower(), "")
        if self._format not in ("jsonl", "text"):
            raise SourceError(
                owner="source",
                parameter="--follow",
                allowed="a file of JSON lines or of text",
                received=path,
                remedy="Name the format with --format jsonl, or leave --follow out.",
            )
        self._limit = options.max_document_bytes

    def read(self, after: Position | None) -> Iterator[Arrival]:
        place = Place() if after is None else Place.from_position(after.at) or Place()
        file = self._begin(after, place)
        while True:
            if not _goes_on(file, place):
                place = Place()  # truncated, or written anew
            has_read = False
            for arrival, reached in self._lines(file, place):
                has_read, place = True, reached
                if arrival is not None:
                    yield arrival
            if has_read:
                continue
            if (newer := self._rotated(file)) is not None:
                file.close()
                file, place = newer, Place()
                continue
            yield Idle()
            time.sleep(POLL_SECONDS)

    def lag(self, committed: Position | None) -> Lag | None:
        """Bytes after what is committed; of a file that was rotated, those of the new one."""
        try:
            found = Path(self._path).stat()
        except FileNotFoundError:  # between two names
            return None
        at = {} if committed is None else committed.at
        reached = at.get("offset", 0) if at.get("inode") == found.st_ino else 0
        return Lag(max(found.st_size - int(reached), 0), "bytes")

    def _begin(self, after: Position | None, place: Place) -> io.BufferedReader:
        """The file that was read last: that of this name, or what it was renamed to."""
        path = Path(self._path)
        file = path.open("rb")
        inode = None if after is None else after.at.get("inode")
        if inode is None or os.fstat(file.fileno()).st_ino == inode:
            return file
        for other in path.parent.glob(f"{path.name}*"):
            if other.stat().st_ino == inode:
                old = other.open("rb")
                if _goes_on(old, place):
                    file.close()
                    return old
                old.close()
        return file

    def _rotated(self, file: io.BufferedReader) -> io.BufferedReader | None:
        """The file that has the name now, where it is another one."""
        try:
            if Path(self._path).stat().st_ino != os.fstat(file.fileno()).st_ino:
                return Path(self._path).open("rb")
        except FileNotFoundError:
            pass  # between two names
        return None

    def _lines(self, file: io.BufferedReader, base: Place) -> Iterator[tuple[Arrival | None, Place]]:
        """The finished lines after a place, each with the place after it."""
        inode = os.fstat(file.fileno()).st_ino
        file.seek(base.offset)
        data = file.read(max(PIECE, self._limit + 1))
        end = data.rfind(b"\n") + 1
        if not end:
            # A line that is longer than allowed is passed on in pieces, and refused as a whole when it ends.
            if len(data) > self._limit and (rest := _length_to_newline(file)):
                length = len(data) + rest
                place = Place(base.offset + length, base.line + 1, 0, 0)
                message = f"the line has {length:,} bytes; allowed are {self._limit:,} (max_document_bytes)"
                yield Quarantined("too-long", message, self._position(place, inode), ""), place
            return
        place = base
        whole: Any = io.BufferedReader(io.BytesIO(data[:end]))  # type: ignore[arg-type]
        options: dict[str, Any] = {**(self._options.read_file or {}), "format": self._format}
        for arrival in read(STDIN, stdin=whole, **options):
            if isinstance(arrival, Idle):
                continue
            at = arrival.position.at if isinstance(arrival, Quarantined) else arrival[1].at
            here = Place.from_position(at) or Place()
            place = Place(base.offset + here.offset, base.line + here.line, here.length, here.checksum)
            position = self._position(place, inode)
            if isinstance(arrival, Quarantined):
                yield Quarantined(arrival.reason, arrival.message, position, arrival.excerpt), place
            else:
                yield (arrival[0], position), place
        if place.offset < base.offset + end:  # empty lines at the end
            yield None, Place(base.offset + end, place.line + 1, 0, 0)

    def _position(self, place: Place, inode: int) -> Position:
        return Position(self.name, {**place.at(), "inode": inode})


def _goes_on(file: io.BufferedReader, place: Place) -> bool:
    """Whether the file still has, before this place, what was read there."""
    return place.offset <= os.fstat(file.fileno()).st_size and skip_to(file, place)


def _length_to_newline(file: io.BufferedReader) -> int:
    """Bytes up to and with the next newline; 0 where there is none yet."""
    length = 0
    while piece := file.readline(PIECE):
        length += len(piece)
        if piece.endswith(b"\n"):
            return length
    return 0
