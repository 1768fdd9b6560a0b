"""What was read of some documents, as columns; `Phrase`s are made when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from firststory.kernels.phrases import layout as k

_START = itemgetter(list(k.FOUND.names or ()).index("start"))


class ReadDocuments:
    """Phrases and boilerplate of documents.

    Parameters
    ----------
    texts : sequence of str
        Title and text of each document as one.
    shifts : sequence of int
        By how much the text of each begins later there.
    parts : sequence of (found, spans)
        What the kernel gave for one chunk of documents after the other.
    """

    def __init__(self, texts: Sequence[str], shifts: Sequence[int], parts: Sequence[tuple[k.Found, k.Spans]]) -> None:
        self.texts = texts
        self.shifts = shifts
        self.found: k.Found = _joined([found for found, _ in parts], k.FOUND)
        """One row per phrase; offsets are those of `texts`."""
        self._dull: k.Spans = _joined([spans for _, spans in parts], k.SPAN)
        self._bounds = np.searchsorted(self.found["document"], np.arange(len(texts) + 1))

    def __len__(self) -> int:
        return len(self.texts)

    def rows(self, number: int) -> list[tuple[Any, ...]]:
        """The phrases of a document in the order of its text, each with the fields of `FOUND`."""
        rows: list[tuple[Any, ...]] = self.found[self._bounds[number] : self._bounds[number + 1]].tolist()
        rows.sort(key=_START)
        return rows

    def boilerplate(self, number: int) -> list[tuple[int, int]]:
        """Spans of a document's text that belong to its source."""
        shift = self.shifts[number]
        spans = self._dull[self._dull["document"] == number]
        ends = zip((spans["start"] - shift).tolist(), (spans["end"] - shift).tolist(), strict=True)
        return [(max(begin, 0), end) for begin, end in ends if end > 0]


def _joined(parts: Sequence[Any], kind: np.dtype[Any]) -> Any:
    """The parts as one; mostly there is one, and joining records is slow."""
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, kind), *parts])
