"""How soon after a story's first document the first alert on it comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.datasets.streams import label_names
from firststory.units import DAY_SECONDS


@dataclass(frozen=True, slots=True)
class Delay:
    """From the first document of each story to the first alert on it."""

    n_stories: int
    at_once: float
    """Share of the stories whose very first document was an alert."""
    ever: float
    """Share of the stories with an alert at all."""
    median_documents: float
    """Documents of the story before its first alert, median over the stories found; 0 means the first document."""
    median_days: float
    """The same in days; NaN where the stream has no times."""


def detection_delay(labels: NDArray[Any], times: Floats, is_novel: NDArray[np.bool_]) -> Delay:
    """The delay of a stream's alerts; a document with several labels belongs to every one of its stories.

    Examples
    --------
    >>> labels = np.array(["a", "b", "a", "b", None], dtype=object)
    >>> days = np.array([0.0, 1.0, 2.0, 3.0, 4.0]) * DAY_SECONDS
    >>> detection_delay(labels, days, np.array([True, False, False, True, True]))
    Delay(n_stories=2, at_once=0.5, ever=1.0, median_documents=0.5, median_days=1.0)
    """
    members: dict[Any, list[int]] = {}
    for row, label in enumerate(labels):
        for name in label_names(label):
            members.setdefault(name, []).append(row)
    documents, days = [], []
    for rows in members.values():
        before = next((count for count, row in enumerate(rows) if is_novel[row]), None)
        if before is not None:
            documents.append(before)
            days.append((times[rows[before]] - times[rows[0]]) / DAY_SECONDS)
    known = [value for value in days if value == value]
    return Delay(
        n_stories=len(members),
        at_once=sum(count == 0 for count in documents) / max(len(members), 1),
        ever=len(documents) / max(len(members), 1),
        median_documents=float(np.median(documents)) if documents else float("nan"),
        median_days=float(np.median(known)) if known else float("nan"),
    )
