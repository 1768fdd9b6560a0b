"""The next steps of an archive, read and given their vectors while the present one is judged.

Nothing else may be computed ahead: whether a document is new depends on all before it. The batches, and the vectors in
them, are the bits that a run without this would have had.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Self

from firststory.pipeline.vector_intake import VectorIntake
from firststory.records import Batch

STEPS = 16
"""Steps whose vectors are made together: the workers of an engine share them out."""
PORTIONS = 3
"""So many are on their way at most: one is judged, one is ready, one is being read."""
POLL_SECONDS = 0.1
SECONDS_TO_END = 5.0


class ReadAhead:
    """Reads batches in a thread of its own, at most two portions of them ahead.

    Parameters
    ----------
    batches : iterator of Batch
        Read from that thread only.
    intake : VectorIntake
        Gives documents their vectors.
    known_ids : callable, optional
        Which ids the store has.
    """

    def __init__(
        self,
        batches: Iterator[Batch],
        intake: VectorIntake,
        known_ids: Callable[[Sequence[str]], Collection[str]] | None = None,
    ) -> None:
        self._source, self._intake, self._known_ids = batches, intake, known_ids
        self._ready: queue.Queue[list[Batch] | BaseException | None] = queue.Queue(maxsize=1)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._read, name="read ahead", daemon=True)
        self._uncommitted: deque[set[str]] = deque(maxlen=PORTIONS)
        """Ids of the portions that the store may not have yet."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._stopping.set()
        self._thread.join(SECONDS_TO_END)

    def batches(self, is_wanted: Callable[[], bool]) -> Iterator[Batch]:
        """Every batch in order, until there is none or no more are wanted."""
        while is_wanted():
            try:
                found = self._ready.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if found is None:
                return
            if isinstance(found, BaseException):
                raise found
            for batch in found:
                if not is_wanted():
                    return
                yield batch

    def _read(self) -> None:
        try:
            while portion := list(islice(self._source, STEPS)):
                if not self._put(self._with_vectors(portion)):
                    return
            self._put(None)
        except BaseException as error:
            self._put(error)

    def _with_vectors(self, portion: list[Batch]) -> list[Batch]:
        """What the store will know by then gets no vector: what it has, and what comes in the steps before."""
        if self._intake.encoder is None:
            return portion
        known: list[Collection[str]] = []
        ours: set[str] = set()
        for batch in portion:
            ids = [document.id for document in batch.documents]
            coming = {one for one in ids if one in ours or any(one in earlier for earlier in self._uncommitted)}
            known.append(set() if self._known_ids is None else coming | set(self._known_ids(ids)))
            ours.update(ids)
        self._uncommitted.append(ours)
        return self._intake.all_encoded(portion, known)

    def _put(self, what: list[Batch] | BaseException | None) -> bool:
        """Whether it is still wanted."""
        while not self._stopping.is_set():
            try:
                self._ready.put(what, timeout=POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False
