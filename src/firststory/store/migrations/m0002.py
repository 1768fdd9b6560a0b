"""Version 2: documents keep the vector that they brought, or that an encoder made of them."""

from __future__ import annotations

from sqlalchemy import Connection, text

BYTES = {"sqlite": "BLOB", "postgresql": "BYTEA"}


def upgrade(connection: Connection) -> None:
    """The numbers as bytes, and which bytes they are."""
    connection.execute(text(f"ALTER TABLE documents ADD COLUMN vector {BYTES[connection.dialect.name]}"))
    connection.execute(text("ALTER TABLE documents ADD COLUMN vector_dtype VARCHAR"))
