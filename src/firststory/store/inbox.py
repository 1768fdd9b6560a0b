"""Documents that were pushed and are not judged yet. What is in here survives the process, and the machine.

Numbers are given out in the order in which they are committed, so a reader who has come to a number has missed none
below it. They never come again, also when all rows are gone: the last one is kept among the small facts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, select, text

from firststory.store import schema
from firststory.store.engine import our_errors
from firststory.store.meta import get_meta, put_meta
from firststory.store.row_writing import insert_rows
from firststory.store.store import Store

LAST_NUMBER = "inbox_last"


class Waiting(NamedTuple):
    """A document of the inbox: its number, its JSON, and when it came (microseconds since 1970)."""

    n: int
    document: str
    received: int


class Inbox:
    """The inbox of a store. Any process may add; the one that judges the stream reads and removes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, documents: Sequence[str]) -> int:
        """Keep documents, each as its JSON; the number of the last. They are on the disk when this returns."""
        self._store.check_open()
        engine = self._store._engine.execution_options(firststory_writes=True)
        with our_errors(self._store._database), engine.connect() as connection:
            _sync_fully(connection, True)
            try:
                with connection.begin():
                    if connection.dialect.name == "postgresql":
                        # Two that add at once would commit their numbers in any order.
                        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('firststory inbox'))"))
                    first, now = int(get_meta(connection, LAST_NUMBER) or 0) + 1, time.time_ns() // 1000
                    rows = [{"n": n, "document": one, "received": now} for n, one in enumerate(documents, first)]
                    insert_rows(connection, schema.inbox, rows)
                    put_meta(connection, {LAST_NUMBER: str(first + len(rows) - 1)})
            finally:
                _sync_fully(connection, False)
        return first + len(rows) - 1

    def after(self, n: int, limit: int) -> tuple[Waiting, ...]:
        """The next documents after a number, in order."""
        table = schema.inbox
        query = select(table).where(table.c.n > n).order_by(table.c.n).limit(limit)
        with self._store._reading() as connection:
            return tuple(Waiting(row.n, row.document, row.received) for row in connection.execute(query))

    def remove(self, up_to: int) -> None:
        """Forget what was judged."""
        with self._store._writing_beside() as connection:
            connection.execute(delete(schema.inbox).where(schema.inbox.c.n <= up_to))

    def length(self, after: int = 0) -> int:
        """How many wait after a number; without counting rows, as none are missing in between."""
        table = schema.inbox
        with self._store._reading() as connection:
            query = select(func.min(table.c.n), func.max(table.c.n)).where(table.c.n > after)
            first, last = connection.execute(query).one()
        return 0 if last is None else int(last) - int(first) + 1

    def oldest(self, after: int = 0) -> int | None:
        """When the oldest of those that wait came, in microseconds since 1970."""
        table = schema.inbox
        query = select(table.c.received).where(table.c.n > after).order_by(table.c.n).limit(1)
        with self._store._reading() as connection:
            return connection.execute(query).scalar()


def _sync_fully(connection: Connection, fully: bool) -> None:
    """Steps can be read again from their sources; what was pushed cannot, so it must also outlive the machine."""
    if connection.dialect.name == "sqlite":
        raw = connection.connection.dbapi_connection  # past SQLAlchemy, which would begin a transaction
        if raw is not None:
            raw.cursor().execute(f"PRAGMA synchronous={'FULL' if fully else 'NORMAL'}")
