"""Words to documents: SQLite's FTS5 over the texts that lie in `documents` (nothing is stored twice)."""

from __future__ import annotations

from sqlalchemy import Connection, text


def create(connection: Connection) -> None:
    """Make the index and the trigger that feeds it."""
    if connection.dialect.name != "sqlite":
        return
    connection.execute(
        text(
            "CREATE VIRTUAL TABLE search USING fts5(title, text, content='documents', content_rowid='n', "
            "tokenize='unicode61 remove_diacritics 2')"
        )
    )
    connection.execute(
        text(
            "CREATE TRIGGER documents_to_search AFTER INSERT ON documents BEGIN "
            "INSERT INTO search (rowid, title, text) VALUES (new.n, new.title, new.text); END"
        )
    )


def find(connection: Connection, words: str, limit: int, story: str | None = None) -> list[int]:
    """The numbers of the documents that have all the words, best first; of one story, where it is named."""
    query = " ".join('"' + word.replace('"', '""') + '"' for word in words.replace("\0", " ").split())
    if not query:
        return []
    inside = "" if story is None else "AND rowid IN (SELECT n FROM verdicts WHERE story = :story) "
    statement = text(f"SELECT rowid FROM search WHERE search MATCH :query {inside}ORDER BY rank LIMIT :limit")
    given = {"query": query, "limit": limit} | ({} if story is None else {"story": story})
    return [int(row[0]) for row in connection.execute(statement, given)]
