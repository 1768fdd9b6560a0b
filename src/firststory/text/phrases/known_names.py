"""What the tables know of the names of some documents, looked up at one go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from firststory.kernels.phrases import layout as k
from firststory.text.phrases.kinds import kind_by_counts
from firststory.text.phrases.records import Kind
from firststory.text.phrases.tables import name_text, slots_of

_UNKNOWN = [0.0] * 9, 0, -1


class KnownNames:
    """Counts and holders of names by their keys. Good until the reader learns again.

    Parameters
    ----------
    tables : Tables
    keys : iterable of int
        Those that will be asked for; others are looked up when they are.
    """

    def __init__(self, tables: k.Tables, keys: Iterable[int]) -> None:
        self._tables = tables
        self._facts: dict[int, tuple[list[float], int, int]] = {}
        self._look_up(list(dict.fromkeys(keys)))

    def counts(self, key: int) -> list[float]:
        """Its counts, faded to now: those of the table of names."""
        return self._of(key)[0]

    def is_known(self, key: int) -> bool:
        """Whether the table has it."""
        return self._of(key)[2] >= 0

    def holder(self, key: int) -> int:
        """The name that mostly ends in this one."""
        return self._of(key)[1]

    def kind(self, key: int, votes: Sequence[float] = (0.0, 0.0, 0.0), mentions: int = 0) -> Kind:
        """What a name is; `votes` and `mentions` are those of a document, which may have been learnt or not."""
        counts, holder, slot = self._of(key)
        return kind_by_counts(self._tables, key, counts, holder if slot >= 0 else None, votes, mentions)

    def text(self, key: int) -> str:
        """How it mostly reads; empty where that is not known."""
        return name_text(self._tables, key) if self.is_known(key) else ""

    def _of(self, key: int) -> tuple[list[float], int, int]:
        facts = self._facts.get(key)
        if facts is None:
            self._look_up([key])
            facts = self._facts[key]
        return facts

    def _look_up(self, keys: list[int]) -> None:
        if not keys:
            return
        tables = self._tables
        slots = slots_of(tables.names, keys)
        counts = (tables.names.counts[slots].astype(np.float64) / tables.clock[k.UNIT_NOW]).tolist()
        for key, slot, own, holder in zip(keys, slots.tolist(), counts, tables.holders[slots].tolist(), strict=True):
            self._facts[key] = (own, holder, slot) if slot >= 0 else _UNKNOWN
