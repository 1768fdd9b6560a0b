"""Who brought what and when, counted by the store for those who look at it: sources, hours, growth, what was said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import and_, case, func, select

from firststory.records import Document
from firststory.store import codec, schema
from firststory.store.period_reader import PeriodReader, between, both
from firststory.units import EPOCH, MICROSECOND

Level = Literal["story", "storyline"]
IDS_AT_ONCE = 500
HEAD_CHARACTERS = 400
"""Of a text: enough to name a document that has no title."""


class Brought(NamedTuple):
    """A document with the beginning of its text, and where it belongs."""

    document: Document
    story: str | None
    number: int
    """Its place in the stream."""


class Grew(NamedTuple):
    """What came for a story or storyline: distinct texts and sources of a time, texts of its end and of before."""

    documents: int
    sources: int
    lately: int
    before: int


class Heard(NamedTuple):
    """A source: how much it brought lately, and when it was last heard."""

    source: str
    documents: int
    """Lately."""
    whole: int
    """In all of the time that was asked for."""
    last: datetime


class ArrivalReader(PeriodReader):
    """Queries over when documents came and from whom."""

    def brought(self, ids: Sequence[str]) -> dict[str, Brought]:
        """Some documents by their ids."""
        found: dict[str, Brought] = {}
        with self._reading() as connection:
            for start in range(0, len(ids), IDS_AT_ONCE):
                query = brief().where(schema.documents.c.id.in_(ids[start : start + IDS_AT_ONCE]))
                found.update({row.id: brought_from(row) for row in connection.execute(query)})
        return found

    def brought_by(
        self, level: Level, name: str, *, limit: int | None = None, before: int | None = None
    ) -> tuple[Brought, ...]:
        """The documents of a story or storyline, newest first; with `before` those before that place in the stream."""
        query = brief().where(_owner(level) == name)
        if before is not None:
            query = query.where(schema.documents.c.n < before)
        query = query.order_by(schema.documents.c.n.desc()).limit(limit)
        with self._reading() as connection:
            return tuple(brought_from(row) for row in connection.execute(query))

    def counted_by_time(self, since: datetime, until: datetime, width: timedelta) -> dict[int, int]:
        """Documents in spans of one width, counted from `since`: how many came in each that has any."""
        place, step = _place(since, width)
        query = select(place, func.count()).select_from(joined()).where(*between(since, until)).group_by(place)
        with self._reading() as connection:
            return {int(row[0]) // step: int(row[1]) for row in connection.execute(query)}

    def counted_by_name(
        self, level: Level, names: Sequence[str], since: datetime, until: datetime, width: timedelta
    ) -> dict[str, dict[int, int]]:
        """The same for some stories or storylines."""
        owner = _owner(level)
        place, step = _place(since, width)
        query = select(owner, place, func.count()).select_from(joined())
        query = query.where(owner.in_(names), *between(since, until)).group_by(owner, place)
        found: dict[str, dict[int, int]] = {name: {} for name in names}
        with self._reading() as connection:
            for name, at, n in connection.execute(query):
                found[name][int(at) // step] = int(n)
        return found

    def grew_by(self, level: Level, until: datetime, length: timedelta, lately: timedelta) -> dict[str, Grew]:
        """How each story or storyline grew that anything came for in the time before `until`."""
        owner, time = _owner(level), schema.documents.c.time
        whole, now, before = (codec.to_microseconds(until - back) or 0 for back in (length, lately, 2 * lately))
        is_text = schema.verdicts.c.duplicate_of.is_(None)

        def counted(*which: Any) -> Any:
            return func.sum(case((and_(*which), 1), else_=0))

        columns = (
            counted(is_text, time >= whole),
            func.count(case((time >= whole, schema.documents.c.source)).distinct()),
            counted(is_text, time > now),
            counted(is_text, time > before, time <= now),
        )
        # One look at the rows for all of them.
        since = until - max(length, 2 * lately)
        query = select(owner, *columns).select_from(joined()).where(owner.is_not(None), *between(since, until))
        query = query.group_by(owner).having(counted(time >= whole) > 0)
        with self._reading() as connection:
            rows = connection.execute(query).all()
        return {str(row[0]): Grew(*(int(value or 0) for value in row[1:])) for row in rows}

    def heard(self, since: datetime, lately: datetime) -> tuple[Heard, ...]:
        """The sources that were heard since a moment, those that brought most since `lately` first."""
        documents = schema.documents.c
        recent = func.sum(case((documents.time >= codec.to_microseconds(lately), 1), else_=0))
        query = select(documents.source, recent, func.count(), func.max(documents.time))
        query = query.where(documents.source.is_not(None), *between(since, None)).group_by(documents.source)
        with self._reading() as connection:
            rows = connection.execute(query).all()
        found = [Heard(str(row[0]), int(row[1]), int(row[2]), EPOCH + int(row[3]) * MICROSECOND) for row in rows]
        return tuple(sorted(found, key=lambda one: (-one.documents, one.source)))

    def threshold_history(self, since: datetime) -> tuple[tuple[datetime, float], ...]:
        """How the threshold on single documents moved, in the order of time."""
        table, steps = schema.thresholds.c, schema.steps.c
        query = select(steps.last_time, table.threshold).join(schema.steps, steps.step == table.step)
        query = query.where(steps.last_time >= codec.to_microseconds(since), table.threshold.is_not(None))
        with self._reading() as connection:
            rows = connection.execute(query.order_by(table.step)).all()
        return tuple((EPOCH + int(row[0]) * MICROSECOND, float(row[1])) for row in rows)

    def said_of(self, documents: Sequence[str]) -> dict[str, bool]:
        """What people hold of some documents now: useful or not; those of which nothing was said are left out."""
        table = schema.feedback.c
        said: dict[str, list[bool]] = {}
        with self._reading() as connection:
            for start in range(0, len(documents), IDS_AT_ONCE):
                query = select(table.document, table.useful).order_by(table.n)
                for name, useful in connection.execute(
                    query.where(table.document.in_(documents[start : start + IDS_AT_ONCE]))
                ):
                    words = said.setdefault(name, [])
                    if useful is not None:
                        words.append(bool(useful))
                    elif words:
                        words.pop()  # taken back: what was said before holds again
        return {name: words[-1] for name, words in said.items() if words}


def brief() -> Any:
    """Documents with the beginning of their text and the story that has them."""
    documents = schema.documents.c
    head = func.substr(documents.text, 1, HEAD_CHARACTERS).label("head")
    columns = [documents.n, documents.id, documents.time, documents.source, documents.title, head, documents.url]
    return select(*columns, schema.verdicts.c.story).select_from(joined())


def brought_from(row: Any) -> Brought:
    """A row of `brief`."""
    document = Document(row.id, row.head, codec.to_time(row.time), row.title, row.source, row.url)
    return Brought(document, row.story, int(row.n))


def joined() -> Any:
    """Documents with their verdicts and stories."""
    return both().outerjoin(schema.stories, schema.stories.c.id == schema.verdicts.c.story)


def _owner(level: Level) -> Any:
    return schema.verdicts.c.story if level == "story" else schema.stories.c.storyline


def _place(since: datetime, width: timedelta) -> tuple[Any, int]:
    """Where the span of a document begins, counted from `since`; and the width of a span, both in microseconds."""
    step = width // MICROSECOND
    number = schema.documents.c.time - (codec.to_microseconds(since) or 0)
    # Rounded down with whole numbers alone: databases differ in how they divide.
    return (number - (number % step + step) % step).label("place"), step
