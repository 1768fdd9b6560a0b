"""The lease of a store: who may write to it, for writers that can be given up without being ended.

One row says who has the lease, for the how manieth time it was taken (the epoch), and until when. Every transaction of
the holder changes that row, and fails unless it is still the holder's own. So a writer that was thought dead and wakes
up cannot write, whatever its clock says: clocks only decide when others may try.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import NamedTuple

from sqlalchemy import Connection, func, update

from firststory.errors import StoreError
from firststory.store import schema
from firststory.store.file_lock import this_process
from firststory.store.meta import get_meta
from firststory.store.row_writing import replace_rows

KEY = "lease"
RENEWALS = 3
"""A lease is renewed so many times before it would end."""


class LeaseLost(StoreError):
    """Another has the lease: what was being written is not."""

    def __init__(self, name: str) -> None:
        super().__init__(
            owner="store",
            parameter="the lease",
            allowed="held by this process",
            received=f"{name}, which another has taken over",
            remedy="Nothing of this step was written. The other goes on with the stream.",
            message=f"The lease of {name} was taken over by another.",
        )


class LeaseRow(NamedTuple):
    """What the row says."""

    epoch: int
    owner: str
    until: float

    @classmethod
    def of(cls, value: str | None) -> LeaseRow:
        if value is None:
            return cls(0, "", 0.0)
        epoch, owner, until = value.split("\t")
        return cls(int(epoch), owner, float(until))

    def text(self) -> str:
        return f"{self.epoch}\t{self.owner}\t{self.until:.3f}"

    def is_live(self) -> bool:
        return self.until > time.time()


def lease_row(connection: Connection) -> LeaseRow:
    """Who has, or had, the lease of a store."""
    return LeaseRow.of(get_meta(connection, KEY))


def write_lease(connection: Connection, row: LeaseRow) -> None:
    replace_rows(connection, schema.meta, [{"key": KEY, "value": row.text()}])


class Lease:
    """A lease that this process has. A thread renews it, so that a step may take longer than it lasts.

    Parameters
    ----------
    name : str
        Of the store, for messages.
    row : LeaseRow
        As it was taken.
    seconds : float
        How long it lasts without being renewed.
    writing : callable
        A transaction that writes beside the others.
    """

    def __init__(
        self, name: str, row: LeaseRow, seconds: float, writing: Callable[[], AbstractContextManager[Connection]]
    ) -> None:
        self._name, self._row, self._seconds, self._writing = name, row, seconds, writing
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew_for_ever, name="lease", daemon=True)
        self._thread.start()

    def check(self, connection: Connection) -> None:
        """Renew it as a part of a transaction, or fail: `LeaseLost` where another has it by now."""
        self._change(connection, time.time() + self._seconds)

    def give_back(self) -> None:
        self._ended.set()
        self._thread.join()
        with suppress(StoreError), self._writing() as connection:
            self._change(connection, 0.0)

    def _change(self, connection: Connection, until: float) -> None:
        ours = self._row._replace(until=0.0).text().rpartition("\t")[0] + "\t"
        table = schema.meta
        is_ours = func.substr(table.c.value, 1, len(ours)) == ours
        renewed = update(table).where(table.c.key == KEY, is_ours).values(value=self._row._replace(until=until).text())
        if connection.execute(renewed).rowcount != 1:
            raise LeaseLost(self._name)

    def _renew_for_ever(self) -> None:
        while not self._ended.wait(max(self._seconds / RENEWALS, 0.05)):
            try:
                with self._writing() as connection:
                    self.check(connection)
            except LeaseLost:
                return  # the next step finds out by itself
            except StoreError:
                continue  # the database may be back before it ends


def new_owner() -> str:
    """A name for one holder of one lease: this process, and a number that no other has."""
    return f"{this_process()} {uuid.uuid4().hex[:12]}"
