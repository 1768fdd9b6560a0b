"""What came before and comes again: ids delivered twice, texts posted twice, texts with a few words changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from firststory.alerts.memory import Remembered
from firststory.pipeline.fingerprints import Seen, fingerprint, fingerprints, number_of
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


class TextNumbers(NamedTuple):
    """Fingerprints of a text with its title and without, and whether it is known again whatever title it has.

    Where the text is short the title belongs to it: feeds repeat "Read more" under every title.
    """

    whole: int
    alone: int
    speaks_for_itself: bool


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

    def exact(
        self, documents: Sequence[Document], numbers: Mapping[str, TextNumbers], earlier: Earlier | None = None
    ) -> dict[str, str]:
        """The documents whose text came before, each with the id of the first that had it.

        `numbers` are those of the texts by the ids of the documents. Texts that are no longer remembered are asked for
        with `earlier`, where there is a store that has them.
        """
        unknown = [number.whole for d in documents if self._first(number := numbers[d.id]) is None]
        stored = earlier(unknown) if earlier and unknown else {}
        copies = {}
        for document in documents:
            number = numbers[document.id]
            first = self._first(number) or stored.get(number.whole)
            if first is None:
                self.texts.add(number.whole, document.id)
                if number.alone != number.whole:
                    self.texts.add(number.alone, document.id)
            else:
                copies[document.id] = first
        return copies

    def _first(self, number: TextNumbers) -> str | None:
        """The id of the first remembered document with this text."""
        return self.texts.get(number.whole) or (self.texts.get(number.alone) if number.speaks_for_itself else None)

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


def numbers_of(document: Document) -> TextNumbers:
    """The numbers by which the text of a document is known when it comes again."""
    title = title_before(document)
    if not title:
        number = fingerprint(document.text)
        return TextNumbers(number, number, speaks_for_itself=False)
    whole, alone, letters = fingerprints(title, document.text)
    return TextNumbers(whole, alone, letters >= SPEAKS_FOR_ITSELF)


def text_number(document: Document) -> int:
    """The number by which a store knows the text of a document."""
    return numbers_of(document).whole


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
