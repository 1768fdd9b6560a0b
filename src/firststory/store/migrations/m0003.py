"""Version 3: SQLite's full-text index is fed once a step, not by a trigger for every document."""

from __future__ import annotations

from sqlalchemy import Connection, text


def upgrade(connection: Connection) -> None:
    """Drop the trigger."""
    if connection.dialect.name == "sqlite":
        connection.execute(text("DROP TRIGGER documents_to_search"))
