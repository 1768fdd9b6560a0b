"""What every query over an open store needs: a connection, and small facts by their key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, select

from firststory.store import schema
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
    return connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == key)).scalar()
