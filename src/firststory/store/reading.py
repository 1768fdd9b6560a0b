"""What every query over an open store needs: a connection, and small facts by their key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from firststory.store.driver import rows_of
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
    found = rows_of(connection, "SELECT value FROM meta WHERE key = ?", (key,))
    return str(found[0][0]) if found else None
