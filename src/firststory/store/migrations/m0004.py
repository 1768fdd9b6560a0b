"""Version 4: SQLite's full-text index merges its parts a little at a time, as `search.merge` asks for it.

FTS5 writes one part for every step. By itself it merges four of a size as soon as it has them, hundreds of pages while
a document waits, or sixteen at once where it fell behind. A search looks into some dozens of parts instead of some.
"""

from __future__ import annotations

from sqlalchemy import Connection, text


def upgrade(connection: Connection) -> None:
    """Merge nothing unasked, sixteen parts together, and all at once only where there are many more."""
    if connection.dialect.name == "sqlite":
        for option, parts in (("automerge", 0), ("usermerge", 16), ("crisismerge", 64)):
            connection.execute(text(f"INSERT INTO search (search, rank) VALUES ('{option}', {parts})"))
