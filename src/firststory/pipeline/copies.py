"""What came before and comes again: ids delivered twice, texts posted twice, texts with a few words changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from firststory.alerts.memory import Remembered
from firststory.pipeline.seen import Seen, fingerprint, number_of
from firststory.records import Document

NEAR_COSINE, NEAR_OVERLAP, FEW_TERMS = 0.9, 0.9, 10
"""A near copy has this cosine with an earlier document and shares this part of all their terms (Jaccard); texts of
fewer terms are too short to tell a copy from an update."""


Earlier = Callable[[Sequence[int]], Mapping[int, str]]
"""From fingerprints of texts to the ids of the first documents that had them, where there are any."""


class Copies:
    """Knows documents again.

    Parameters
    ----------
    memory : int
        How many ids and texts are remembered without a store.
    """

    def __init__(self, memory: int) -> None:
        self.ids = Seen(memory)
        self.texts = Seen(memory)
        self.firsts = Seen(memory)
        """The first of its kind for every near copy."""

    def not_redelivered(self, documents: Sequence[Document], known: Collection[str]) -> list[Document]:
        """The documents whose id is new; `known` are ids that the store has already."""
        fresh = []
        for document in documents:
            number = number_of(document.id)
            if document.id not in known and self.ids.get(number) is None:
                self.ids.add(number, "")
                fresh.append(document)
        return fresh

    def exact(
        self, documents: Sequence[Document], numbers: Mapping[str, int], earlier: Earlier | None = None
    ) -> dict[str, str]:
        """The documents whose text came before, each with the id of the first that had it.

        `numbers` are the fingerprints of the texts by the ids of the documents. Texts that are no longer remembered are
        asked for with `earlier`, where there is a store that has them.
        """
        unknown = [number for d in documents if self.texts.get(number := numbers[d.id]) is None]
        stored = earlier(unknown) if earlier and unknown else {}
        copies = {}
        for document in documents:
            number = numbers[document.id]
            first = self.texts.get(number) or stored.get(number)
            if first is None:
                self.texts.add(number, document.id)
            else:
                copies[document.id] = first
        return copies

    def near(self, looked_up: Iterable[tuple[Remembered, Sequence[tuple[Remembered, float]]]]) -> dict[str, str]:
        """Of documents with their nearest: those that are an earlier one but for a few words, and which it is."""
        copies = {}
        for one, nearest in looked_up:
            if len(one.columns) < FEW_TERMS:
                continue
            for earlier, similarity in nearest:
                if similarity >= NEAR_COSINE and _overlap(one.columns, earlier.columns) >= NEAR_OVERLAP:
                    first = self.firsts.get(number_of(earlier.id)) or earlier.id
                    self.firsts.add(number_of(one.id), first)
                    copies[one.id] = first
                    break
        return copies


def text_number(document: Document) -> int:
    """The number by which the text of a document is known when it comes again."""
    return fingerprint(full_text(document))


def full_text(document: Document) -> str:
    """What is read of a document: its text, with the title before it where the text does not begin with it."""
    title = document.title
    if not title or document.text.startswith(title):
        return document.text
    return f"{title}\n{document.text}"


def _overlap(one: Any, other: Any) -> float:
    """The part of all terms of two documents that both have."""
    both = np.intersect1d(one, other, assume_unique=True).size
    return float(both / max(len(one) + len(other) - both, 1))
