"""What the first half of a step hands to the second: a batch whose documents were judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import scipy.sparse as sp

from firststory.pipeline.in_progress import InProgress
from firststory.pipeline.surfaces_of_batch import SurfacesOfBatch
from firststory.records import Batch, Document


class ReadBatch(NamedTuple):
    """The documents of a batch that were read."""

    documents: Sequence[InProgress]
    """Those that have words."""
    originals: Sequence[InProgress]
    """All of them."""
    languages: Sequence[str]
    """Of each of the originals."""


class Rows(NamedTuple):
    """The rows of the documents that have words."""

    weights: sp.csr_matrix
    """As the detector wants them."""
    unit: sp.csr_matrix
    """Of unit length, the same for every detector: what evidence, stories and topics are made of."""
    counts: sp.csr_matrix


@dataclass(frozen=True, slots=True)
class JudgedBatch:
    """A batch that was judged: all that placing its documents needs to know of the first half of the step."""

    batch: Batch
    fresh: Sequence[Document]
    """The documents that are new, in the order of arrival."""
    documents: Sequence[InProgress]
    """The same, in the order in which they were judged."""
    read: ReadBatch | None
    """None where no text is new."""
    unit: sp.csr_matrix | None
    """`Rows.unit`, for topic models; None where no text is new, or where another process has them."""
    surfaces: SurfacesOfBatch
    counts: Mapping[str, int]
    """See `Step.counts`."""
    recent_scores: Sequence[float]
    """The latest scores before it: what is neutral, and what is low, differs between detectors."""
    now: float | None
    """How far the stream has come, in seconds since 1970; None where it has no times."""
    forgets_vectors: bool
    """Whether from here on documents bring vectors of their own."""
    wants_room: bool
    """Whether the vocabulary is to be pruned once its documents are placed."""
