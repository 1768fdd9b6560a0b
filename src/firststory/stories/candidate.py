"""A document that is to get a story."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from firststory.arrays import Array, Floats, Ints
from firststory.records import Document


@dataclass(slots=True)
class StoryCandidate:
    """A document that is to join a story or open one.

    `columns` and `weights` are its row, of unit length; `ordinal` is its number in the stream, by which later documents
    name it among their `neighbours`, the nearest earlier documents (-1: none); `surfaces` says how the columns read in
    this text (for key terms), or is a function that looks it up when it is needed.
    """

    document: Document
    columns: Array
    weights: Array
    ordinal: int = -1
    neighbours: Sequence[int] | Ints = ()
    duplicate_of: str | None = None
    surfaces: Mapping[int, str] | Callable[[], Mapping[int, str]] = field(default_factory=dict)
    title: str | None = None
    """The title as people see it, if already computed."""
    seconds: float | None = None
    """Its time according to the stream clock, if already computed."""
    title_columns: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The columns of the title, in order; empty where there is none apart from the text."""
    counts: Floats = field(default_factory=lambda: np.empty(0))
    """How often the text has each of `columns`; empty: once."""
    vector: Array | None = None
    """What a short text means, of unit length; None where that is not known."""

    def time_in_seconds(self) -> float | None:
        """Seconds since 1970; None where the document has no time."""
        time = self.document.time
        return None if time is None else time.timestamp() if self.seconds is None else self.seconds

    def surface_forms(self) -> Mapping[int, str]:
        """How its columns read."""
        return self.surfaces() if callable(self.surfaces) else self.surfaces
