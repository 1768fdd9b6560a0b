"""Version 4: SQLite's full-text index merges its parts less often, and never all of them while a document waits.

FTS5 writes one part for every step and merges four of a size as soon as it has them, or sixteen at once where it fell
behind: a tenth of what writing an article took. A search looks into some dozens of parts instead of some.
"""

from __future__ import annotations

from sqlalchemy import Connection, text


def upgrade(connection: Connection) -> None:
    """Let sixteen parts come together, and many more before they have to be merged at once."""
    if connection.dialect.name == "sqlite":
        for option, parts in (("automerge", 16), ("crisismerge", 64)):
            connection.execute(text(f"INSERT INTO search (search, rank) VALUES ('{option}', {parts})"))
