"""A store as files that other tools read: one file for each kind of thing, Parquet or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Boolean, Column, Connection, Float, LargeBinary, String, Text, select

from firststory.errors import MissingExtraError, not_one_of
from firststory.store import codec, schema
from firststory.store.store import Store

FORMATS = ("parquet", "jsonl")
ROWS_AT_ONCE = 1000

TABLES = (
    "documents",
    "stories",
    "storylines",
    "alerts",
    "topics",
    "topic_events",
    "thresholds",
    "quarantine",
    "feedback",
)
"""What is exported; a document has its verdict beside it."""
_TIMES = {"time", "first_seen", "last_seen", "fired_at"}
_JSON = {"label", "extra", "evidence", "sources", "key_terms", "hours", "documents", "terms", "trend", "others", "at"}
_LEFT_OUT = {"vector_dtype", "fingerprint"}


def export(
    store: Store, folder: Path, format: str, advance: Callable[[str, int], None] = lambda table, rows: None
) -> dict[str, int]:
    """Write every file, and say how many rows each has. All are of one moment. A file is there when it is whole."""
    if format not in FORMATS:
        raise not_one_of("store export", "--format", FORMATS, format)
    write = _write_parquet if format == "parquet" else _write_jsonl
    counts = {}
    with store._reading() as connection:
        for name in TABLES:
            target = folder / f"{name}.{format}"
            partial = target.with_name(target.name + ".partial")
            counts[name] = write(partial, name, _rows(connection, name), advance)
            partial.replace(target)
    return counts


def _columns(name: str) -> list[Column[Any]]:
    table = schema.metadata.tables[name]
    columns = [column for column in table.c if column.name not in _LEFT_OUT]
    if name == "documents":
        columns += [column for column in schema.verdicts.c if column.name != "n"]
    return columns


def _rows(connection: Connection, name: str) -> Iterator[Sequence[Mapping[str, Any]]]:
    table = schema.metadata.tables[name]
    query = select(*_columns(name)).order_by(*table.primary_key.columns)
    if name == "documents":
        query = query.join(schema.verdicts, schema.verdicts.c.n == schema.documents.c.n)
    with connection.execution_options(yield_per=ROWS_AT_ONCE).execute(query) as result:
        for rows in result.mappings().partitions(ROWS_AT_ONCE):
            yield [dict(row) for row in rows]


def _vector(value: bytes | None) -> list[float] | None:
    return None if value is None else np.frombuffer(value, codec.VECTOR_DTYPE).astype(np.float32).tolist()


def _write_jsonl(
    path: Path, name: str, batches: Iterator[Sequence[Mapping[str, Any]]], advance: Callable[[str, int], None]
) -> int:
    """A line for each row: times as ISO 8601, JSON as JSON, vectors as numbers."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for rows in batches:
            for row in rows:
                file.write(
                    json.dumps({key: _readable(name, key, value) for key, value in row.items()}, ensure_ascii=False)
                )
                file.write("\n")
            written += len(rows)
            advance(name, len(rows))
    return written


def _readable(table: str, key: str, value: Any) -> Any:
    if value is None:
        return None
    if key in _TIMES:
        time = codec.to_time(value)
        return None if time is None else time.isoformat()
    if key in _JSON and (table, key) != ("topic_events", "evidence"):  # which is a sentence
        return json.loads(value)
    return _vector(value) if key == "vector" else value


def _write_parquet(
    path: Path, name: str, batches: Iterator[Sequence[Mapping[str, Any]]], advance: Callable[[str, int], None]
) -> int:
    """Columns with their kinds: times are timestamps in UTC; JSON stays text."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("store export", "pyarrow", "parquet") from error

    def kind(column: Column[Any]) -> Any:
        if column.name in _TIMES:
            return pa.timestamp("us", tz="UTC")
        if isinstance(column.type, LargeBinary):
            return pa.list_(pa.float32())
        kinds = {Boolean: pa.bool_(), Float: pa.float64(), String: pa.string(), Text: pa.string()}
        return next((made for one, made in kinds.items() if isinstance(column.type, one)), pa.int64())

    shape = pa.schema([(column.name, kind(column)) for column in _columns(name)])
    written = 0
    with pq.ParquetWriter(path, shape) as writer:
        for rows in batches:
            table = pa.Table.from_pylist(
                [{key: _vector(value) if key == "vector" else value for key, value in row.items()} for row in rows],
                schema=pa.schema([(f.name, pa.int64() if f.name in _TIMES else f.type) for f in shape]),
            )
            writer.write_table(table.cast(shape))
            written += len(rows)
            advance(name, len(rows))
    return written
