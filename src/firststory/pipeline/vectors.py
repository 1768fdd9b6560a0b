"""Which vectors the detector compares beside the rows: those that documents bring, else those of the built-in table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from firststory.arrays import Singles
from firststory.pipeline.fingerprints import full_text
from firststory.pipeline.in_progress import InProgress
from firststory.records import Document
from firststory.state import State
from firststory.text.meaning import LANGUAGES

if TYPE_CHECKING:
    from firststory.pipeline.parts import Parts


CHARACTERS_PER_WORD = 12
"""A text with more than this for each word that it may have is long too: not all scripts put spaces between words."""


class OwnVectors:
    """The vectors that documents bring, and whether any has come.

    From the first of them on the built-in table is not used any more: cosines between vectors of two kinds say nothing.

    Parameters
    ----------
    max_words : int
        Longer texts are compared by their words alone, whatever they bring.
    """

    def __init__(self, max_words: int, begun: bool = False) -> None:
        self.max_words = max_words
        self.begun = begun

    def of(self, document: Document) -> ArrayLike | None:
        """The vector of a document, where it has one and is short enough."""
        is_used = document.vector is not None and is_short(full_text(document), self.max_words)
        return document.vector if is_used else None

    def get_state(self) -> State:
        """All that its future depends on."""
        return {"max_words": self.max_words, "begun": self.begun}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        return cls(int(state["max_words"]), bool(state["begun"]))


def is_short(text: str, max_words: int) -> bool:
    """Whether a text has few enough words for a vector to say more than they do.

    Examples
    --------
    >>> is_short("Storm floods the harbour", 4), is_short("Storm floods the harbour", 3)
    (True, False)
    """
    return len(text) <= CHARACTERS_PER_WORD * max_words and len(text.split()) <= max_words


def vectors_for(parts: Parts, documents: Sequence[InProgress]) -> dict[str, Any]:
    """`vectors=` of the detector: one row per document, of zeros where it has none; nothing where no document has."""
    own = parts.own_vectors
    if not parts.takes_vectors:
        return {}
    brought = [own.of(one.document) for one in documents]
    found = [vector for vector in brought if vector is not None]
    if found and not own.begun:
        own.begun = True
        _forget_vectors(parts.detector)
    if not own.begun:
        vectors = _of_table(parts, documents)
        return {"vectors": vectors} if vectors is not None and vectors.any() else {}
    if not found:
        return {}
    without = np.zeros_like(found[0])
    return {"vectors": np.array([without if vector is None else vector for vector in brought], dtype=np.float32)}


def _of_table(parts: Parts, documents: Sequence[InProgress]) -> Singles | None:
    """Of short texts in a language that the built-in table knows."""
    if parts.short_text_vectors is None:
        return None
    languages = parts.vectorizer.last_languages
    texts = [full_text(one.document) if languages[one.place] in LANGUAGES else "" for one in documents]
    return parts.short_text_vectors.transform(texts) if any(texts) else None


def _forget_vectors(detector: Any) -> None:
    """Those of the table that it has learnt: the next rows bring others, and the earlier ones count as without."""
    if hasattr(detector, "vectors_"):
        del detector.vectors_
