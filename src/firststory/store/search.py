"""Words to documents: SQLite's FTS5 over the texts that lie in `documents`, or PostgreSQL's tsvector beside them.

Both know the same words: runs of letters and digits, without regard to case and accents. FTS5's `unicode61` cuts them
by itself; for PostgreSQL they are cut here in the same way, because its own parsers depend on the server's locale.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import regex
from sqlalchemy import Connection, text

from firststory.store.driver import execute

LONGEST_WORD = 500
"""Characters of a word that PostgreSQL keeps: a lexeme has less than 2,048 bytes."""
MOST_BYTES = 900_000
"""Of the words of one document; a tsvector has less than a mebibyte. What a text has beyond it is not found."""
MOST_PLACES = 256
"""Places of one word that PostgreSQL keeps."""
LEAST_PAGES = 8
"""That are merged whenever documents come: sixteen parts of one document each take some such rounds."""
CHARACTERS_OF_A_PAGE = 500
"""So many are written for one page that is merged: some times what they take in the index, so that merging keeps up."""
_WORD = regex.compile(r"[\p{L}\p{N}\p{Co}]+")


def create(connection: Connection) -> None:
    """Make the index; in SQLite also the trigger that feeds it."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("CREATE TABLE search (n BIGINT PRIMARY KEY REFERENCES documents (n), words TSVECTOR NOT NULL)")
        )
        connection.execute(text("CREATE INDEX ix_search_words ON search USING GIN (words)"))
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


def index(connection: Connection, first: int, last: int) -> None:
    """Take the documents with these numbers and all between them into SQLite's index.

    One statement for all of them: FTS5 writes its index out at the end of every statement that a trigger makes.
    """
    statement = "INSERT INTO search (rowid, title, text) SELECT n, title, text FROM documents WHERE n BETWEEN ? AND ?"
    execute(connection, statement, (first, last))


def merge(connection: Connection, characters: int) -> None:
    """Go on merging the parts of SQLite's index, by so much as characters were written to it.

    Left to itself, FTS5 would merge seldom and then hundreds of pages, while one document waits for it.
    """
    pages = max(LEAST_PAGES, characters // CHARACTERS_OF_A_PAGE)
    execute(connection, "INSERT INTO search (search, rank) VALUES ('merge', ?)", (pages,))


def find(connection: Connection, words: str, limit: int, story: str | None = None) -> list[int]:
    """The numbers of the documents that have all the words, best first; of one story, where it is named.

    What is written together ("e-mail") is looked for together; no character means anything else than itself.
    """
    words = words.replace("\0", " ")
    if connection.dialect.name == "postgresql":
        query = _tsquery(words)
        number, hit = "n", "words @@ CAST(:query AS tsquery)"
        order = "ts_rank_cd(words, CAST(:query AS tsquery), 1) DESC, n"
    else:
        query = " ".join('"' + word.replace('"', '""') + '"' for word in words.split() if cut(word))
        number, hit, order = "rowid", "search MATCH :query", "rank, rowid"
    if not query:
        return []
    inside = "" if story is None else f"AND {number} IN (SELECT n FROM verdicts WHERE story = :story) "
    statement = text(f"SELECT {number} FROM search WHERE {hit} {inside}ORDER BY {order} LIMIT :limit")
    given = {"query": query, "limit": limit} | ({} if story is None else {"story": story})
    return [int(row[0]) for row in connection.execute(statement, given)]


def rows(documents: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What PostgreSQL's index has of some rows of `documents`."""
    return [{"n": row["n"], "words": _tsvector(row["title"], row["text"])} for row in documents]


def cut(given: str) -> list[str]:
    """The words of a text as both databases know them.

    Examples
    --------
    >>> cut("Überschwemmung: E-Mail an R2-D2!")
    ['uberschwemmung', 'e', 'mail', 'an', 'r2', 'd2']
    """
    folded = given.lower() if given.isascii() else given.translate(_FOLDED)
    return [word[:LONGEST_WORD] for word in _WORD.findall(folded)]


class _Folded(dict[int, int | None]):
    """Characters without case and accents, each worked out when it is first met."""

    def __missing__(self, code: int) -> int | None:
        if 768 <= code <= 817:  # the combining accents; other marks part words
            found = None
        else:
            character = chr(code)
            # One character for one, where there is such a form.
            character = next((form for form in (character.casefold(), character.lower()) if len(form) == 1), character)
            base = unicodedata.normalize("NFD", character)[0]
            found = ord(base.lower() if base.isascii() else character)  # FTS5 knows the accents of Latin letters only
        self[code] = found
        return found


_FOLDED = _Folded()


def _tsvector(title: str | None, body: str) -> str:
    """The words with their places, as PostgreSQL writes them; a gap parts title and text, so no phrase spans both."""
    places: dict[str, list[str]] = {}
    place, size = 0, 0
    for part in (title or "", body):
        for word in cut(part):
            place += 1
            if word not in places:
                size += 4 * len(word) + 12
            at = places.setdefault(word, [])
            if len(at) < MOST_PLACES:
                size += 2
                at.append(str(place))
            if size > MOST_BYTES:
                break
        place += 1
    return " ".join(f"'{word}':{','.join(at)}" for word, at in places.items())


def _tsquery(words: str) -> str:
    phrases = [cut(word) for word in words.split()]
    return " & ".join("(" + " <-> ".join(f"'{word}'" for word in phrase) + ")" for phrase in phrases if phrase)
