"""Which vectors the detector compares beside the rows: those that documents bring, else those of the built-in table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from firststory.arrays import Singles
from firststory.pipeline.fingerprints import full_text
from firststory.pipeline.in_progress import InProgress
from firststory.state import State
from firststory.text.meaning import LANGUAGES

if TYPE_CHECKING:
    from firststory.pipeline.parts import Parts


class OwnVectors:
    """Whether documents have brought vectors of their own.

    From the first of them on the built-in table is not used any more: cosines between vectors of two kinds say nothing.
    """

    def __init__(self, begun: bool = False) -> None:
        self.begun = begun

    def get_state(self) -> State:
        """All that its future depends on."""
        return {"begun": self.begun}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        return cls(bool(state["begun"]))


def vectors_for(parts: Parts, documents: Sequence[InProgress]) -> dict[str, Any]:
    """`vectors=` of the detector: one row per document, of zeros where it has none; nothing where no document has."""
    own = parts.own_vectors
    if own is None:
        return {}
    brought = [one.document.vector for one in documents]
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
    if parts.short_text_vectors is None or parts.vectorizer.language_ not in LANGUAGES:
        return None
    return parts.short_text_vectors.transform(full_text(one.document) for one in documents)


def _forget_vectors(detector: Any) -> None:
    """Those of the table that it has learnt: the next rows bring others, and the earlier ones count as without."""
    if hasattr(detector, "vectors_"):
        del detector.vectors_
