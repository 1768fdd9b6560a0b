"""Rows into tables: by the driver's own means, and with nothing in them that a database cannot hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any, TypeVar

from sqlalchemy import Connection, String, Table
from sqlalchemy.exc import OperationalError

from firststory.store import schema, search
from firststory.store.codec import Columns
from firststory.store.driver import Row, execute

Text = TypeVar("Text", str, str | None)

MAX_VALUES = 900
"""Of one statement: older versions of SQLite take 999."""
_ESCAPED = re.compile(r"\\u(d[89a-f][0-9a-f]{2})")


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows that have the same columns in the same order."""
    if rows:
        insert_columns(connection, table, _columns(rows))


def insert_columns(connection: Connection, table: Table, columns: Columns) -> None:
    """Add rows, given by their columns."""
    names, clean = tuple(columns), _clean_rows(table, columns)
    if not clean:
        return
    if connection.dialect.name != "postgresql":
        _execute_together(connection, partial(_insert, table, names), clean)
    else:
        _copy_in(connection, table.name, names, clean)
    if table is schema.documents:
        n, title, text = (names.index(name) for name in ("n", "title", "text"))
        if connection.dialect.name == "postgresql":
            words = search.rows({"n": row[n], "title": row[title], "text": row[text]} for row in clean)
            _copy_in(connection, "search", ("n", "words"), [tuple(row.values()) for row in words])
        else:
            search.index(connection, clean[0][n], clean[-1][n])
            search.merge(connection, sum([len(row[text]) for row in clean]))


def replace_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows, or put them in the place of those with the same key."""
    if rows:
        names, clean = tuple(rows[0]), _clean_rows(table, _columns(rows))
        if connection.dialect.name != "postgresql":
            _execute_together(connection, partial(_replace, table, names), clean)
        else:
            execute(connection, _replace(table, names, 1), clean)


def _execute_together(connection: Connection, statement: Callable[[int], str], rows: list[Row]) -> None:
    """Many rows with one statement.

    SQLite's driver lets go of the interpreter once for each statement. A thread that writes row by row would wait for
    the one that judges before each of them. It also keeps the last hundred statements with the values that they had
    last, so there are few: the numbers of rows are powers of two.
    """
    most, begin = max(1, MAX_VALUES // len(rows[0])), 0
    while begin < len(rows):
        together = 1 << min(most, len(rows) - begin).bit_length() - 1
        some = rows[begin : begin + together]
        execute(connection, statement(together), tuple(chain.from_iterable(some)))
        begin += together


@lru_cache(1024)
def _insert(table: Table, names: tuple[str, ...], n_rows: int) -> str:
    columns = ", ".join(f'"{name}"' for name in names)
    values = ", ".join([f"({', '.join('?' * len(names))})"] * n_rows)
    return f"INSERT INTO {table.name} ({columns}) VALUES {values}"


@lru_cache(1024)
def _replace(table: Table, names: tuple[str, ...], n_rows: int) -> str:
    keys = [column.name for column in table.primary_key.columns]
    changed = ", ".join(f'"{name}" = excluded."{name}"' for name in table.c.keys() if name not in keys)  # noqa: SIM118
    return f"{_insert(table, names, n_rows)} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changed}"


def _columns(rows: Sequence[Mapping[str, Any]]) -> Columns:
    return dict(zip(rows[0], zip(*[row.values() for row in rows], strict=True), strict=True))


def _clean_rows(table: Table, columns: Columns) -> list[Row]:
    """The rows as tuples, every text in them storable."""
    texts = _text_columns(table)
    if _are_storable([text for name, values in columns.items() if name in texts for text in values if text]):
        return list(zip(*columns.values(), strict=True))
    clean = [list(map(storable, values)) if name in texts else values for name, values in columns.items()]
    return list(zip(*clean, strict=True))


@cache
def _text_columns(table: Table) -> frozenset[str]:
    return frozenset(column.name for column in table.columns if isinstance(column.type, String))


def all_storable(texts: Sequence[Text]) -> Sequence[Text]:
    """`storable` of all of them."""
    return texts if _are_storable([text for text in texts if text]) else list(map(storable, texts))


def _are_storable(texts: Sequence[str]) -> bool:
    """Whether they can be stored as they are: nearly always so. What is ASCII needs no coding to see that."""
    if [text for text in texts if "\0" in text]:
        return False
    others = "".join([text for text in texts if not text.isascii()])
    return storable(others) is others


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
        value.isascii() or value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def escape_name(name: str) -> str:
    """The name of a source so that every database holds it: names of files need not be text."""
    return name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def unescape_name(name: str) -> str:
    """Undo `escape_name`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name)


def _copy_in(connection: Connection, table: str, names: Sequence[str], rows: Sequence[Row]) -> None:
    import psycopg

    driver: Any = connection.connection.driver_connection
    columns = ", ".join(f'"{name}"' for name in names)
    statement = f"COPY {table} ({columns}) FROM STDIN"
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
    except psycopg.Error as error:
        # SQLAlchemy did not see it: tell it in its own way.
        lost = bool(driver.closed)
        if lost:
            connection.invalidate(error)
        raise OperationalError(statement, None, error, connection_invalidated=lost) from error
