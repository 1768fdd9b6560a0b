"""A document at the story tracker's door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.records import Document


@dataclass(slots=True)
class Arrival:
    """A document at the tracker's door.

    `columns` and `weights` are its row, of unit length; `ordinal` its number in the stream, by which later documents
    name it among their `neighbours`, the nearest earlier documents (-1: none); `surfaces` how the columns read in this
    text (for key terms), or a function that looks when it is needed.
    """

    document: Document
    columns: NDArray[Any]
    weights: NDArray[Any]
    ordinal: int = -1
    neighbours: Sequence[int] | NDArray[np.int64] = ()
    duplicate_of: str | None = None
    surfaces: Mapping[int, str] | Callable[[], Mapping[int, str]] = field(default_factory=dict)
    title: str | None = None
    """The title made harmless, where somebody has made it already."""
    seconds: float | None = None
    """What the stream's clock takes its time for, where somebody has looked."""

    def when(self) -> float | None:
        """Seconds of its time; None where it has none."""
        time = self.document.time
        return None if time is None else time.timestamp() if self.seconds is None else self.seconds
