"""Vectors for steps that are read ahead, while others are judged and written.

Nothing else may be computed ahead: whether a document is new depends on all before it. The batches, and the vectors in
them, are the bits that a run without this would have had.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

from firststory.pipeline.overlap import MAX_READ, MAX_UNWRITTEN
from firststory.pipeline.vector_intake import VectorIntake
from firststory.records import Batch

ARCHIVE_STEPS = 16
"""Steps of an archive whose vectors are made together: the workers of an engine share them out."""


def read_with_vectors(
    batches: Iterator[Batch],
    intake: VectorIntake,
    known_ids: Callable[[Sequence[str]], Collection[str]] | None,
    together: int = 1,
) -> Iterator[Batch]:
    """The batches with the vectors that an encoder makes, so many steps of them at a time.

    What the store will know by then gets no vector: what it has, and what comes in the steps before.
    """
    if intake.encoder is None:
        yield from batches
        return
    # One more is being judged, and one waits for room among those that are read.
    uncommitted: deque[frozenset[str]] = deque(maxlen=together + MAX_READ + MAX_UNWRITTEN + 2)
    while portion := list(islice(batches, together)):
        known: list[Collection[str]] = []
        for batch in portion:
            ids = [document.id for document in batch.documents]
            coming = {one for one in ids if any(one in earlier for earlier in uncommitted)}
            known.append(set() if known_ids is None else coming | set(known_ids(ids)))
            uncommitted.append(frozenset(ids))
        yield from intake.all_encoded(portion, known)
