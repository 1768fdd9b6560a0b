"""Documents by words, time, source and what became of them, with the counts that stand beside a list of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, exists, func, or_, select, text

from firststory.store import codec, schema
from firststory.store.arrival_reader import ArrivalReader, Brought, brief, brought_from, joined
from firststory.store.query import Query, fts5, tsquery

PUSHED = ("confirmed", "turn")


class Found(NamedTuple):
    """What a query found."""

    documents: tuple[Brought, ...]
    """Newest first, as many as were asked for."""
    n_documents: int
    sources: tuple[tuple[str, int], ...]
    """All sources that have any, with their counts, most first."""


class FindingReader(ArrivalReader):
    """Queries of people over the documents."""

    def find(
        self,
        query: Query,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        sources: tuple[str, ...] = (),
        alerts_only: bool = False,
        first_only: bool = False,
        limit: int = 200,
    ) -> Found:
        """Documents that a query wants, newest first.

        Parameters
        ----------
        since, until : datetime, optional
            Bounds on the time of a document, both included.
        sources : tuple of str
            Names of sources, whole; empty means all.
        alerts_only, first_only : bool
            Only headlines and first reports of pushed alerts; only documents that began a story.
        """
        documents, verdicts = schema.documents.c, schema.verdicts.c
        with self._reading() as connection:
            where = [*_words(connection, query)]
            if since is not None:
                where.append(documents.time >= codec.to_microseconds(since))
            if until is not None:
                where.append(documents.time <= codec.to_microseconds(until))
            if query.sources:
                where.append(or_(*[documents.source.icontains(one, autoescape=True) for one in query.sources]))
            if query.stories:
                where.append(verdicts.story.in_([_current(connection, one) for one in query.stories]))
            if alerts_only:
                where.append(_is_alerted())
            if first_only:
                where.append(verdicts.kind == "event")
            count = func.count()
            by_source = select(documents.source, count).select_from(joined()).where(*where)
            per_source = [(row[0], int(row[1])) for row in connection.execute(by_source.group_by(documents.source))]
            if sources:
                where.append(documents.source.in_(sources))
            rows = connection.execute(
                brief().where(*where).order_by(documents.time.desc().nulls_last(), documents.n.desc()).limit(limit)
            ).all()
        return Found(
            tuple(brought_from(row) for row in rows),
            sum(n for source, n in per_source if not sources or source in sources),
            tuple(sorted(((s, n) for s, n in per_source if s is not None), key=lambda one: (-one[1], one[0]))),
        )


def _words(connection: Connection, query: Query) -> list[ColumnElement[bool]]:
    if not query.wanted:
        return []
    number = schema.documents.c.n
    if connection.dialect.name == "postgresql":
        found = text("SELECT n FROM search WHERE words @@ CAST(:words AS tsquery)")
        return [number.in_(found.bindparams(bindparam("words", tsquery(query))).columns(schema.documents.c.n))]
    found = text("SELECT rowid FROM search WHERE search MATCH :words")
    return [number.in_(found.bindparams(bindparam("words", fts5(query))).columns(schema.documents.c.n))]


def _is_alerted() -> Any:
    alerts, name = schema.alerts.c, schema.documents.c.id
    return exists().where(alerts.kind.in_(PUSHED), or_(alerts.headline_document == name, alerts.first_document == name))


def _current(connection: Connection, story: str) -> str:
    table = schema.stories.c
    while into := connection.execute(select(table.merged_into).where(table.id == story)).scalar():
        story = into
    return story
