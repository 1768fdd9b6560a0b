"""A store in a PostgreSQL database: its tables lie in the first schema of the connection's search path."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from firststory.errors import MissingExtraError, StoreError, StoreFullError, StoreLostError
from firststory.store.file_lock import has_ended, taken, this_process

OUR_TABLES = frozenset({"meta", "steps", "documents"})
LOCK = int.from_bytes(b"fsty", "big")
PREFIX = "firststory "
"""How the server lists our connections: with the process behind it."""
PATIENCE = 60.0
"""Seconds that a run waits for a server that it has reached before: long enough for a restart."""

SECONDS_TO_NOTICE = 30.0
"""For a server to see that a run was killed: until then the lock seems to be held by a process that is no more."""


class PostgresqlDatabase:
    """A database on a server, reached by psycopg."""

    def __init__(self, url: str) -> None:
        self.url = url
        parsed = make_url(url)
        self._target = parsed.set(drivername="postgresql+psycopg")
        self.name = parsed.set(drivername="postgresql").render_as_string(hide_password=True)
        self._was_reached = False

    def holds_store(self) -> bool:
        engine = self.open_engine(read_only=True)
        try:
            with engine.connect() as connection:
                encoding = str(connection.execute(text("SHOW server_encoding")).scalar())
                schema = connection.execute(text("SELECT current_schema()")).scalar()
                tables = set(inspect(connection).get_table_names())
        except DBAPIError as error:
            said: Any = error.orig
            raise self.explain(said, lost=error.connection_invalidated) from error
        finally:
            engine.dispose()
        if encoding != "UTF8" or schema is None:
            problem = "has no schema to write to" if schema is None else f"has the encoding {encoding}"
            raise self._refused(problem, "Make one with: createdb --encoding UTF8 --template template0 NAME")
        if tables and not tables >= OUR_TABLES:
            raise self._refused(
                "has tables of another program",
                "Use a database of its own, or a schema: add ?options=-csearch_path%3DNAME. Nothing was changed.",
            )
        return bool(tables)

    def open_engine(self, read_only: bool) -> Engine:
        try:
            engine = create_engine(
                self._target,
                pool_pre_ping=True,
                # A reader that asks two questions gets two answers of the same moment, as in SQLite.
                execution_options={"isolation_level": "REPEATABLE READ"} if read_only else {},
                connect_args={"application_name": PREFIX + this_process(), "connect_timeout": 10},
            )
        except ImportError as error:
            raise MissingExtraError("store", "psycopg", "postgres") from error

        @event.listens_for(engine, "do_connect")
        def _connect(dialect: Any, record: Any, arguments: Any, options: Any) -> Any:
            return self._patiently_connect(dialect, arguments, options)

        return engine

    def _patiently_connect(self, dialect: Any, arguments: Any, options: Any) -> Any:
        """A connection; where the server was there before, wait for it: it may be restarting."""
        give_up = time.monotonic() + (PATIENCE if self._was_reached else 0.0)
        pause = 0.05
        while True:
            try:
                connection = dialect.connect(*arguments, **options)
            except dialect.loaded_dbapi.OperationalError:
                if time.monotonic() + pause > give_up:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, 2.0)
            else:
                self._was_reached = True
                return connection

    def lock(self, engine: Engine) -> AdvisoryLock:
        return AdvisoryLock(engine)

    def size(self, engine: Engine) -> int:
        with engine.connect() as connection:
            return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar() or 0)

    def remove_file(self) -> None:
        """The database is not ours to remove."""

    def explain(self, error: Exception, *, lost: bool) -> StoreError:
        said = str(error).strip().split("\n")[0].rstrip(".")
        code = getattr(error, "sqlstate", None) or ""
        if code == "53100":
            return StoreFullError(
                owner="store",
                parameter="the disk of the server",
                allowed="with room for the next step",
                received=f"{self.name}: {said}",
                remedy="Everything up to the last whole step is safe. Make room and run again: it goes on from there.",
                message=f"There is no room on the disk of {self.name} for the next step ({said}).",
            )
        kind: type[StoreError] = StoreError
        # Before there is a connection, there is no code.
        if code.startswith("28") or "authentication" in said or "password" in said or 'role "' in said:
            remedy = "Check the user and the password; ~/.pgpass or PGPASSWORD keep it out of the command line."
        elif code == "3D000" or ('database "' in said and "does not exist" in said):
            remedy = "Make the database first: createdb NAME"
        elif code in ("42501", "25006"):
            remedy = "Ask for the right to write to it, or use another store."
        elif lost or code.startswith(("08", "57P")) or not code:
            kind = StoreLostError
            remedy = "Check that the server runs. Every whole step is safe: run again, and it goes on from there."
        else:
            remedy = "Check the database and its server."
        return kind(
            owner="store",
            parameter="the database",
            allowed="usable",
            received=f"{self.name}: {said}",
            remedy=remedy,
            message=f"The database {self.name} cannot be used: {said}.",
        )

    def _refused(self, problem: str, remedy: str) -> StoreError:
        return StoreError(
            owner="store",
            parameter="URL",
            allowed="a firststory store or an empty database",
            received=f"{self.name}, which {problem}",
            remedy=remedy,
            message=f"The database {self.name} {problem}.",
        )


class AdvisoryLock:
    """A lock that ends with its connection. Steps are written with that connection: whoever loses it cannot write."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    @property
    def connection(self) -> Connection | None:
        return self._connection

    def take(self) -> None:
        """Become the writer, or say that there is one already."""
        if self._connection is not None and not self._connection.invalidated:
            return
        self.release()
        connection = self._engine.connect()
        # One lock for each schema of the database.
        place = "(SELECT oid::int FROM pg_namespace WHERE nspname = current_schema())"
        until = time.monotonic() + SECONDS_TO_NOTICE
        try:
            while not connection.execute(text(f"SELECT pg_try_advisory_lock({LOCK}, {place})")).scalar():
                holder = _holder(connection, place)
                connection.commit()
                if time.monotonic() > until or (holder and not has_ended(holder)):
                    raise taken(holder)
                time.sleep(0.05)
            connection.commit()
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def release(self) -> None:
        if self._connection is not None:
            # The connection itself must end: one that goes back to the pool would keep the lock.
            self._connection.invalidate()
            self._connection.close()
            self._connection = None


def _holder(connection: Connection, place: str) -> str:
    """The process that has the lock, where it says so."""
    query = text(
        "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.granted AND "
        f"l.locktype = 'advisory' AND l.classid = {LOCK} AND l.objid::int = {place}"
    )
    name = str(connection.execute(query).scalar() or "")
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) else ""
