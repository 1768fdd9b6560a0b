"""Alerts and storylines, read back from the store as records."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any, get_args

from sqlalchemy import Connection, func, or_, select

from firststory.errors import StoreError, not_one_of
from firststory.records import Alert, AlertKind, Document, Storyline
from firststory.store import codec, schema
from firststory.store.meta import get_meta
from firststory.store.reading import Readable

KINDS: tuple[str, ...] = get_args(AlertKind)


def checked_kinds(kind: str | Collection[str] | None) -> tuple[str, ...]:
    """The kinds of alerts that are wanted: one, several, or all where none is named."""
    wanted = KINDS if kind is None else (kind,) if isinstance(kind, str) else tuple(kind)
    for one in wanted:
        if one not in KINDS:
            raise not_one_of("alerts", "kind", KINDS, one, "Leave it out for all of them.")
    return wanted


class AlertReader(Readable):
    """Queries over the alerts and storylines of an open store."""

    def alerts(
        self,
        *,
        since: datetime | None = None,
        kind: str | Collection[str] | None = None,
        story: str | None = None,
        after: str | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> tuple[Alert, ...]:
        """Alerts in the order in which they fired, with their whole documents; with `newest_first` the other way.

        Story and storyline are those that have the alert now.

        Parameters
        ----------
        since : datetime, optional
            Those that fired then or later. Alerts without a time (the stream had none) are always among them.
        kind : str or several, optional
            "confirmed", "turn" or "first_seen".
        story : str, optional
            Those of one story.
        after : str, optional
            Those that fired after the alert with this id; with `newest_first`, before it.
        limit : int, optional
            The first so many in the order asked for.
        """
        table = schema.alerts
        query = _select_alerts().where(table.c.kind.in_(checked_kinds(kind)))
        if since is not None:
            query = query.where(or_(table.c.fired_at >= codec.to_microseconds(since), table.c.fired_at.is_(None)))
        if story is not None:
            query = query.where(table.c.story == story)
        with self._reading() as connection:
            if after is not None:
                number = _number_of(connection, after)
                query = query.where(table.c.n < number if newest_first else table.c.n > number)
            query = query.order_by(table.c.n.desc() if newest_first else table.c.n).limit(limit)
            return _alerts(connection, query)

    def alert(self, name: str) -> Alert | None:
        """One alert by its id."""
        with self._reading() as connection:
            found = _alerts(connection, _select_alerts().where(schema.alerts.c.id == name))
        return found[0] if found else None

    def count_alerts(
        self, *, since: datetime | None = None, kind: str | Collection[str] | None = None
    ) -> dict[str, int]:
        """How many alerts there are of each kind."""
        kinds, table = checked_kinds(kind), schema.alerts
        query = select(table.c.kind, func.count()).where(table.c.kind.in_(kinds)).group_by(table.c.kind)
        if since is not None:
            query = query.where(or_(table.c.fired_at >= codec.to_microseconds(since), table.c.fired_at.is_(None)))
        with self._reading() as connection:
            counts = {str(row[0]): int(row[1]) for row in connection.execute(query)}
        return {one: counts.get(one, 0) for one in kinds}

    def alerts_status(self) -> dict[str, Any]:
        """What the alerts' own status was after the last step: the ceiling, what was spent, what was held back."""
        with self._reading() as connection:
            return dict(json.loads(get_meta(connection, "alerts_status") or "{}"))

    def last_time(self) -> datetime | None:
        """The latest time of the stream that was believed; None in a stream without times."""
        with self._reading() as connection:
            return codec.to_time(connection.execute(select(func.max(schema.steps.c.last_time))).scalar())

    def storylines(
        self, *, limit: int | None = None, order: str = "last_seen", merged: bool = False
    ) -> tuple[Storyline, ...]:
        """Storylines, by default the latest updated first; with `merged` also those merged into others.

        `order` is a column: last_seen, first_seen, size or n_stories. `stories(storyline=...)` has the stories of one.
        """
        table = schema.storylines
        query = select(table) if merged else select(table).where(table.c.status != "merged")
        query = query.order_by(table.c[order].desc().nulls_last(), table.c.id).limit(limit)
        with self._reading() as connection:
            return tuple(codec.storyline_from_row(row) for row in connection.execute(query).mappings())

    def count_storylines(self, *, merged: bool = False) -> int:
        """How many storylines there are."""
        table = schema.storylines
        query = select(func.count()).select_from(table)
        with self._reading() as connection:
            return int(connection.execute(query if merged else query.where(table.c.status != "merged")).scalar() or 0)

    def storyline(self, name: str) -> Storyline | None:
        """One storyline by its id, merged or not."""
        table = schema.storylines
        with self._reading() as connection:
            row = connection.execute(select(table).where(table.c.id == name)).mappings().first()
        return None if row is None else codec.storyline_from_row(row)

    def current_storyline(self, name: str) -> str:
        """The id of the storyline that this one was merged into, and so on; its own where it was not."""
        table = schema.storylines
        with self._reading() as connection:
            while into := connection.execute(select(table.c.merged_into).where(table.c.id == name)).scalar():
                name = into
        return name


def _select_alerts() -> Any:
    """Alerts; the storyline is that of the story, which may have joined it later."""
    table, stories = schema.alerts, schema.stories
    columns = [column for column in table.c if column.name != "storyline"]
    storyline = func.coalesce(stories.c.storyline, table.c.storyline).label("storyline")
    return select(*columns, storyline).select_from(table.outerjoin(stories, stories.c.id == table.c.story))


def _alerts(connection: Connection, query: Any) -> tuple[Alert, ...]:
    rows = connection.execute(query).mappings().all()
    ids = dict.fromkeys(row[name] for row in rows for name in ("first_document", "headline_document"))
    documents = _documents(connection, list(ids))
    return tuple(codec.alert_from_row(row, documents) for row in rows)


def _documents(connection: Connection, ids: list[str]) -> dict[str, Document]:
    table, found = schema.documents, {}
    for start in range(0, len(ids), 500):
        query = select(table).where(table.c.id.in_(ids[start : start + 500]))
        found.update({row["id"]: codec.document_from_row(row) for row in connection.execute(query).mappings()})
    return found


def _number_of(connection: Connection, name: str) -> int:
    number = connection.execute(select(schema.alerts.c.n).where(schema.alerts.c.id == name)).scalar()
    if number is None:
        raise StoreError(
            owner="alerts",
            parameter="after",
            allowed="the id of an alert that the store has",
            received=name,
            remedy="Leave it out for all of them.",
            message=f"The store has no alert {name}.",
        )
    return int(number)
