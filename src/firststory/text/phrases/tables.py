"""The tables that a reader learns into: made, asked, saved, loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from firststory.arrays import Array, Ints
from firststory.errors import StateError
from firststory.kernels.phrases import layout as k
from firststory.kernels.phrases.lines import BINS
from firststory.kernels.phrases.tables import WAYS
from firststory.state import State

FEW_KEYS = 6
"""Up to so many, one after the other is quicker."""
SHORT_WORDS = 1 << 10
"""Whose neighbours are counted."""


def new_tables(capacity: int) -> k.Tables:
    """Empty tables for `capacity` words, a power of two."""
    names = capacity // 2
    return k.Tables(
        clock=np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
        words=_table(capacity, 4),
        word_marks=np.zeros(capacity, np.uint32),
        names=_table(names, 9),
        name_texts=np.zeros((names, k.NAME_TEXT), np.uint16),
        holders=np.zeros(names, np.uint64),
        counts=_table(2 * capacity),
        grams=_table(capacity),
        seen=np.zeros((capacity // 8, 4), np.uint64),
        neighbours=_table(SHORT_WORDS, 1 + 2 * BINS),
    )


def _table(slots: int, columns: int = 1) -> k.Table:
    return k.Table(np.zeros(slots, np.uint64), np.zeros((slots, columns), np.float32), np.zeros(slots, np.uint32))


def slot_of(table: k.Table, key: int) -> int:
    """The slot of a key, or -1: what the kernel `find` does, for a single question."""
    base = (key & (table.keys.size // WAYS - 1)) * WAYS
    bucket = table.keys[base : base + WAYS].tolist()
    return base + bucket.index(key) if key and key in bucket else -1


def count_of(tables: k.Tables, table: k.Table, key: int, column: int = 0) -> float:
    """A count of a key, faded to now; 0 where it is not known."""
    slot = slot_of(table, key)
    return 0.0 if slot < 0 else float(table.counts[slot, column]) / float(tables.clock[k.UNIT_NOW])


def counts_of(tables: k.Tables, table: k.Table, keys: Sequence[int], column: int = 0) -> list[float]:
    """`count_of` of many keys at one go."""
    if len(keys) < FEW_KEYS:
        return [count_of(tables, table, key, column) for key in keys]
    slots = slots_of(table, keys)
    counts = table.counts[slots, column].astype(np.float64) / tables.clock[k.UNIT_NOW]
    found: list[float] = np.where(slots >= 0, counts, 0.0).tolist()
    return found


def slots_of(table: k.Table, keys: Sequence[int]) -> Ints:
    """`slot_of` of many keys at one go."""
    numbers = np.array(keys, dtype=np.uint64)
    base = (numbers & np.uint64(table.keys.size // WAYS - 1)).astype(np.int64) * WAYS
    is_there = table.keys[base[:, None] + np.arange(WAYS)] == numbers[:, None]
    found: Ints = np.where(is_there.any(axis=1) & (numbers != 0), base + is_there.argmax(axis=1), -1)
    return found


def name_text(tables: k.Tables, key: int) -> str:
    """How a name mostly reads; empty where that is not known."""
    slot = slot_of(tables.names, key)
    if slot < 0 or tables.names.counts[slot, k.TEXT_LEAD] <= 0.0:
        return ""
    return str(tables.name_texts[slot].tobytes().decode("utf-16-le", "replace")).rstrip("\0")


def tables_state(tables: k.Tables) -> State:
    """The tables as nested dicts of arrays."""
    return {
        name: dict(part._asdict()) if isinstance(part, k.Table) else part for name, part in tables._asdict().items()
    }


def tables_from(state: State, capacity: int, owner: str) -> k.Tables:
    """Undo `tables_state`; every array must have the shape and type that the capacity asks for."""
    empty = new_tables(capacity)
    made: dict[str, Any] = {}
    for name, part in empty._asdict().items():
        given = state.get(name)
        if isinstance(part, k.Table):
            inside = given if isinstance(given, dict) else {}
            made[name] = k.Table(*(_checked(inside.get(n), a, f"{name}/{n}", owner) for n, a in part._asdict().items()))
        else:
            made[name] = _checked(given, part, name, owner)
    return k.Tables(**made)


def _checked(given: object, like: Array, name: str, owner: str) -> Array:
    if not isinstance(given, np.ndarray) or given.shape != like.shape or given.dtype != like.dtype:
        raise StateError(
            owner=owner,
            parameter=name,
            allowed=f"an array of {like.dtype} and shape {like.shape}",
            received=f"{given.dtype}, {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__,
            remedy="The state is damaged, or of another capacity.",
        )
    return np.ascontiguousarray(given).copy()
