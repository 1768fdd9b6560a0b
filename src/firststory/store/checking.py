"""Is a store whole? Everything that must fit together is looked at; nothing is changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from sqlalchemy import Connection, exists, func, select, text

from firststory.errors import StateError, StoreError
from firststory.state import unpack_state
from firststory.store import schema, search
from firststory.store.copying import in_batches
from firststory.store.meta import get_meta
from firststory.store.store import Store


class Finding(NamedTuple):
    """What one check found."""

    check: str
    problem: str | None
    """None: all is well."""
    detail: str = ""
    """What was looked at, where all is well."""


def check_store(store: Store, begin: Callable[[str], None] = lambda check: None) -> Iterator[Finding]:
    """One finding for each check, as it is done; `begin` is called with the name of each."""
    for name, check in CHECKS.items():
        begin(name)
        try:
            problem, detail = check(store)
        except StoreError as error:
            problem, detail = error.without_owner, ""
        yield Finding(name, problem, detail)


Found = tuple[str | None, str]


def _file(store: Store) -> Found:
    with store._reading() as connection:
        if connection.dialect.name != "sqlite":
            return None, "kept by the server"
        said = [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check(5)"))]
    return (None, "every page") if said == ["ok"] else ("; ".join(said), "")


def _references(store: Store) -> Found:
    """Every row that names another names one that is there."""
    missing = []
    with store._reading() as connection:
        for table in schema.metadata.sorted_tables:
            for key in table.foreign_keys:
                column, wanted = key.parent, key.column
                query = select(func.count()).select_from(table).where(column.is_not(None))
                query = query.where(~exists(select(wanted).where(wanted == column)))
                if number := int(connection.execute(query).scalar() or 0):
                    missing.append(f"{number:,} rows of {table.name} name {wanted.table.name} that are not there")
        documents, verdicts = schema.documents.c, schema.verdicts.c
        query = select(func.count()).select_from(schema.documents)
        if number := int(
            connection.execute(query.where(~exists(select(verdicts.n).where(verdicts.n == documents.n)))).scalar() or 0
        ):
            missing.append(f"{number:,} documents have no verdict")
        for name in ("first_document", "headline_document"):
            column = schema.alerts.c[name]
            query = (
                select(func.count())
                .select_from(schema.alerts)
                .where(~exists(select(documents.id).where(documents.id == column)))
            )
            if number := int(connection.execute(query).scalar() or 0):
                missing.append(f"{number:,} alerts have lost their {name.replace('_', ' ')}")
    return ("; ".join(missing), "") if missing else (None, "every row that names another")


def _steps(store: Store) -> Found:
    """No step is missing, and the counts of the steps add up to the totals."""
    with store._reading() as connection:
        totals = Counter(json.loads(get_meta(connection, "totals") or "{}"))
        summed: Counter[str] = Counter()
        expected = 0
        for rows in in_batches(connection, schema.steps):
            for row in rows:
                if row["step"] != expected:
                    return f"step {expected} is missing", ""
                expected += 1
                summed.update(json.loads(row["counts"]))
    different = {name for name in totals | summed if totals[name] != summed[name]}
    if different:
        return f"the counts of the steps do not add up to the totals: {', '.join(sorted(different))}", ""
    return None, f"{expected:,} steps"


def _models(store: Store) -> Found:
    """Every saved model is whole, and there is one to go on from."""
    steps, last = store.saved_steps(), store.last_step()
    for step in steps:
        try:
            unpack_state(store.state(step))
        except StateError as error:
            return error.without_owner, ""
        if step > last:
            return f"a model was saved after step {step}, but the last step is {last}", ""
    if store.replayable_from() >= 0 and not any(step >= store.replayable_from() for step in steps):
        return "there is no model to go on from", ""
    return None, f"after step {' and '.join(map(str, steps))}" if steps else "none saved yet"


def _search(store: Store) -> Found:
    """The full-text index has the words of the documents, and no others."""
    with store._reading() as connection:
        if connection.dialect.name == "postgresql":
            wrong = sum(_wrong_words(connection, rows) for rows in in_batches(connection, schema.documents))
            return (f"the index does not have the words of {wrong:,} documents", "") if wrong else (None, "every word")
        indexed = connection.execute(text("SELECT count(*) FROM search_docsize")).scalar()
        documents = connection.execute(select(func.count()).select_from(schema.documents)).scalar()
    if indexed != documents:
        return f"the index has {indexed:,} documents of {documents:,}", ""
    # Comparing every word needs the right to write, and nobody else who does.
    with suppress(StoreError), Store(store.url, create=False) as writer:
        writer.claim()
        return _compare_words(writer)
    return None, "the number of documents; their words are compared when nothing else writes"


def _compare_words(store: Store) -> Found:
    try:
        with store._writing() as connection:
            connection.execute(text("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)"))
    except StoreError:
        return "the index does not have the words of the documents", ""
    return None, "every word"


def _wrong_words(connection: Connection, documents: object) -> int:
    rows = search.rows(documents)  # type: ignore[arg-type]
    query = text(
        "SELECT count(*) FROM unnest(CAST(:numbers AS bigint[]), CAST(:words AS text[])) AS told (n, words) "
        "LEFT JOIN search ON search.n = told.n WHERE search.words IS DISTINCT FROM CAST(told.words AS tsvector)"
    )
    given = {"numbers": [row["n"] for row in rows], "words": [row["words"] for row in rows]}
    return int(connection.execute(query, given).scalar() or 0)


CHECKS: dict[str, Callable[[Store], Found]] = {
    "file": _file,
    "references": _references,
    "steps": _steps,
    "models": _models,
    "search": _search,
}
