"""Rows into tables: by COPY where the database has it, and with nothing in them that a database cannot hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError

from firststory.store import schema, search

_ESCAPED = re.compile(r"\\u(d[89a-f][0-9a-f]{2})")


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows that have the same columns."""
    if not rows:
        return
    clean = [{name: storable(value) for name, value in row.items()} for row in rows]
    if connection.dialect.name != "postgresql":
        connection.execute(insert(table), clean)
        return
    _copy_in(connection, table.name, clean)
    if table is schema.documents:
        _copy_in(connection, "search", search.rows(clean))


def replace_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows, or put them in the place of those with the same key."""
    if not rows:
        return
    clean = [{name: storable(value) for name, value in row.items()} for row in rows]
    upsert: Any = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement = upsert(table)
    keys = [column.name for column in table.primary_key.columns]
    changed = {column.name: statement.excluded[column.name] for column in table.c if column.name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed), clean)


def storable(value: Any) -> Any:
    """The value; of a text what a database can hold: no NUL characters and no halves of surrogate pairs.

    Examples
    --------
    >>> storable("a\\0b"), storable("caf\\udce9")
    ('a�b', 'caf�')
    """
    if not isinstance(value, str):
        return value
    if "\0" in value:
        value = value.replace("\0", "\ufffd")
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def escape_name(name: str) -> str:
    """The name of a source so that every database holds it: names of files need not be text."""
    return name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def unescape_name(name: str) -> str:
    """Undo `escape_name`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name)


def _copy_in(connection: Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    import psycopg

    columns = list(rows[0])
    driver: Any = connection.connection.driver_connection
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row([row[name] for name in columns])
    except psycopg.Error as error:
        # SQLAlchemy did not see it: tell it in its own way.
        lost = bool(driver.closed)
        if lost:
            connection.invalidate(error)
        raise OperationalError(statement, None, error, connection_invalidated=lost) from error
