"""Settings that someone asked to change while a stream runs: its next step takes them up, whichever process runs it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from firststory.store import codec
from firststory.store.meta import get_meta, put_meta
from firststory.store.store import WANTED_SETTINGS, Store


def ask_for(store: Store, settings: Mapping[str, Any]) -> None:
    """Ask for other values of some settings; they are checked already. Later words replace earlier ones."""
    with store._writing_beside() as connection:
        before = json.loads(get_meta(connection, WANTED_SETTINGS) or "{}")
        put_meta(connection, {WANTED_SETTINGS: codec.to_json(before | dict(settings))})


def wanted(store: Store) -> dict[str, Any]:
    """What was asked for and not taken up yet."""
    with store._reading() as connection:
        return dict(json.loads(get_meta(connection, WANTED_SETTINGS) or "{}"))


def taken_up(store: Store, settings: Mapping[str, Any]) -> None:
    """These were taken up; what was asked for meanwhile stays."""
    with store._writing() as connection:
        left = json.loads(get_meta(connection, WANTED_SETTINGS) or "{}")
        left = {name: value for name, value in left.items() if settings.get(name) != value}
        put_meta(connection, {WANTED_SETTINGS: codec.to_json(left)})
