"""Which database a URL names, and how its complaints become ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike, fspath
from typing import Any, Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from firststory.errors import StoreError

BACKENDS = ("sqlite", "postgresql", "postgres")


class WriterLock(Protocol):
    """One writer at a time: two runs into one store would mix their steps."""

    @property
    def connection(self) -> Connection | None:
        """The connection that steps must be written with, because the lock is its own; None where any will do."""
        ...

    def take(self) -> None:
        """Become the writer, or say that there is one already."""
        ...

    def release(self) -> None:
        """Let another be the writer."""
        ...


class Database(Protocol):
    """What differs between SQLite and PostgreSQL."""

    url: str
    name: str
    """As messages show it: without the password."""

    def holds_store(self) -> bool:
        """Whether there is a store. A database of another program is refused, and nothing in it is touched."""
        ...

    def open_engine(self, read_only: bool) -> Engine:
        """Connections with real transactions; a transaction that reads sees the store of one moment."""
        ...

    def lock(self, engine: Engine) -> WriterLock: ...

    def size(self, engine: Engine) -> int:
        """Bytes that it takes."""
        ...

    def remove_file(self) -> None:
        """Remove it, where it is a file of its own."""
        ...

    def explain(self, error: Exception, *, lost: bool) -> StoreError:
        """What the database said, in our words; `lost`: the connection is gone."""
        ...


def parse_url(store: str | PathLike[str]) -> str:
    """'news.db', 'sqlite:///news.db' or 'postgresql://…' as a URL that SQLAlchemy knows."""
    given = fspath(store) if isinstance(store, PathLike) else store
    url, name = "", ""
    if isinstance(given, str) and given:
        url = given if "://" in given else f"sqlite:///{given}"
        with suppress(ArgumentError):
            name = make_url(url).get_backend_name()
    if name not in BACKENDS:
        raise StoreError(
            owner="store",
            parameter="URL",
            allowed="a path, sqlite:///path or postgresql://user@host/database",
            received=store,
            remedy="Name a path, such as --store news.db, or postgresql://user@host/database.",
            message=f"{store!r} is not a store that firststory can open.",
        )
    return url


def database_of(url: str) -> Database:
    """The database that a URL names."""
    if make_url(url).get_backend_name() == "sqlite":
        from firststory.store.sqlite import SqliteDatabase

        return SqliteDatabase(url)
    from firststory.store.postgresql import PostgresqlDatabase

    return PostgresqlDatabase(url)


def holds_store(store: str | PathLike[str]) -> bool:
    """Whether a store is there already."""
    return database_of(parse_url(store)).holds_store()


@contextmanager
def our_errors(database: Database) -> Iterator[None]:
    """Say what the database said in our words."""
    try:
        yield
    except DBAPIError as error:
        said: Any = error.orig
        raise database.explain(said, lost=error.connection_invalidated) from error
    except sqlite3.Error as error:  # of what goes past SQLAlchemy: the pieces of a model
        raise database.explain(error, lost=False) from error
