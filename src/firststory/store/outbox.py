"""Which alerts each sink still has to get. The alerts themselves are the outbox: a sink has a place among them.

The place moves after a delivery, so that an alert is delivered again, and never forgotten, when a process dies between
the two.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import insert, select, update

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
        with store._writing() as connection:
            known = connection.execute(select(table.c.sink).where(table.c.sink == sink)).first()
            if known is None:
                last = latest[0].id if latest else None
                connection.execute(insert(table).values(sink=sink, delivered=last))

    def waiting(self) -> tuple[Alert, ...]:
        """The next alerts to deliver, oldest first."""
        return self._store.alerts(kind=self._kinds, after=self._delivered(), limit=AT_ONCE)

    def delivered(self, alert: str) -> None:
        """Everything up to this alert is delivered."""
        table = schema.deliveries
        with self._store._writing() as connection:
            connection.execute(update(table).where(table.c.sink == self.sink).values(delivered=alert))

    def give_up(self, alert: str, problem: str) -> None:
        """This alert cannot be delivered: it is kept among the dead letters, and the next one is tried."""
        table = schema.deliveries
        with self._store._writing() as connection:
            connection.execute(insert(schema.dead_letters).values(sink=self.sink, alert=alert, problem=problem))
            connection.execute(update(table).where(table.c.sink == self.sink).values(delivered=alert))

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
