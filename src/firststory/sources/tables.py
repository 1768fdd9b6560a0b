"""Rows of CSV, TSV and Parquet files as documents."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from firststory.errors import DocumentError, MissingExtraError, SourceError
from firststory.records import Arrival, Document, Position, Quarantined
from firststory.sources.lines import EXCERPT, Damaged, Place, open_binary, read_lines
from firststory.sources.parse import document_from


class _Lines:
    """Lines for the csv module, which asks for as many as a record needs; remembers the place that was reached.

    Bytes that are not UTF-8 become lone surrogates, which no real text has, so that such a record is recognised.
    """

    def __init__(self, stream: io.BufferedReader, limit: int, start: Place) -> None:
        self._lines = read_lines(stream, limit, start)
        self.place = start
        self.overlong = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
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
) -> Iterator[Arrival]:
    """Each record of a CSV or TSV file with a header line."""
    csv.field_size_limit(limit)
    dialect: Any = "excel-tab" if kind == "tsv" else "excel"
    lines = _Lines(stream, limit, start)
    records = csv.reader(lines, dialect)
    if start.offset:
        with reopen(name) as again:
            header = _header(name, csv.reader(_Lines(open_binary(again), limit, Place()), dialect))
    else:
        header = _header(name, records)
    while True:
        lines.overlong = 0
        try:
            record = next(records, None)
            if record is None:
                return
            position = Position(source, lines.place.at())
            if lines.overlong:
                message = f"the line has {lines.overlong:,} bytes; allowed are {limit:,} (max_document_bytes)"
                yield Quarantined("too-long", message, position, _excerpt(record))
            elif any(record):
                yield _document(header, record), position
        except csv.Error as error:
            yield Quarantined("wrong-csv", str(error), Position(source, lines.place.at()), "")
        except DocumentError as error:
            yield Quarantined(error.reason, str(error), Position(source, lines.place.at()), _excerpt(record or []))
        except Damaged as error:
            message = f"the compressed file is damaged or ends early, {error}"
            yield Quarantined("damaged-file", message, Position(source, lines.place.at()), "")
            return


def _header(name: str, records: Iterator[list[str]]) -> list[str]:
    try:
        header = [column.strip() for column in next(records, [])]
    except (csv.Error, Damaged) as error:
        header = [str(error)]
    if header and "text" not in header:
        raise SourceError(
            owner="source",
            parameter="the header line",
            allowed="names of columns, one of them text",
            received=", ".join(header)[:150],
            remedy="Rename the column that holds the text.",
            message=f"The header line of {name} has no column text: {', '.join(header)[:150]}.",
        )
    return header


def _document(header: list[str], record: list[str]) -> Document:
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
    return document_from(
        {key: value for key, value in zip(header, record, strict=False) if value != "" or key == "text"}
    )


def _excerpt(record: list[str]) -> str:
    text = ",".join(record)[:EXCERPT]
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "�")


def read_parquet(name: str, source: str, after: Position | None, say: Callable[[str], None]) -> Iterator[Arrival]:
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
                        yield (
                            document_from({key: value for key, value in values.items() if value is not None}),
                            position,
                        )
                    except DocumentError as error:
                        yield Quarantined(error.reason, str(error), position, str(values)[:EXCERPT])
    except (OSError, ValueError) as error:
        if isinstance(error, (FileNotFoundError, PermissionError)):
            raise
        raise SourceError(
            owner="source",
            parameter="SOURCE",
            allowed="a whole Parquet file",
            received=f"{name}: {error}",
            remedy="Write it again.",
            message=f"{name} is not a whole Parquet file: {error}.",
        ) from error
