"""What is old goes, what it came to stays: texts, evidence and vectors of old documents are removed.

Of every document its id, time, title, source, address, fingerprint and verdict stay, so that it is known when it comes
again and the stream goes on exactly as without pruning. Stories, storylines and alerts stay, and the documents that
they show stay whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, or_, select, text, update

from firststory.errors import StoreError
from firststory.store import codec, schema, search
from firststory.store.engine import our_errors
from firststory.store.meta import put_meta
from firststory.store.store import Store

DOCUMENTS_AT_ONCE = 500
"""Few enough that a run which writes at the same time does not wait long."""
TITLE_LENGTH = 100
NO_EVIDENCE = codec.to_json({"terms": [], "nearest": []})


class Pruned(NamedTuple):
    """What was removed."""

    documents: int
    """Documents that lost their text."""
    kept: int
    """Old documents that stay whole, because an alert or a story shows them, or someone marked them."""
    topics: int
    quarantined: int
    before: datetime | None
    """Steps that ended earlier were pruned."""
    held_by_model: bool
    """Whether steps that are old enough stay because the saved model may be replayed from them."""


def prune(store: Store, before: datetime, advance: Callable[[int], None] = lambda documents: None) -> Pruned:
    """Prune the steps that ended before a moment, as far as no replay needs them. A run may go on meanwhile."""
    steps, saved = schema.steps.c, store.saved_steps()
    old = or_(steps.last_time < codec.to_microseconds(before), steps.last_time.is_(None))
    with store._reading() as connection:
        newest_old = connection.execute(
            select(func.max(steps.step)).where(steps.last_time < codec.to_microseconds(before))
        ).scalar()
    limit = -1 if newest_old is None or not saved else min(int(newest_old), saved[-1])
    held = newest_old is not None and limit < int(newest_old)
    if limit < 0:
        return Pruned(0, 0, 0, 0, before, held)
    earliest = max(limit, store.replayable_from())
    with store._writing_beside() as connection:  # first of all: from here on nothing earlier may be replayed
        put_meta(connection, {"replayable_from": str(earliest)})
    shown = _shown_documents(store)
    pruned = kept = after = 0
    while True:
        with store._writing_beside() as connection:
            documents = schema.documents.c
            query = select(documents.n, documents.id).join(schema.steps, steps.step == documents.step)
            query = query.where(documents.n > after, documents.step <= limit, old, documents.text != "")
            rows = connection.execute(query.order_by(documents.n).limit(DOCUMENTS_AT_ONCE)).all()
            if not rows:
                break
            numbers = [int(row.n) for row in rows if row.id not in shown]
            _strip(connection, numbers)
        after = int(rows[-1].n)
        pruned += len(numbers)
        kept += len(rows) - len(numbers)
        advance(len(rows))
    with store._writing_beside() as connection:
        gone = select(steps.step).where(steps.step <= limit, old)
        newest = select(func.max(schema.topics.c.step)).scalar_subquery()
        table = schema.topics
        topics = connection.execute(delete(table).where(table.c.step.in_(gone), table.c.step < newest)).rowcount
        quarantined = connection.execute(delete(schema.quarantine).where(schema.quarantine.c.step.in_(gone))).rowcount
        connection.execute(delete(schema.thresholds).where(schema.thresholds.c.step.in_(gone)))
    return Pruned(pruned, kept, topics, quarantined, before, held)


def give_back_space(store: Store) -> bool:
    """Shrink the database to what it holds; False where a run keeps it busy. The freed pages are used again anyway."""
    if store._engine.dialect.name == "postgresql":
        with our_errors(store._database), store._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("VACUUM"))
        return True
    try:
        store.claim()
    except StoreError:
        return False
    with our_errors(store._database), closing(store._engine.raw_connection()) as connection:
        cursor: Any = connection.cursor()  # outside of transactions, as VACUUM wants it
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.close()
    return True


def _shown_documents(store: Store) -> set[str]:
    """The documents that alerts and stories show, or that people marked."""
    shown: set[str] = set()
    with store._reading() as connection:
        table = schema.alerts.c
        for first, headline, others in connection.execute(
            select(table.first_document, table.headline_document, table.documents)
        ):
            shown.update((first, headline), json.loads(others))
        shown.update(connection.execute(select(schema.stories.c.representative)).scalars())
        shown.update(connection.execute(select(schema.feedback.c.document)).scalars())
    return shown


def _strip(connection: Connection, numbers: list[int]) -> None:
    """Remove the texts, the evidence and the vectors of some documents, and their words from the index."""
    if not numbers:
        return
    documents = schema.documents
    these = documents.c.n.in_(numbers)
    in_sqlite = connection.dialect.name == "sqlite"
    chosen = text("SELECT n, title, text FROM documents WHERE n IN :numbers").bindparams(
        bindparam("numbers", numbers, expanding=True)
    )
    rows = [dict(row) for row in connection.execute(chosen).mappings()]
    if in_sqlite:
        # The index must be told what it forgets, since it keeps no texts of its own.
        connection.execute(
            text("INSERT INTO search (search, rowid, title, text) VALUES ('delete', :n, :title, :text)"), rows
        )
    title = func.coalesce(documents.c.title, func.substr(documents.c.text, 1, TITLE_LENGTH))
    stripped = {"title": title, "text": "", "extra": "{}", "vector": None, "vector_dtype": None}
    connection.execute(update(documents).where(these).values(stripped))
    connection.execute(update(schema.verdicts).where(schema.verdicts.c.n.in_(numbers)).values(evidence=NO_EVIDENCE))
    gone = sum(len(row["text"]) for row in rows)
    rows = [dict(row) for row in connection.execute(chosen).mappings()]
    if in_sqlite:
        connection.execute(text("INSERT INTO search (rowid, title, text) VALUES (:n, :title, :text)"), rows)
        search.merge(connection, gone)
    else:
        told = text("UPDATE search SET words = CAST(:words AS tsvector) WHERE n = :n")
        connection.execute(told, search.rows(rows))
