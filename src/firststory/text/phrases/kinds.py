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
LEAST_LEAD, LEAD_SHARE = 2.0, 0.2
"""A surname is a person if the name that mostly ends in it is one, and it is hardly ever written small."""


def kind_of(tables: k.Tables, key: int) -> Kind:
    """The kind of a name."""
    unit = float(tables.clock[k.UNIT_NOW])
    slot = slot_of(tables.names, key)
    counts = [0.0] * 9 if slot < 0 else [count / unit for count in tables.names.counts[slot].tolist()]
    return kind_by_counts(tables, key, counts, int(tables.holders[slot]) if slot >= 0 else None)


def kind_by_counts(
    tables: k.Tables,
    key: int,
    counts: Sequence[float],
    holder: int | None,
    votes: Sequence[float] = (0.0, 0.0, 0.0),
    mentions: int = 0,
) -> Kind:
    """The kind of a name by its counts and its holder, None where it is not known.

    `votes` and `mentions` are those of a document, which may have been learnt or not.
    """
    person, place, organisation = votes
    summed = max(counts[k.PERSON], person), max(counts[k.PLACE], place), max(counts[k.ORGANISATION], organisation)
    most = max(summed)
    if most >= LEAST_VOTES and most >= LEAST_SHARE * max(counts[k.MENTIONS], mentions):
        return KINDS[summed.index(most)]
    lead = counts[k.HOLDER_LEAD]
    if holder is not None and lead >= max(LEAST_LEAD, LEAD_SHARE * counts[k.HOLDERS]) and _is_mostly_upper(tables, key):
        return "person" if holder != key and kind_of(tables, holder) == "person" else "other"
    return "other"


def _is_mostly_upper(tables: k.Tables, key: int) -> bool:
    slot = slot_of(tables.words, key)
    counts = tables.words.counts
    return slot < 0 or bool(counts[slot, k.IN_UPPER] > UPPER_TO_LOWER * counts[slot, k.IN_LOWER])
