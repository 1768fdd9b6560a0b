"""Which alerts each sink still has to get. The alerts themselves are the outbox: a sink has a place among them.

The place moves after a delivery, so that an alert is delivered again, and never forgotten, when a process dies between
the two. A dead letter without a problem is one that is to be tried again. Sinks have threads of their own, so all of
this is written beside the run, by other connections than its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, delete, insert, select, update

from firststory.records import Alert
from firststory.store import schema
from firststory.store.store import Store

AT_ONCE = 100
"""Alerts that are read at a time."""


class Outbox:
    """The place of one sink among the alerts of a store.

    Parameters
    ----------
    store : Store
        Open, and claimed by this process.
    sink : str
        The name under which the place is kept.
    kinds : sequence of str
        The kinds of alerts that the sink gets.
    """

    def __init__(self, store: Store, sink: str, kinds: Sequence[str]) -> None:
        self._store, self.sink, self._kinds = store, sink, tuple(kinds)
        table = schema.deliveries
        # A sink that is new gets what comes from now on, not the alerts of a year.
        latest = store.alerts(newest_first=True, limit=1)
        with store._writing_beside() as connection:
            known = connection.execute(select(table.c.sink).where(table.c.sink == sink)).first()
            if known is None:
                last = latest[0].id if latest else None
                connection.execute(insert(table).values(sink=sink, delivered=last))

    def waiting(self) -> tuple[Alert, ...]:
        """The next alerts to deliver, oldest first; dead letters that are to be tried again come before all others."""
        table = schema.dead_letters
        query = select(table.c.alert).where(*self._again()).order_by(table.c.n).limit(AT_ONCE)
        with self._store._reading() as connection:
            names = list(connection.execute(query).scalars())
        if names:
            return tuple(alert for name in names if (alert := self._store.alert(name)) is not None)
        return self._store.alerts(kind=self._kinds, after=self._delivered(), limit=AT_ONCE)

    def delivered(self, alerts: Sequence[str]) -> None:
        """These were delivered, and everything up to the last of them."""
        table, dead = schema.deliveries, schema.dead_letters
        with self._store._writing_beside() as connection:
            gone = connection.execute(delete(dead).where(*self._again(), dead.c.alert.in_(list(alerts))))
            if not gone.rowcount:
                connection.execute(update(table).where(table.c.sink == self.sink).values(delivered=alerts[-1]))

    def give_up(self, alert: str, problem: str) -> None:
        """This alert cannot be delivered: it is kept among the dead letters, and the next one is tried."""
        table, dead = schema.deliveries, schema.dead_letters
        problem = problem or "unknown"
        with self._store._writing_beside() as connection:
            again = update(dead).where(*self._again(), dead.c.alert == alert).values(problem=problem)
            if connection.execute(again).rowcount:
                return
            connection.execute(insert(schema.dead_letters).values(sink=self.sink, alert=alert, problem=problem))
            connection.execute(update(table).where(table.c.sink == self.sink).values(delivered=alert))

    def _again(self) -> tuple[ColumnElement[bool], ...]:
        return schema.dead_letters.c.sink == self.sink, schema.dead_letters.c.problem == ""

    def _delivered(self) -> str | None:
        table = schema.deliveries
        with self._store._reading() as connection:
            return connection.execute(select(table.c.delivered).where(table.c.sink == self.sink)).scalar()


def dead_letters(store: Store) -> tuple[dict[str, str], ...]:
    """What could not be delivered: sink, alert and problem, oldest first."""
    table = schema.dead_letters
    with store._reading() as connection:
        rows = connection.execute(select(table.c.sink, table.c.alert, table.c.problem).order_by(table.c.n)).mappings()
        return tuple(dict(row) for row in rows)


def try_again(store: Store, sink: str | None = None) -> int:
    """Let the run that writes, or the next one, try dead letters again; those of one sink, or all. How many."""
    table = schema.dead_letters
    query = update(table).where(table.c.problem != "").values(problem="")
    with store._writing_beside() as connection:
        return connection.execute(query if sink is None else query.where(table.c.sink == sink)).rowcount
