"""Version 4: the number by which a text is known when it comes again."""

from __future__ import annotations

from sqlalchemy import Connection, text


def upgrade(connection: Connection) -> None:
    """Add the column. What lies in `documents` already is numbered by the next run."""
    connection.execute(text("ALTER TABLE documents ADD COLUMN fingerprint BIGINT"))
    connection.execute(text("CREATE INDEX ix_documents_fingerprint ON documents (fingerprint)"))
