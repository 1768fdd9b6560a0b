"""Small statements straight to the driver: what SQLAlchemy adds to one takes longer than SQLite needs for it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

Row = tuple[Any, ...]


def execute(connection: Connection, statement: str, given: Row | list[Row] = ()) -> None:
    """Run a statement with ? for each value, inside the connection's transaction; a list of rows runs it for each."""
    if connection.dialect.name == "postgresql":  # SQLAlchemy sees a connection that was lost
        connection.exec_driver_sql(statement.replace("?", "%s"), given)
    elif isinstance(given, list):
        _sqlite(connection).executemany(statement, given).close()
    else:
        _sqlite(connection).execute(statement, given).close()


def rows_of(connection: Connection, query: str, given: Row = ()) -> list[Row]:
    """What a query with ? for each value finds."""
    if connection.dialect.name == "postgresql":
        return [tuple(row) for row in connection.exec_driver_sql(query.replace("?", "%s"), given)]
    found: list[Row] = _sqlite(connection).execute(query, given).fetchall()
    return found


def _sqlite(connection: Connection) -> Any:
    return connection.connection.dbapi_connection
