"""What came before and comes again: ids delivered twice, texts posted twice, texts with a few words changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Self

import numpy as np

from firststory.arrays import Array
from firststory.pipeline.fingerprints import Seen, TextFingerprints, hash_of
from firststory.pipeline.in_progress import InProgress
from firststory.records import Document
from firststory.state import State

NEAR_COSINE, NEAR_OVERLAP, NEAR_MIN_TERMS = 0.9, 0.9, 10
"""A near duplicate has this cosine with an earlier document and shares this part of all their terms (Jaccard); texts
of fewer terms are too short to tell a copy from an update."""

FindEarlier = Callable[[Sequence[int]], Mapping[int, str]]
"""From fingerprints of texts to the ids of the first documents that had them, where there are any."""


class Duplicates:
    """Knows documents again.

    Parameters
    ----------
    window : int
        How many ids and texts are remembered without a store.
    """

    def __init__(self, window: int) -> None:
        self.ids = Seen(window)
        # A document with a title is known in two ways: with it, and by its text alone.
        self.texts = Seen(2 * window)
        self.firsts = Seen(window)
        """The first of its kind for every near duplicate."""

    def drop_redelivered(self, documents: Sequence[Document], known: Collection[str]) -> list[Document]:
        """The documents whose id is new; `known` are ids that the store has already."""
        fresh = []
        for document in documents:
            number = hash_of(document.id)
            if document.id not in known and self.ids.get(number) is None:
                self.ids.add(number, "")
                fresh.append(document)
        return fresh

    def mark_exact(self, documents: Sequence[InProgress], find_earlier: FindEarlier | None = None) -> None:
        """Set `duplicate_of` where a text came before, to the id of the first document that had it.

        Texts that are no longer remembered are looked for with `find_earlier`, where there is a store that has them.
        """
        unknown = [one.fingerprints.whole for one in documents if self._first(one.fingerprints) is None]
        stored = find_earlier(unknown) if find_earlier and unknown else {}
        for one in documents:
            number = one.fingerprints
            one.duplicate_of = self._first(number) or stored.get(number.whole)
            if one.duplicate_of is None:
                self.texts.add(number.whole, one.document.id)
                if number.text_alone != number.whole:
                    self.texts.add(number.text_alone, one.document.id)

    def _first(self, number: TextFingerprints) -> str | None:
        """The id of the first remembered document with this text."""
        return self.texts.get(number.whole) or (
            self.texts.get(number.text_alone) if number.is_known_without_title else None
        )

    def mark_near(self, documents: Sequence[InProgress]) -> int:
        """Set `duplicate_of` of judged documents that are an earlier one but for a few words; how many there are.

        Their `nearest` is then the one document that shows it.
        """
        found = 0
        for one in documents:
            if one.remembered is None or len(one.remembered.columns) < NEAR_MIN_TERMS:
                continue
            for earlier, similarity in one.nearest:
                if similarity >= NEAR_COSINE and _overlap(one.remembered.columns, earlier.columns) >= NEAR_OVERLAP:
                    first = self.firsts.get(hash_of(earlier.id)) or earlier.id
                    self.firsts.add(hash_of(one.document.id), first)
                    # The first itself is named where it is among the nearest; else the copy of it that was found.
                    shown = next((pair for pair in one.nearest if pair[0].id == first), (earlier, similarity))
                    one.duplicate_of, one.nearest = first, [shown]
                    found += 1
                    break
        return found

    def get_state(self) -> State:
        """All of it."""
        return {name: getattr(self, name).get_state() for name in ("ids", "texts", "firsts")}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        duplicates = cls(0)
        for name in ("ids", "texts", "firsts"):
            setattr(duplicates, name, Seen.from_state(state[name]))
        return duplicates


def _overlap(one: Array, other: Array) -> float:
    """The part of all terms of two documents that both have."""
    both = np.intersect1d(one, other, assume_unique=True).size
    return float(both / max(len(one) + len(other) - both, 1))
