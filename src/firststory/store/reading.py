"""What every query over an open store needs: a connection, and small facts by their key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from firststory.store.engine import Database, our_errors


class Readable:
    """An open store."""

    url: str
    _database: Database
    _engine: Engine
    _read_engine: Engine

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with our_errors(self._database), self._read_engine.begin() as connection:
            yield connection


def get_meta(connection: Connection, key: str) -> str | None:
    mark = "%s" if connection.dialect.name == "postgresql" else "?"
    found: str | None = connection.exec_driver_sql(f"SELECT value FROM meta WHERE key = {mark}", (key,)).scalar()
    return found
