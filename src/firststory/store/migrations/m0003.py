"""Version 3: where merged stories went, and the hours in which the documents of a story came."""

from __future__ import annotations

from sqlalchemy import Connection, text

CHANGES = (
    "ALTER TABLE stories ADD COLUMN merged_into VARCHAR",
    "ALTER TABLE stories ADD COLUMN hours TEXT",
    # Until now the parent of a merged story was the one that it went into.
    "UPDATE stories SET merged_into = parent, parent = NULL WHERE status = 'merged'",
    "CREATE INDEX ix_stories_merged_into ON stories (merged_into)",
)


def upgrade(connection: Connection) -> None:
    """Add the columns."""
    for change in CHANGES:
        connection.execute(text(change))
