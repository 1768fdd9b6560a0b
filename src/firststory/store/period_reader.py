"""What came in some time, and when the documents of a story came: counted by the store, without reading texts."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import case, func, select

from firststory.records import Document, Story
from firststory.store import codec, schema
from firststory.store.alert_reader import AlertReader
from firststory.units import EPOCH, MICROSECOND

DAY_MICROSECONDS = 86_400_000_000


class Came(NamedTuple):
    """What came in some time: of one story, or of all."""

    documents: int
    """Distinct texts; duplicates are not counted."""
    sources: int
    """Distinct sources, of duplicates too."""


class Arrived(NamedTuple):
    """One document of a story, without its text."""

    time: datetime | None
    source: str | None
    is_duplicate: bool


class PeriodReader(AlertReader):
    """Queries over when the documents of an open store came."""

    def came(self, since: datetime | None = None, until: datetime | None = None) -> Came:
        """What came from `since` to `until`, both included. Documents without a time count where `since` is None."""
        query = select(*counts()).select_from(both()).where(*between(since, until))
        with self._reading() as connection:
            row = connection.execute(query).one()
        return Came(int(row[0] or 0), int(row[1]))

    def came_by_story(self, since: datetime | None = None, until: datetime | None = None) -> dict[str, Came]:
        """The same for each story that any of it belongs to."""
        story = schema.verdicts.c.story
        query = select(story, *counts()).select_from(both()).where(story.is_not(None), *between(since, until))
        with self._reading() as connection:
            rows = connection.execute(query.group_by(story).order_by(story)).all()
        return {str(row[0]): Came(int(row[1] or 0), int(row[2])) for row in rows}

    def documents_per_day(self) -> dict[date, int]:
        """How many documents each day brought, in the order of the days."""
        time = schema.documents.c.time
        # Rounded down, also before 1970, and with whole numbers alone: databases differ in how they divide.
        day = (time - (time % DAY_MICROSECONDS + DAY_MICROSECONDS) % DAY_MICROSECONDS).label("day")
        query = select(day, func.count()).where(time.is_not(None)).group_by(day).order_by(day)
        with self._reading() as connection:
            rows = connection.execute(query).all()
        return {(EPOCH + int(row[0]) * MICROSECOND).date(): int(row[1]) for row in rows}

    def arrivals_of(self, story: str) -> tuple[Arrived, ...]:
        """The documents of a story in the order of the stream."""
        documents, verdicts = schema.documents.c, schema.verdicts.c
        query = select(documents.time, documents.source, verdicts.duplicate_of).select_from(both())
        query = query.where(verdicts.story == story).order_by(documents.n)
        with self._reading() as connection:
            rows = connection.execute(query).all()
        return tuple(Arrived(codec.to_time(row[0]), row[1], row[2] is not None) for row in rows)

    def document(self, name: str) -> Document | None:
        """One document by its id."""
        return self._one_document(schema.documents.c.id == name)

    def first_document(self, story: str) -> Document | None:
        """The earliest document of a story; in a stream without times the one that came first."""
        return self._one_document(schema.verdicts.c.story == story)

    def latest_document(self, story: str) -> Document | None:
        """The latest document of a story that is no duplicate."""
        verdicts = schema.verdicts.c
        return self._one_document(verdicts.story == story, verdicts.duplicate_of.is_(None), latest=True)

    def _one_document(self, *where: Any, latest: bool = False) -> Document | None:
        table = schema.documents.c
        order = (table.time.desc(), table.n.desc()) if latest else (table.time, table.n)
        query = select(schema.documents).select_from(both()).where(*where)
        query = query.order_by(table.time.is_(None), *order).limit(1)
        with self._reading() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else codec.document_from_row(row)

    def merges(self, into: str) -> tuple[tuple[Story, datetime | None], ...]:
        """The stories that were merged into this one, and the end of the step in which each was."""
        table, steps = schema.stories, schema.steps
        query = select(table, steps.c.last_time).join(steps, steps.c.step == table.c.step)
        query = query.where(table.c.merged_into == into).order_by(table.c.step, func.length(table.c.id), table.c.id)
        with self._reading() as connection:
            rows = connection.execute(query).mappings().all()
        return tuple((codec.story_from_row(row), codec.to_time(row["last_time"])) for row in rows)


def both() -> Any:
    return schema.documents.join(schema.verdicts, schema.verdicts.c.n == schema.documents.c.n)


def counts() -> tuple[Any, Any]:
    distinct_texts = func.sum(case((schema.verdicts.c.duplicate_of.is_(None), 1), else_=0))
    return distinct_texts, func.count(schema.documents.c.source.distinct())


def between(since: datetime | None, until: datetime | None) -> list[Any]:
    """Conditions on the time of a document; steps that ended earlier are not looked into."""
    documents, steps = schema.documents.c, schema.steps.c
    conditions = []
    if since is not None:
        moment = codec.to_microseconds(since)
        late_enough = select(steps.step).where(steps.last_time >= moment)
        conditions += [documents.step.in_(late_enough), documents.time >= moment]
    if until is not None and since is not None:
        conditions.append(documents.time <= codec.to_microseconds(until))
    return conditions
