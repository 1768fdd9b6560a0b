"""Small facts about a store by their key."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from firststory.store import schema
from firststory.store.driver import rows_of
from firststory.store.row_writing import replace_rows


def get_meta(connection: Connection, key: str) -> str | None:
    found = rows_of(connection, "SELECT value FROM meta WHERE key = ?", (key,))
    return str(found[0][0]) if found else None


def put_meta(connection: Connection, values: Mapping[str, str]) -> None:
    replace_rows(connection, schema.meta, [{"key": key, "value": value} for key, value in values.items()])
