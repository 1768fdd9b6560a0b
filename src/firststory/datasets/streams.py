"""What a loader returns: a stream of documents, or a stream of count rows, in the order of time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.records import Document


@dataclass(frozen=True)
class TextStream:
    """Documents in the order of time.

    Examples
    --------
    >>> from firststory.records import Document
    >>> stream = TextStream("two", (Document("a", "x", label="fire"), Document("b", "y", label="fire")))
    >>> stream.first_story.tolist()
    [True, False]
    """

    name: str
    documents: tuple[Document, ...]

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def texts(self) -> list[str]:
        """The texts alone."""
        return [document.text for document in self.documents]

    @cached_property
    def times(self) -> NDArray[np.float64]:
        """Seconds since 1970; NaN where a document has no time."""
        return np.array([np.nan if d.time is None else d.time.timestamp() for d in self.documents])

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The label of each document, None where there is none; a list where there are several."""
        labels = np.empty(len(self.documents), dtype=object)
        for i, document in enumerate(self.documents):
            names = label_names(document.label)
            labels[i] = None if not names else names[0] if len(names) == 1 else list(names)
        return labels

    @cached_property
    def first_story(self) -> NDArray[np.bool_]:
        """True for the first document of its label; with several labels, where any of them is new."""
        return first_of_label(self.labels)


@dataclass(frozen=True)
class CountStream:
    """Rows of word counts in the order of time, for corpora whose words are not to be had."""

    name: str
    X: sp.csr_matrix
    times: NDArray[np.float64] | None
    labels: NDArray[Any] | None
    terms: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def first_story(self) -> NDArray[np.bool_]:
        """True for the first row of its label."""
        if self.labels is None:
            return np.zeros(len(self), dtype=bool)
        return first_of_label(self.labels)


def first_of_label(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """True where a label (or one of several) stands for the first time; never for unlabelled documents."""
    seen: set[Any] = set()
    first = np.zeros(len(labels), dtype=bool)
    for i, label in enumerate(labels):
        names = label_names(label)
        first[i] = any(name not in seen for name in names)
        seen.update(names)
    return first


def label_names(label: Any) -> tuple[Any, ...]:
    """The names of the stories that a document belongs to, from its label: none, one, or a list of several.

    Examples
    --------
    >>> label_names("fire"), label_names(["fire", "storm"]), label_names(None), label_names({"b": 1, "a": 2})
    (('fire',), ('fire', 'storm'), (), ('{"a": 2, "b": 1}',))
    """
    several = label if isinstance(label, (list, tuple)) else [label]
    # Equal objects name one story, whatever the order of their keys.
    names = (json.dumps(one, sort_keys=True, default=str) if isinstance(one, (dict, list)) else one for one in several)
    return tuple(dict.fromkeys(name for name in names if name is not None and name != "" and name == name))
