"""What the alerts are told of a document, and what they keep of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from firststory.arrays import Array, Floats
from firststory.records import Document

KEPT_CHARACTERS = 450
"""Of a text, for the alert that points at it: about three sentences."""


@dataclass(slots=True)
class EventDocument:
    """A document with its row and its story.

    `columns` and `weights` are its row, of unit length, empty for a text that was seen before; `title_columns` are the
    columns of its title, empty where there is none apart from the text; `surfaces` tells how its columns read.
    """

    document: Document
    seconds: float | None
    """Its time according to the stream clock; None where it has none."""
    columns: Array
    weights: Floats
    title_columns: Array
    story: str
    duplicate_of: str | None
    """The id of the first document with the same text."""
    surfaces: Callable[[], Mapping[int, str]]


class SlimDocument(NamedTuple):
    """What is kept of a document: enough to point at it."""

    id: str
    title: str | None
    text: str
    time: float | None
    source: str | None
    url: str | None

    @classmethod
    def of(cls, document: Document) -> SlimDocument:
        time = document.time
        return cls(
            document.id,
            document.title,
            document.text[:KEPT_CHARACTERS],
            None if time is None else time.timestamp(),
            document.source,
            document.url,
        )

    def whole(self) -> Document:
        """As a record again."""
        time = None if self.time is None else datetime.fromtimestamp(self.time, tz=UTC)
        return Document(self.id, self.text, time, self.title, self.source, self.url)
