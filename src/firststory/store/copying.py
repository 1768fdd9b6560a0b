"""A store into another, whichever databases they are in: every row, compared afterwards, or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, func, select, text

from firststory.errors import StoreError
from firststory.store import schema
from firststory.store.row_writing import insert_rows, replace_rows
from firststory.store.store import Store

ROWS_AT_ONCE = 500
Advance = Callable[[str, int], None]
"""Called with the name of a table and how many of its rows were dealt with."""


def copy_store(source: Store, target: Store, advance: Advance = lambda table, rows: None) -> dict[str, int]:
    """Copy all rows and count them. The source may be written meanwhile: what is copied is the store of one moment.

    The target must be empty. It is filled in one transaction: who stops half way has an empty store.
    """
    if target.last_step() >= 0 or target.settings():
        raise StoreError(
            owner="store copy",
            parameter="TO",
            allowed="a new or empty store",
            received=target.name,
            remedy="Name another one, or remove it first.",
            message=f"The store {target.name} is not empty.",
        )
    target.claim()
    counts = {}
    with source._reading() as reading, target._writing() as writing:
        for table in schema.metadata.sorted_tables:
            put = replace_rows if table is schema.meta else insert_rows  # a new store knows its version already
            counts[table.name] = 0
            for rows in in_batches(reading, table):
                put(writing, table, rows)
                counts[table.name] += len(rows)
                advance(table.name, len(rows))
        if writing.dialect.name == "postgresql":
            _go_on_counting(writing)
        for table in schema.metadata.sorted_tables:
            if digest(reading, table) != digest(writing, table):
                raise StoreError(
                    owner="store copy",
                    parameter=f"the table {table.name}",
                    allowed="the same in both stores",
                    received="a difference",
                    remedy="Check both disks; nothing was kept of the copy.",
                    message=f"The copy of the table {table.name} is not the same as the original.",
                )
    return counts


def count_rows(store: Store) -> dict[str, int]:
    """How many rows each table has."""
    with store._reading() as connection:
        return {
            table.name: int(connection.execute(select(func.count()).select_from(table)).scalar() or 0)
            for table in schema.metadata.sorted_tables
        }


def in_batches(connection: Connection, table: Table) -> Iterator[Sequence[Mapping[str, Any]]]:
    """The rows of a table in the order of their keys, some at a time."""
    query = select(table).order_by(*table.primary_key.columns)
    rows_at_once = 1 if table is schema.states else ROWS_AT_ONCE
    streamed = connection.execution_options(yield_per=rows_at_once)
    with streamed.execute(query) as result:
        for rows in result.mappings().partitions(rows_at_once):
            yield [dict(row) for row in rows]


def digest(connection: Connection, table: Table) -> str:
    """A checksum over all rows of a table."""
    found = hashlib.blake2b(digest_size=16)
    for rows in in_batches(connection, table):
        for row in rows:
            found.update(repr(tuple(row.values())).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _go_on_counting(connection: Connection) -> None:
    """Let the numbers of feedback go on after those that were copied."""
    highest = "SELECT max(n) FROM feedback"
    connection.execute(
        text(f"SELECT setval(pg_get_serial_sequence('feedback', 'n'), ({highest})) WHERE ({highest}) > 0")
    )
