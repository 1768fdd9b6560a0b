"""Rows of CSV, TSV and Parquet files as documents."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from firststory.errors import DocumentError, MissingExtraError, SourceError
from firststory.records import Arrival, Document, Idle, Position, Quarantined
from firststory.sources.absent import is_absent
from firststory.sources.columns import advice_on_text
from firststory.sources.compression import open_binary
from firststory.sources.lines import EXCERPT, Damaged, Line, Place, read_lines
from firststory.sources.parse import NO_COLUMNS, document_from

SEPARATORS = {"csv": ",;\t|", "tsv": "\t,;|"}
"""What may stand between the columns; the header line tells."""


END = Line(b"", Place())
"""No line: the end of the file."""


class _Lines:
    """Lines for the csv module, which asks for as many as a record needs; remembers the place that was reached.

    Bytes that are not UTF-8 become lone surrogates, which no real text has, so that such a record is recognised.
    """

    def __init__(self, stream: io.BufferedReader, limit: int, start: Place) -> None:
        self._lines = read_lines(stream, limit, start)
        self._next: Line | None = None
        self.place = start
        self.overlong = 0

    def __iter__(self) -> _Lines:
        return self

    def waits(self) -> bool:
        """Whether nothing has come for a while; the next line is then still to come."""
        if self._next is None:
            line = next(self._lines, END)
            if line is None:
                return True
            self._next = line
        return False

    def __next__(self) -> str:
        while self.waits():
            pass  # inside a record there is no use in telling
        line, self._next = self._next, None
        if line is END or line is None:
            self._next = END
            raise StopIteration
        self.place = line.place
        self.overlong = max(self.overlong, line.overlong)
        data = line.data.removeprefix(b"\xef\xbb\xbf") if line.place.line == 1 else line.data
        return data.decode("utf-8", "surrogateescape")


def read_csv(
    name: str,
    source: str,
    stream: io.BufferedReader,
    kind: str,
    limit: int,
    start: Place,
    reopen: Callable[[str], io.BufferedReader],
    columns: Mapping[str, str] = NO_COLUMNS,
) -> Iterator[Arrival]:
    """Each record of a CSV or TSV file with a header line, which tells what stands between the columns."""
    csv.field_size_limit(limit)
    lines = _Lines(stream, limit, start)
    if start.offset:
        with reopen(name) as again:
            header, separator = _header(name, kind, _Lines(open_binary(again), limit, Place()), columns)
    else:
        header, separator = _header(name, kind, lines, columns)
    records = csv.reader(lines, delimiter=separator)
    record: list[str] | None = None
    while True:
        lines.overlong = 0
        try:
            if lines.waits():
                yield Idle()
                continue
            record = next(records, None)
            if record is None:
                return
            position = Position(source, lines.place.at())
            if lines.overlong:
                message = f"the line has {lines.overlong:,} bytes; allowed are {limit:,} (max_document_bytes)"
                yield Quarantined("too-long", message, position, _excerpt(record))
            elif any(record):
                yield _document(header, record, columns), position
        except csv.Error as error:
            yield Quarantined("wrong-csv", str(error), Position(source, lines.place.at()), "")
        except DocumentError as error:
            yield Quarantined(error.reason, str(error), Position(source, lines.place.at()), _excerpt(record or []))
        except Damaged as error:
            message = f"the compressed file is damaged or ends early, {error}"
            yield Quarantined("damaged-file", message, Position(source, lines.place.at()), "")
            return


def _header(name: str, kind: str, lines: _Lines, columns: Mapping[str, str]) -> tuple[list[str], str]:
    """The names of the columns, and what stands between them."""
    wanted = columns.get("text", "text")
    taken: list[str] = []

    def kept() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    found: dict[str, list[str]] = {}
    for separator in SEPARATORS[kind]:
        try:
            # The lines of the header are read once, and then again for each separator.
            record = next(csv.reader(iter(taken) if taken else kept(), delimiter=separator), [])
        except (csv.Error, Damaged) as error:
            record = [str(error)]
        found[separator] = [column.strip() for column in record]
        if wanted in found[separator] or not taken:
            return found[separator], separator
    header = max(found.values(), key=len)
    raise _no_text(f"The header line of {name}", header, columns)


def _no_text(what: str, names: Iterable[str], columns: Mapping[str, str]) -> SourceError:
    shown = ", ".join(names)[:150]
    return SourceError(
        owner="source",
        parameter="the columns",
        allowed="names of columns, one of them text",
        received=shown,
        remedy=advice_on_text(names, columns) or "Name the column that holds it: --map text=COLUMN",
        message=f"{what} has no column {columns.get('text', 'text')}: {shown}.",
    )


def _document(header: list[str], record: list[str], columns: Mapping[str, str]) -> Document:
    for value in record:
        if not value.isascii() and any("\udc80" <= letter <= "\udcff" for letter in value):
            raise DocumentError(
                "broken-utf8",
                owner="document",
                parameter="the line",
                allowed="UTF-8 throughout",
                received=_excerpt(record),
                remedy="Convert the file with iconv, or leave it: the stream goes on without the line.",
            )
    if len(record) > len(header):
        raise DocumentError(
            "wrong-csv",
            owner="document",
            parameter="the line",
            allowed=f"of {len(header)} columns",
            received=f"{len(record)} columns",
            remedy="Quote values that contain the separator.",
            message=f"the line has {len(record)} columns, the header {len(header)}.",
        )
    text = columns.get("text", "text")
    values = {key: value for key, value in zip(header, record, strict=False) if value != "" or key == text}
    return document_from(values, columns)


def _excerpt(record: list[str]) -> str:
    text = ",".join(record)[:EXCERPT]
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "�")


def read_parquet(
    name: str,
    source: str,
    after: Position | None,
    say: Callable[[str], None],
    columns: Mapping[str, str] = NO_COLUMNS,
) -> Iterator[Arrival]:
    """Each row of a Parquet file; the position is the number of rows read, and the file's size to notice a change."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError("firststory", "pyarrow", "parquet") from error
    if not Path(name).is_file():
        raise SourceError(
            owner="source",
            parameter="SOURCE",
            allowed="a file where it is Parquet",
            received=name,
            remedy="Save it to a file first.",
            message="Parquet is read from its end, which a pipe does not have.",
        )
    size = Path(name).stat().st_size
    start = 0
    if after is not None:
        start = int(after.at.get("row", 0))
        if after.at.get("size") != size:
            say(f"{name} is different from when it was last read: reading it from the start.")
            start = 0
    try:
        row = 0
        with parquet.ParquetFile(name) as table:
            wanted = columns.get("text", "text")
            if wanted not in table.schema_arrow.names and wanted.split(".")[0] not in table.schema_arrow.names:
                raise _no_text(name, table.schema_arrow.names, columns)
            for batch in table.iter_batches(batch_size=256):
                if row + batch.num_rows <= start:
                    row += batch.num_rows
                    continue
                for values in batch.to_pylist():
                    row += 1
                    if row <= start:
                        continue
                    position = Position(source, {"row": row, "size": size})
                    try:
                        present = {key: value for key, value in values.items() if not is_absent(value)}
                        yield document_from(present, columns), position
                    except DocumentError as error:
                        yield Quarantined(error.reason, str(error), position, str(values)[:EXCERPT])
    except (OSError, ValueError) as error:
        if isinstance(error, (FileNotFoundError, PermissionError, SourceError)):
            raise
        raise SourceError(
            owner="source",
            parameter="SOURCE",
            allowed="a whole Parquet file",
            received=f"{name}: {error}",
            remedy="Write it again.",
            message=f"{name} is not a whole Parquet file: {error}.",
        ) from error
