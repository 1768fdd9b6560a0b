"""Which columns the title of a document has: texts with the same title words often tell of the same happening."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firststory.arrays import Ints
from firststory.pipeline.fingerprints import title_before
from firststory.pipeline.protocols import Vectorizer
from firststory.records import Document

MAX_TITLE_CHARACTERS = 300
"""A longer first line is no title."""
_NO_COLUMNS = np.empty(0, dtype=np.int64)


def title_length(document: Document) -> int:
    """How many of the first characters that are read of a document are its title; 0 where there is no text besides.

    Examples
    --------
    >>> title_length(Document(id="1", text="Flood in Bremen\\nThe Weser rose by two metres.")), title_length(
    ...     Document(id="2", text="Flood in Bremen"))
    (15, 0)
    """
    text = document.text
    if title_before(document):
        length = len(document.title or "")
        return length if text.strip() else 0
    length = len(document.title) if document.title else text.find("\n")
    return length if 0 < length <= MAX_TITLE_CHARACTERS and text[length:].strip() else 0


def title_columns(
    vectorizer: Vectorizer, documents: Sequence[Document], places: Sequence[int], n_texts: int
) -> list[Ints]:
    """The columns of each document's title, in order.

    `places` says which of the texts that were learnt last each document is, `n_texts` how many those were.
    """
    lengths = [title_length(document) for document in documents]
    if not any(lengths):
        return [_NO_COLUMNS] * len(documents)
    lead = np.zeros(n_texts, dtype=np.int64)
    lead[list(places)] = lengths
    forms = vectorizer.last_surface_forms(lead)
    return [forms.columns(place) if length else _NO_COLUMNS for place, length in zip(places, lengths, strict=True)]
