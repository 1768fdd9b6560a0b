"""What came before and comes again: ids delivered twice, texts posted twice, texts with a few words changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from firststory.alerts.memory import Remembered
from firststory.pipeline.seen import Seen, fingerprint, fingerprints, number_of
from firststory.records import Document

NEAR_COSINE, NEAR_OVERLAP, FEW_TERMS = 0.9, 0.9, 10
"""A near copy has this cosine with an earlier document and shares this part of all their terms (Jaccard); texts of
fewer terms are too short to tell a copy from an update."""

SPEAKS_FOR_ITSELF = 80
"""Letters, with one space between words, from which on a text is known again whatever title stands above it."""


class NearCopy(NamedTuple):
    """What a document is nearly a copy of: the id of the first of its kind, and the earlier one that shows it."""

    first: str
    like: Remembered
    similarity: float


class Copies:
    """Knows documents again.

    Parameters
    ----------
    memory : int
        How many ids and texts are remembered.
    """

    def __init__(self, memory: int) -> None:
        self.ids = Seen(memory)
        # A document with a title is known in two ways: with it, and by its text alone.
        self.texts = Seen(2 * memory)
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

    def exact(self, documents: Sequence[Document]) -> dict[str, str]:
        """The documents whose text came before, each with the id of the first that had it.

        The title may be another or be gone. But where the text is short the title belongs to it: feeds repeat
        "Read more" under every title.
        """
        copies = {}
        for document in documents:
            title = title_before(document)
            if not title:
                number = alone = fingerprint(document.text)
                first = self.texts.get(number)
            else:
                number, alone, letters = fingerprints(title, document.text)
                first = self.texts.get(number) or (self.texts.get(alone) if letters >= SPEAKS_FOR_ITSELF else None)
            if first is None:
                self.texts.add(number, document.id)
                if alone != number:
                    self.texts.add(alone, document.id)
            else:
                copies[document.id] = first
        return copies

    def near(self, looked_up: Iterable[tuple[Remembered, Sequence[tuple[Remembered, float]]]]) -> dict[str, NearCopy]:
        """Of documents with their nearest: those that are an earlier one but for a few words, and which it is."""
        copies = {}
        for one, nearest in looked_up:
            if len(one.columns) < FEW_TERMS:
                continue
            for earlier, similarity in nearest:
                if similarity >= NEAR_COSINE and _overlap(one.columns, earlier.columns) >= NEAR_OVERLAP:
                    first = self.firsts.get(number_of(earlier.id)) or earlier.id
                    self.firsts.add(number_of(one.id), first)
                    # The first itself is named where it is among the nearest; else the copy of it that was found.
                    itself = next((pair for pair in nearest if pair[0].id == first), (earlier, similarity))
                    copies[one.id] = NearCopy(first, *itself)
                    break
        return copies


def full_text(document: Document) -> str:
    """What is read of a document: its text, with the title before it where the text does not begin with it."""
    title = title_before(document)
    return f"{title}\n{document.text}" if title else document.text


def title_before(document: Document) -> str:
    """The title, where it is read besides the text."""
    title = document.title
    return "" if not title or document.text.startswith(title) else title


def _overlap(one: Any, other: Any) -> float:
    """The part of all terms of two documents that both have."""
    both = np.intersect1d(one, other, assume_unique=True).size
    return float(both / max(len(one) + len(other) - both, 1))
