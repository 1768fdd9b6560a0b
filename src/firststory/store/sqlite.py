"""A store in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from firststory.errors import StoreError, StoreFullError
from firststory.store.driver import execute
from firststory.store.file_lock import FileLock

APPLICATION_ID = int.from_bytes(b"fsty", "big")
"""What SQLite keeps in the head of a file to say whose it is."""
OUR_TABLES = frozenset({"meta", "steps", "documents"})

WRITER_PRAGMAS = (
    "PRAGMA journal_mode=WAL",  # readers never wait for the writer
    "PRAGMA synchronous=NORMAL",  # a killed process loses nothing; a dead machine at most the last steps, whole
    "PRAGMA foreign_keys=ON",
    "PRAGMA busy_timeout=10000",
    "PRAGMA cache_size=-8000",  # KiB: with the usual 2,000 pages of a large step are written, read, and written again
    "PRAGMA wal_autocheckpoint=500",  # pages: a document that waits for one waits half as long as with the usual 1,000
)
READER_PRAGMAS = ("PRAGMA query_only=ON", "PRAGMA busy_timeout=10000")


class SqliteDatabase:
    """A file, with `-wal` and `-shm` beside it while it is in use."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.path = Path(make_url(url).database or "")
        self.name = str(self.path)

    def holds_store(self) -> bool:
        """Whether there is a store; looking does not change a byte."""
        if self.path.is_dir():
            raise StoreError(
                owner="store",
                parameter="URL",
                allowed="a file",
                received=f"{self.path}, a folder",
                remedy="Name a file in it, such as --store news.db.",
                message=f"{self.path} is a folder, not a store.",
            )
        try:
            if not self.path.is_file() or not self.path.stat().st_size:
                return False
            with closing(self._connect_read_only()) as connection:
                application = connection.execute("PRAGMA application_id").fetchone()[0]
                tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        except OSError as error:
            raise self.explain(error, lost=False) from error
        except sqlite3.Error as error:
            raise self.explain(error, lost=False) from error
        if application not in (0, APPLICATION_ID) or (tables and not tables >= OUR_TABLES):
            raise StoreError(
                owner="store",
                parameter="URL",
                allowed="a firststory store or a new file",
                received=f"{self.path}, a SQLite database of another program",
                remedy="Name another file. This one was not changed.",
                message=f"{self.path} is a SQLite database, but not a firststory store.",
            )
        return bool(tables)

    def open_engine(self, read_only: bool) -> Engine:
        if read_only and not self._is_writable():
            # Each transaction looks anew for what a writer may have begun meanwhile.
            engine = create_engine("sqlite://", creator=self._connect_read_only, poolclass=NullPool)
        else:
            engine = create_engine(self.url)
        pragmas = READER_PRAGMAS if read_only else WRITER_PRAGMAS

        @event.listens_for(engine, "connect")
        def _connect(connection: Any, record: Any) -> None:
            # The driver would begin transactions only before some statements; we say ourselves where they begin.
            connection.isolation_level = None
            cursor = connection.cursor()
            for pragma in pragmas:
                cursor.execute(pragma)
            cursor.close()

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            writes = connection.get_execution_options().get("firststory_writes", False)
            execute(connection, "BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine

    def lock(self, engine: Engine) -> FileLock:
        return FileLock(self.path)

    def size(self, engine: Engine) -> int:
        log = self.path.with_name(self.path.name + "-wal")
        return self.path.stat().st_size + (log.stat().st_size if log.exists() else 0)

    def remove_file(self) -> None:
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def explain(self, error: Exception, *, lost: bool) -> StoreError:
        said = str(error)
        if "full" in said or "disk I/O" in said:
            return StoreFullError(
                owner="store",
                parameter="the disk",
                allowed="with room for the next step",
                received=f"{self.path}: {said}",
                remedy="Everything up to the last whole step is safe. Make room and run again: it goes on from there.",
                message=f"There is no room on the disk of {self.path} for the next step ({said}).",
            )
        if "locked" in said or "busy" in said:
            remedy = "Another program is writing to it: wait for it to end, or use another store."
        elif "not a database" in said or "malformed" in said:
            remedy = "It is not a firststory store, or it is damaged. Name another file."
        elif "unable to open" in said or "readonly" in said or isinstance(error, PermissionError):
            remedy = "Check that the folder exists and that you may write there."
            if self.path.exists() and not os.access(self.path, os.R_OK):
                remedy = "Check that you may read it."
        else:
            remedy = "Check the file and the disk."
        return StoreError(
            owner="store",
            parameter="the database",
            allowed="usable",
            received=f"{self.path}: {said}",
            remedy=remedy,
            message=f"The database {self.path} cannot be used: {said}.",
        )

    def _is_writable(self) -> bool:
        """Whether SQLite may keep its files beside the store, as it wants to even for reading."""
        return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)

    def _connect_read_only(self) -> sqlite3.Connection:
        """A connection that leaves no trace. Without a `-wal` nobody writes, and SQLite need not ask for locks."""
        log = self.path.with_name(self.path.name + "-wal")
        in_use = log.exists() and log.stat().st_size > 0
        uri = f"file:{quote(str(self.path.absolute()))}?mode=ro" + ("" if in_use else "&immutable=1")
        return sqlite3.connect(uri, uri=True, check_same_thread=False)
