"""Long lists of a store, a page at a time. A page is asked for by what was last on the one before it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Table, and_, func, or_, select

from firststory.errors import ParameterError
from firststory.growth import GROWTH_DAYS
from firststory.records import Position, Quarantined, Story, Storyline, Verdict
from firststory.store import codec, schema
from firststory.store.store import Store
from firststory.units import DAY_SECONDS

STORY_ORDERS = ("last_seen", "first_seen", "size", "growth")
STORYLINE_ORDERS = ("last_seen", "first_seen", "size", "n_stories")
WEEK = int(GROWTH_DAYS * DAY_SECONDS * 1_000_000)

Value = int | float | None
R = TypeVar("R", Story, Storyline)


class Place(NamedTuple):
    """The last row of a page: the value that the rows are ordered by, and its id."""

    value: Value
    id: str


def verdicts_page(
    store: Store,
    *,
    novel: bool | None = None,
    story: str | None = None,
    since: datetime | None = None,
    after: str | None = None,
    newest_first: bool = False,
    limit: int,
) -> tuple[Verdict, ...]:
    """Verdicts in the order of the stream, or the latest first; `after` is the id of a document."""
    documents, verdicts = schema.documents.c, schema.verdicts.c
    conditions: list[Any] = []
    if novel is not None:
        conditions.append(verdicts.is_novel.is_(novel))
    if story is not None:
        conditions.append(verdicts.story == store.current_story(story))
    if since is not None:
        conditions.append(documents.time >= codec.to_microseconds(since))
    if after is not None:
        with store._reading() as connection:
            number = connection.execute(select(documents.n).where(documents.id == after)).scalar()
        if number is None:
            raise unknown_place("after", "the id of a document that the store has", after)
        conditions.append(documents.n < number if newest_first else documents.n > number)
    return store._verdicts(*conditions, newest_first=newest_first, limit=limit)


def stories_page(
    store: Store,
    *,
    order: str = "last_seen",
    status: str | None = None,
    storyline: str | None = None,
    since: datetime | None = None,
    after: Place | None = None,
    limit: int,
) -> tuple[tuple[Story, Place], ...]:
    """Stories, largest or latest first. By growth: those that grew in the week before the end of the stream."""
    table = schema.stories
    conditions = [table.c.status == status if status is not None else table.c.status != "merged"]
    if storyline is not None:
        conditions.append(table.c.storyline == store.current_storyline(storyline))
    if since is not None:
        conditions.append(table.c.last_seen >= codec.to_microseconds(since))
    with store._reading() as connection:
        now = connection.execute(select(func.max(table.c.last_seen))).scalar()
        if order != "growth":
            query = _keyset(table, order, after).where(*conditions).limit(limit)
            rows = connection.execute(query).mappings().all()
            return tuple((codec.story_from_row(row, now), Place(row[order], row["id"])) for row in rows)
        if now is not None:
            conditions.append(table.c.last_seen > now - WEEK)
        rows = connection.execute(select(table).where(*conditions)).mappings().all()
    found = sorted((codec.story_from_row(row, now) for row in rows), key=_by_growth)
    if after is not None:
        last = (-float(after.value or 0.0), after.id)
        found = [story for story in found if _by_growth(story) > last]
    return tuple((story, Place(story.growth, story.id)) for story in found[:limit])


def storylines_page(
    store: Store,
    *,
    order: str = "last_seen",
    status: str | None = None,
    since: datetime | None = None,
    after: Place | None = None,
    limit: int,
) -> tuple[tuple[Storyline, Place], ...]:
    """Storylines, largest or latest first."""
    table = schema.storylines
    conditions = [table.c.status == status if status is not None else table.c.status != "merged"]
    if since is not None:
        conditions.append(table.c.last_seen >= codec.to_microseconds(since))
    with store._reading() as connection:
        rows = connection.execute(_keyset(table, order, after).where(*conditions).limit(limit)).mappings().all()
    return tuple((codec.storyline_from_row(row), Place(row[order], row["id"])) for row in rows)


def quarantine_page(
    store: Store, *, reason: str | None = None, after: int | None = None, limit: int
) -> tuple[tuple[int, Quarantined], ...]:
    """What was quarantined with its number, latest first."""
    table = schema.quarantine
    query = select(table).order_by(table.c.n.desc()).limit(limit)
    if reason is not None:
        query = query.where(table.c.reason == reason)
    if after is not None:
        query = query.where(table.c.n < after)
    with store._reading() as connection:
        rows = connection.execute(query).all()
    return tuple(
        (row.n, Quarantined(row.reason, row.message, Position(row.source, json.loads(row.at)), row.excerpt))
        for row in rows
    )


def step_at(store: Store, moment: datetime) -> int:
    """The last step that ended at a moment or before it; -1 before the first."""
    table = schema.steps.c
    query = select(func.max(table.step)).where(table.last_time <= codec.to_microseconds(moment))
    with store._reading() as connection:
        found = connection.execute(query).scalar()
    return -1 if found is None else int(found)


def _keyset(table: Table, order: str, after: Place | None) -> Any:
    """Rows after a place, by a column from large to small; rows without a value come last."""
    column = table.c[order]
    query = select(table).order_by(column.desc().nulls_last(), table.c.id)
    if after is None:
        return query
    if after.value is None:
        return query.where(column.is_(None), table.c.id > after.id)
    later = and_(column == after.value, table.c.id > after.id)
    return query.where(or_(column < after.value, later, column.is_(None)))


def _by_growth(story: Story) -> tuple[float, str]:
    return -story.growth, story.id


def unknown_place(parameter: str, allowed: str, received: object) -> ParameterError:
    """The error for a page that begins after something that is not there."""
    return ParameterError(
        owner="pages",
        parameter=parameter,
        allowed=allowed,
        received=received,
        remedy="Leave it out for the first page.",
    )
