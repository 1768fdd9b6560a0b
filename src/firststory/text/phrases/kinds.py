"""Whether a name is a person, a place or an organisation: by all that stood beside it so far."""

from __future__ import annotations

from collections.abc import Sequence

from firststory.kernels.phrases import layout as k
from firststory.text.phrases.records import KINDS, Kind
from firststory.text.phrases.tables import slot_of

LEAST_VOTES = 1.0
LEAST_SHARE = 0.15
"""Votes per mention."""
UPPER_TO_LOWER = 4.0
"""A surname inherits the kind of the names that end in it only if it is hardly ever written small."""


def kind_of(tables: k.Tables, key: int, votes: Sequence[float] = (0.0, 0.0, 0.0), mentions: int = 0) -> Kind:
    """The kind of a name; `votes` and `mentions` are those of a document that was not learnt."""
    unit = float(tables.clock[k.UNIT_NOW])
    slot = slot_of(tables.names, key)
    counts = [0.0] * 9 if slot < 0 else [count / unit for count in tables.names.counts[slot].tolist()]
    summed = [counts[k.PERSON + i] + votes[i] for i in range(3)]
    best = max(range(3), key=summed.__getitem__)
    if summed[best] >= LEAST_VOTES and summed[best] >= LEAST_SHARE * (counts[k.MENTIONS] + mentions):
        return KINDS[best]
    if slot >= 0 and counts[k.HOLDER_LEAD] > 1.0 and _is_mostly_upper(tables, key):
        holder = int(tables.holders[slot])
        return kind_of(tables, holder) if holder != key else "other"
    return "other"


def _is_mostly_upper(tables: k.Tables, key: int) -> bool:
    slot = slot_of(tables.words, key)
    counts = tables.words.counts
    return slot < 0 or bool(counts[slot, k.IN_UPPER] > UPPER_TO_LOWER * counts[slot, k.IN_LOWER])
