"""Forward-only, numbered changes of the schema: `m0001.py` brings an empty database to version 1, and so on.

Each has `upgrade(connection)`. A released migration is never changed; it names its tables itself instead of using
`schema.py`, which moves on.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sqlalchemy import Connection


def upgrade(connection: Connection, version: int, target: int) -> None:
    """Bring the schema from one version to a later one."""
    for number in range(version + 1, target + 1):
        module: Any = import_module(f"firststory.store.migrations.m{number:04d}")
        module.upgrade(connection)
