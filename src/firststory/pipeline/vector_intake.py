"""Vectors of documents on their way in: checked, and made by the encoder where a document has none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from firststory.errors import DocumentError
from firststory.pipeline.fingerprints import full_text
from firststory.pipeline.vectors import is_short
from firststory.records import Arrival, Batch, Document, Idle, Quarantined
from firststory.sources.vectors import parse_vector, wrong_dimension
from firststory.text.encoder import SentenceEncoder

EXCERPT_CHARACTERS = 200


class VectorIntake:
    """Sees to it that every vector of a stream is sound, and of one and the same dimension.

    The step sees the vectors and not the encoder: they are stored with the documents, so that a replay needs no
    encoder and does not depend on how it rounds on another machine.

    Parameters
    ----------
    encoder : SentenceEncoder or None
        Makes the vectors of documents that bring none.
    max_words : int
        Of a text that is encoded: the vectors of longer ones are not used.
    dimensions : int or None
        Of the vectors that the stream has had so far.
    """

    def __init__(self, encoder: SentenceEncoder | None, *, max_words: int, dimensions: int | None = None) -> None:
        self.encoder = encoder
        self._max_words = max_words
        self.dimensions = dimensions if encoder is None else encoder.dimensions

    def checked(self, arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
        """The same arrivals; a document whose vector is bad, or not like the first one, is quarantined."""
        for arrival in arrivals:
            if isinstance(arrival, (Quarantined, Idle)) or arrival[0].vector is None:
                yield arrival
                continue
            document, position = arrival
            try:
                yield self._checked(document), position
            except DocumentError as error:
                yield Quarantined(error.reason, str(error), position, document.text[:EXCERPT_CHARACTERS])

    def _checked(self, document: Document) -> Document:
        given = document.vector
        vector = parse_vector(given)
        if vector is not None:
            if self.dimensions is None:
                self.dimensions = len(vector)
            elif len(vector) != self.dimensions:
                raise wrong_dimension(len(vector), self.dimensions)
        return replace(document, vector=vector)

    def encoded(self, batch: Batch, known: Collection[str] = ()) -> Batch:
        """The batch with a vector for each short document that has none; what is `known` will be dropped anyway."""
        return self.all_encoded([batch], [known])[0]

    def all_encoded(self, batches: Sequence[Batch], known: Sequence[Collection[str]]) -> list[Batch]:
        """Several batches at once, to the same bits: the encoder never sees texts of two batches together."""
        if self.encoder is None:
            return list(batches)
        wanted = [
            {
                i: text
                for i, one in enumerate(batch.documents)
                if one.vector is None and one.id not in dropped and is_short(text := full_text(one), self._max_words)
            }
            for batch, dropped in zip(batches, known, strict=True)
        ]
        rows = self.encoder.encode_each([list(texts.values()) for texts in wanted])
        return [_with_vectors(*one) for one in zip(batches, wanted, rows, strict=True)]


def _with_vectors(batch: Batch, places: Iterable[int], rows: NDArray[np.float32]) -> Batch:
    documents = list(batch.documents)
    for i, row in zip(places, rows, strict=True):
        documents[i] = replace(documents[i], vector=parse_vector(row))
    return replace(batch, documents=tuple(documents))
