"""Whose voice a document is: its source, mapped to its family; where sources tell nothing apart, the text itself.

CNN and CNN Politics are one voice if `families` says so. A text that came before is no voice, whoever prints it. With
hardly any sources (fewer than three, one of them with over 90 % of fifty documents or more) every different text counts
as one, and so does every document without a source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from firststory.arrays import Ints
from firststory.records import Document

FEW_SOURCES, MAIN_SHARE, LEAST_DOCUMENTS = 3, 0.9, 50
"""Fewer sources than this, one with more than this share, of at least so many documents."""


class Voices:
    """Numbers for sources, and how voices are counted.

    Examples
    --------
    >>> voices = Voices({"CNN Politics": "CNN"})
    >>> named = [Document("1", "x", source=name) for name in ("CNN", "CNN Politics", None, "BBC", "DW")]
    >>> voices.numbers(named).tolist()
    [0, 0, -1, 1, 2]
    """

    def __init__(self, families: Mapping[str, str] | None = None) -> None:
        self.families = dict(families or {})
        self.by_text = False
        """Whether every different text counts as one voice."""
        self._number: dict[str, int] = {}

    def numbers(self, documents: Sequence[Document]) -> Ints:
        """The number of each document's source, -1 where it has none."""
        families, number = self.families, self._number
        found = list[int]()
        for document in documents:
            source = document.source
            if not source:
                found.append(-1)
                continue
            if families:
                source = families.get(source, source)
            found.append(number.setdefault(source, len(number)))
        return np.array(found, dtype=np.int64)

    def number(self, source: str | None) -> int:
        """The number of a source; -1 where there is none or it is not known."""
        return self._number.get(self.families.get(source, source), -1) if source else -1

    def decide(self, latest: Ints, earlier: Callable[[], Ints]) -> None:
        """How voices are counted, by the sources of the latest documents and of those that came before.

        Mostly the latest tell already that there are several sources, and the others are not asked for.
        """
        if len({*latest.tolist()} - {-1}) >= FEW_SOURCES:
            self.by_text = False
            return
        sources = np.concatenate([earlier(), latest])
        named = sources[sources >= 0]
        counts = np.bincount(named, minlength=1)
        is_main = counts.max() > MAIN_SHARE * len(sources)
        self.by_text = bool(len(named) >= LEAST_DOCUMENTS and (counts > 0).sum() < FEW_SOURCES and is_main)

    def forget(self, sources: Ints) -> Ints:
        """Keep only the sources of these documents; returns their new numbers."""
        used = np.unique(sources[sources >= 0])
        new = np.full(len(self._number) + 1, -1, np.int64)
        new[used] = np.arange(len(used))
        self._number = {name: int(new[n]) for name, n in self._number.items() if new[n] >= 0}
        return np.where(sources >= 0, new[sources], -1)

    def __len__(self) -> int:
        return len(self._number)

    def in_words(self) -> str:
        """How voices are counted."""
        if self.by_text:
            return "hardly any sources: every different text counts as one voice"
        if not self._number:
            return "no sources: every different text counts as one voice"
        return "every source counts once; the same text from others does not count"

    def get_state(self) -> dict[str, Any]:
        return {"families": self.families, "by_text": self.by_text, "numbers": self._number}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        voices = cls(state["families"])
        voices.by_text = state["by_text"]
        # In the order of the numbers: JSON may have sorted the names.
        voices._number = dict(sorted(state["numbers"].items(), key=lambda item: item[1]))
        return voices
