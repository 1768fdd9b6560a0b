"""What is remembered of documents so that an alert can point at them, and of stories so that they are found.

Bounded as the index of links is: a document is forgotten here when it is forgotten there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Self

import numpy as np

from firststory.alerts.events.document import EventDocument, SlimDocument
from firststory.alerts.events.links import LinkIndex
from firststory.arrays import Ints

MAX_DUPLICATES = 50
"""Sources of duplicates that are remembered of one document."""


class EventMemory:
    """Documents by ordinal, and the latest document of each story."""

    def __init__(self) -> None:
        self.documents: dict[int, SlimDocument] = {}
        self.story_of: dict[int, str] = {}
        self.ordinal_of: dict[str, int] = {}
        self.duplicates: dict[int, dict[str, str]] = {}
        """Of each document the sources that printed its text again, with the id of the duplicate."""
        self.last: dict[str, int] = {}
        """The latest document of each story, those told longest ago first."""

    def add(self, new: Sequence[EventDocument], ordinal: int) -> Ints:
        """Remember documents, the first of which has this ordinal; of each the story's document before it, or -1."""
        previous, last = list[int](), self.last
        for j, one in enumerate(new, ordinal):
            story, document = one.story, one.document
            previous.append(last.pop(story, -1))
            last[story] = j
            self.story_of[j] = story
            self.documents[j] = SlimDocument.of(document)
            self.ordinal_of[document.id] = j
        return np.array(previous, dtype=np.int64)

    def note_duplicates(self, documents: Sequence[EventDocument]) -> None:
        """The sources of texts that came again."""
        for one in documents:
            ordinal = None if one.duplicate_of is None else self.ordinal_of.get(one.duplicate_of)
            source = one.document.source
            if ordinal is not None and source and source != self.documents[ordinal].source:
                duplicates = self.duplicates.setdefault(ordinal, {})
                if len(duplicates) < MAX_DUPLICATES:
                    duplicates.setdefault(source, one.document.id)

    def merge(self, merged: Mapping[str, str], index: LinkIndex) -> None:
        """Stories that went into others: their documents are the others' from now on."""
        for story, into in merged.items():
            last = self.last.pop(story, None)
            if last is not None:
                for j in index.story_members(last, -np.inf, len(index)).tolist():
                    self.story_of[j] = into
                kept = self.last.pop(into, None)
                self.last[into] = last if kept is None else index.merge(last, kept)

    def forget(self, oldest: int) -> None:
        """Documents before this ordinal, and stories that have no other."""
        for j in range(next(iter(self.documents), oldest), oldest):
            gone = self.documents.pop(j)
            del self.story_of[j]
            self.duplicates.pop(j, None)
            if self.ordinal_of.get(gone.id) == j:
                del self.ordinal_of[gone.id]
        for story in list(takewhile(lambda story: self.last[story] < oldest, self.last)):
            del self.last[story]

    def told(self, documents: Sequence[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ids of documents and of their duplicates, and the sources that told them, each once."""
        ids, sources = list[str](), dict[str, None]()
        for j in documents:
            kept = self.documents[j]
            ids.append(kept.id)
            if kept.source:
                sources[kept.source] = None
            for source, again in self.duplicates.get(j, {}).items():
                ids.append(again)
                sources[source] = None
        return tuple(ids), tuple(sources)

    def get_state(self) -> dict[str, Any]:
        """As columns; NaN for no time."""
        documents = self.documents.values()
        return {
            "oldest": next(iter(self.documents), 0),
            "documents": {
                "ids": [one.id for one in documents],
                "titles": [one.title for one in documents],
                "texts": [one.text for one in documents],
                "times": np.array([one.time for one in documents], dtype=np.float64),
                "sources": [one.source for one in documents],
                "urls": [one.url for one in documents],
            },
            "stories": list(self.story_of.values()),
            "duplicates": [[j, list(map(list, duplicates.items()))] for j, duplicates in self.duplicates.items()],
            "last": {"stories": list(self.last), "ordinals": np.array(list(self.last.values()), dtype=np.int64)},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        memory = cls()
        saved = state["documents"]
        times = [None if np.isnan(time) else time for time in saved["times"].tolist()]
        columns = saved["ids"], saved["titles"], saved["texts"], times, saved["sources"], saved["urls"]
        memory.documents = dict(enumerate(map(SlimDocument, *columns), state["oldest"]))
        memory.story_of = dict(enumerate(state["stories"], state["oldest"]))
        memory.ordinal_of = {one.id: j for j, one in memory.documents.items()}
        memory.duplicates = {j: dict(duplicates) for j, duplicates in state["duplicates"]}
        memory.last = dict(zip(state["last"]["stories"], state["last"]["ordinals"].tolist(), strict=True))
        return memory
