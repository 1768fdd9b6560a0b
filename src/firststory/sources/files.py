"""Files, globs and standard input as documents: JSON lines, CSV, TSV, Parquet or plain lines; compressed or not.

Every document comes with the position after it. `read` goes on from such a position; a file that has changed since is
noticed, reported, and read again from its start (documents that the store knows are dropped).
"""

from __future__ import annotations

import glob
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from firststory.errors import DocumentError, SourceError, not_one_of
from firststory.records import Arrival, Document, Idle, Position, Quarantined
from firststory.sources import tables
from firststory.sources.compression import SUFFIXES, open_binary
from firststory.sources.kinds import other_kind
from firststory.sources.lines import EXCERPT, PARQUET, Damaged, Line, Place, read_lines, skip_to
from firststory.sources.parse import NO_COLUMNS, document_from
from firststory.sources.standard_input import StandardInput

STDIN = "-"
FORMATS = ("auto", "jsonl", "csv", "tsv", "parquet", "text")
# Made once: `json.loads` makes a decoder anew for every line, in twice the time that it then takes.
# NaN stands for nothing; an infinity is a number, which no time can be.
_decoder = json.JSONDecoder(parse_constant=lambda name: None if name == "NaN" else float(name))
_JSON_SPACE = " \t\n\r"
_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet", ".txt": "text",
}  # fmt: skip


def expand(names: Sequence[str]) -> list[str]:
    """Names as typed (paths, globs, '-') to the sources they mean, in the order given; globs are sorted."""
    found: list[str] = []
    for name in names:
        if name == STDIN:
            found.append(name)
            continue
        if "://" in name:
            raise _unreadable(name, "a path, a glob or '-'", "Save it to a file first.", "is an address, not a file")
        if Path(name).is_dir():
            raise _unreadable(name, "a file", f"Name the files in it: '{name.rstrip('/')}/*.jsonl'", "is a folder")
        # Path.glob takes no absolute pattern, and a file whose name has brackets is itself before it is a pattern.
        matches = [name] if Path(name).exists() else sorted(glob.glob(name, recursive=True))  # noqa: PTH207
        matches = [match for match in matches if not Path(match).is_dir()]
        if not matches:
            advice = "Check the path, and quote a glob to keep the shell from expanding it."
            raise _unreadable(name, "a file that exists", advice, "does not exist")
        found += [match for match in matches if match not in found]
    return found


def are_whole(names: Sequence[str]) -> bool:
    """Whether these sources are files on a disk: unlike pipes and standard input they never keep anyone waiting."""
    return all(name != STDIN and Path(name).is_file() for name in names)


class Meter:
    """How far through its files a reader is, in bytes on disk; the length of standard input is unknown."""

    def __init__(self, names: Sequence[str]) -> None:
        sizes = [Path(name).stat().st_size for name in names if name != STDIN]
        self.total: int | None = sum(sizes) if STDIN not in names else None
        self._before = 0
        self._file: io.BufferedReader | None = None

    def begin(self, file: io.BufferedReader) -> None:
        self._file = file

    def end(self, size: int) -> None:
        self._before, self._file = self._before + size, None

    def done(self) -> int:
        """Bytes so far."""
        inside = self._file.tell() if self._file is not None and not self._file.closed and self.total else 0
        return self._before + inside


def read(
    name: str,
    *,
    after: Position | None = None,
    format: str = "auto",
    max_document_bytes: int = 5_000_000,
    say: Callable[[str], None] = lambda text: None,
    meter: Meter | None = None,
    stdin: io.BufferedReader | None = None,
    columns: Mapping[str, str] = NO_COLUMNS,
    idle_seconds: float | None = None,
) -> Iterator[Arrival]:
    """Each document of one source with the position after it, or what was quarantined and why.

    Parameters
    ----------
    name : str
        A path, or '-' for standard input.
    after : Position, optional
        Go on from here: the position of the last document that was taken in.
    say : callable
        Is told, in one sentence, when the file is not the one it was.
    stdin : binary reader, optional
        What '-' means, in place of `sys.stdin`.
    columns : mapping, optional
        Fields of documents that have other names in the file: {"text": "body"}.
    idle_seconds : float, optional
        `Idle` is said whenever standard input has been silent for so long. Files are never idle.
    """
    if format not in FORMATS:
        advice = "Leave it out to have it recognised by the first bytes and the name."
        raise not_one_of("read", "format", FORMATS, format, advice)
    source = source_name(name)
    try:
        with _open(name, stdin) as raw:
            if meter is not None:
                meter.begin(raw)
            kind = _kind(name, raw, format)
            if kind == "parquet":
                yield from tables.read_parquet(name, source, after, say, columns)
                return
            stream = open_binary(raw)
            _check_encoding(name, stream)
            if stream is raw and isinstance(raw.raw, StandardInput):
                raw.raw.idle_seconds = idle_seconds
            start = Place()
            if after is not None and name != STDIN:
                reached = Place.from_position(after.at)
                if reached is not None and skip_to(stream, reached):
                    start = reached
                else:
                    say(f"{name} is shorter or different from when it was last read: reading it from the start.")
                    raw.seek(0)
                    stream = open_binary(raw)
            if kind in ("csv", "tsv"):
                yield from tables.read_csv(name, source, stream, kind, max_document_bytes, start, _open, columns)
            else:
                yield from _read_lines(source, stream, kind, max_document_bytes, start, columns)
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        advice = "Check the path and the permissions."
        raise _unreadable(name, "a file that can be read", advice, f"cannot be read: {error.strerror}") from error


def source_name(name: str) -> str:
    """The name under which positions are kept: the same file from every working directory.

    Names of files are bytes; those that are no UTF-8 are written as \\xff, since a store holds text.
    """
    return STDIN if name == STDIN else os.fsencode(Path(name).resolve()).decode("utf-8", "backslashreplace")


def _read_lines(
    source: str, stream: io.BufferedReader, kind: str, limit: int, start: Place, columns: Mapping[str, str]
) -> Iterator[Arrival]:
    place = start
    try:
        for line in read_lines(stream, limit, start):
            if line is None:
                yield Idle()
                continue
            place = line.place
            position = Position(source, place.at())
            if line.overlong:
                message = f"the line has {line.overlong:,} bytes; allowed are {limit:,} (max_document_bytes)"
                yield Quarantined("too-long", message, position, excerpt(line.data))
            elif line.data.strip():
                try:
                    yield _document(line, kind, columns), position
                except DocumentError as error:
                    put_back = Position(source, line.at_if_bad())
                    yield Quarantined(error.reason, str(error), put_back, excerpt(line.data))
    except Damaged as error:
        message = f"the compressed file is damaged or ends early, {error}"
        yield Quarantined("damaged-file", message, Position(source, place.at()), "")


def _document(line: Line, kind: str, columns: Mapping[str, str]) -> Document:
    data = line.data.replace(b"\0", b"")  # what a crash leaves behind; nobody meant it
    if line.place.line == 1:
        data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad_line("broken-utf8", "UTF-8 throughout", f"byte {error.start}: {error.reason}") from error
    if kind == "text":
        return document_from({"text": text.strip("\r\n")})
    try:
        # Through `json.loads` where its own words are wanted for a mark at the beginning that is no JSON.
        values = json.loads(text) if text.startswith("\ufeff") else _decode(text)
    except (ValueError, RecursionError) as error:
        raise _bad_line("wrong-json", "one JSON object", f"{str(error)[:100]}: {excerpt(data)}") from error
    return document_from(values, columns)


def _decode(text: str) -> Any:
    """What a line of JSON says; where it is but one object, without looking for white space by an expression."""
    if text.startswith("{"):
        values, end = _decoder.raw_decode(text)
        if not text[end:].strip(_JSON_SPACE):
            return values
    return _decoder.decode(text)


def excerpt(data: bytes) -> str:
    """The beginning of a bad line, harmless to show."""
    return data[:EXCERPT].decode("utf-8", "replace").replace("\0", "�").strip()


def _bad_line(reason: str, allowed: str, received: str) -> DocumentError:
    return DocumentError(
        reason,
        owner="document",
        parameter="the line",
        allowed=allowed,
        received=received,
        remedy="Correct the line, or leave it: the stream goes on without it.",
    )


def _open(name: str, stdin: io.BufferedReader | None = None) -> io.BufferedReader:
    if name != STDIN:
        return Path(name).open("rb")
    return stdin or sys.stdin.buffer  # type: ignore[return-value]


def _kind(name: str, raw: io.BufferedReader, format: str) -> str:
    """The format: as given, else by the first bytes, else by the name without .gz and the like."""
    if format != "auto":
        return format
    if raw.peek(4)[:4] == PARQUET:
        return "parquet"
    path = Path(name)
    if path.suffix in SUFFIXES:
        path = path.with_suffix("")
    return _SUFFIXES.get(path.suffix.lower(), "jsonl")


def _check_encoding(name: str, stream: io.BufferedReader) -> None:
    """Refuse at once what would quarantine every single line."""
    try:
        begin = stream.peek(4)
    except Exception as error:
        raise _unreadable(name, "a whole compressed file", "Get it again.", f"is damaged: {error}") from error
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _unreadable(name, "UTF-8 text", f"Convert it: iconv -f UTF-16 -t UTF-8 {name}", "is UTF-16, not UTF-8")
    if other := other_kind(begin):
        advice = "Name a file of JSON lines, CSV, TSV, Parquet or plain text (.txt)."
        if other == "a ZIP archive":
            advice = f"Unpack it: unzip -p {name} | firststory run -"
        if "encoding" in other:
            advice = f"Convert it: iconv -f WINDOWS-1251 -t UTF-8 {name} (or whatever it is)"
        raise _unreadable(name, "UTF-8 text", advice, f"is {other}")
    if begin.lstrip()[:1] == b"[":
        advice = f"Write one object per line: jq -c '.[]' {name}"
        raise _unreadable(name, "one JSON object per line", advice, "is one JSON array")


def _unreadable(name: str, allowed: str, remedy: str, problem: str) -> SourceError:
    shown = "Standard input" if name == STDIN else name
    return SourceError(
        owner="source", parameter="SOURCE", allowed=allowed, received=name, remedy=remedy, message=f"{shown} {problem}."
    )


def read_all(
    names: Sequence[str],
    positions: Mapping[str, Position],
    say: Callable[[str], None],
    meter: Meter | None = None,
    **options: Any,
) -> Iterator[Arrival]:
    """Several sources one after another, each from its own position."""
    for name in expand(names):
        yield from read(name, after=positions.get(source_name(name)), say=say, meter=meter, **options)
        if meter is not None:
            meter.end(0 if name == STDIN else Path(name).stat().st_size)
