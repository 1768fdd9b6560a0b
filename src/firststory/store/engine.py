"""How a database is opened, and how its complaints become ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from firststory.errors import StoreError, StoreFullError

PRAGMAS = (
    "PRAGMA journal_mode=WAL",  # readers never wait for the writer
    "PRAGMA synchronous=NORMAL",  # a killed process loses nothing; a dead machine at most the last steps, whole
    "PRAGMA foreign_keys=ON",
    "PRAGMA busy_timeout=10000",
)


def parse_url(store: str | PathLike[str]) -> str:
    """'news.db' or 'sqlite:///news.db' as a URL that SQLAlchemy knows."""
    given = fspath(store) if isinstance(store, PathLike) else store
    url, name = "", ""
    if isinstance(given, str) and given:
        url = given if "://" in given else f"sqlite:///{given}"
        with suppress(ArgumentError):
            name = make_url(url).get_backend_name()
    if name != "sqlite":
        raise StoreError(
            owner="store",
            parameter="URL",
            allowed="a path or sqlite:///path in this release",
            received=store,
            remedy="Name a path, such as --store news.db, or sqlite:///news.db.",
            message=f"{store!r} is not a store that this release can open.",
        )
    return url


def path_of(url: str) -> Path:
    return Path(make_url(url).database or "")


def open_engine(url: str) -> Engine:
    """An engine whose connections have our pragmas and real transactions."""
    engine = create_engine(url)

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, record: Any) -> None:
        # The driver would begin transactions only before some statements; we say ourselves where they begin.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in PRAGMAS:
            cursor.execute(pragma)
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("firststory_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def our_errors(url: str) -> Iterator[None]:
    """Say what the database said in our words."""
    try:
        yield
    except DBAPIError as error:
        said = str(error.orig)
        path = path_of(url)
        if "full" in said or "disk I/O" in said:
            raise StoreFullError(
                owner="store",
                parameter="the disk",
                allowed="with room for the next step",
                received=f"{path}: {said}",
                remedy="Everything up to the last whole step is safe. Make room and run again: it goes on from there.",
                message=f"There is no room on the disk of {path} for the next step ({said}).",
            ) from error
        if "locked" in said or "busy" in said:
            remedy = "Another program is writing to it: wait for it to end, or use another store."
        elif "not a database" in said or "malformed" in said:
            remedy = "It is not a firststory store, or it is damaged. Name another file."
        elif "unable to open" in said or "readonly" in said:
            remedy = "Check that the folder exists and that you may write there."
        else:
            remedy = "Check the file and the disk."
        raise StoreError(
            owner="store",
            parameter="the database",
            allowed="usable",
            received=f"{path}: {said}",
            remedy=remedy,
            message=f"The database {path} cannot be used: {said}.",
        ) from error
