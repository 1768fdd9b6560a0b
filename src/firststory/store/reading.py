"""What every query over an open store needs: a connection."""

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
