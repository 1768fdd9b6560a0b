"""Reading the next steps, judging one and writing those before it, all at once; the order stays.

The thread that judges is the caller's; a batch may be placed by another (`placing`). One thread reads ahead of it, one
writes behind it; both are bounded, so that neither a fast source nor a slow disk fills memory. Kernels, SQLite and zstd
let go of the interpreter, which is what threads of Python gain by.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from firststory.pipeline.held_back import DOCUMENTS, SECONDS, STEPS, are_enough, documents_of
from firststory.records import Batch, Step
from firststory.store.step_to_write import StepToWrite

MAX_READ = 4
"""Steps that are read and not judged."""
MAX_UNPLACED = 2
"""Batches that are judged, or being judged, and not placed."""
MAX_UNWRITTEN = 4 * STEPS
"""Steps that are judged and not in the store: some are written, others come together or are placed meanwhile."""
MAX_LARGE = 4
"""The same of large steps: enough to go on while a copy of the model is written."""
POLL_SECONDS = 0.1
SECONDS_TO_END = 5.0
"""For the writer after Ctrl-C. A transaction that takes longer than that is left to the end of the process: it is whole
or it is nothing."""
SECONDS_TO_STOP_READING = 0.5
"""A source that waits for documents ends later, when it is closed."""


class Overlap:
    """A reader, and a writer, around the thread that judges.

    Parameters
    ----------
    batches : iterator of Batch
        Read by a thread of its own.
    write : callable
        Writes steps that follow one another; called by a thread of its own.
    max_unplaced : int
        Batches that are judged, or being judged, and not placed.
    """

    def __init__(
        self,
        batches: Iterator[Batch],
        write: Callable[[Sequence[StepToWrite]], None],
        max_unplaced: int = MAX_UNPLACED,
    ) -> None:
        self._batches = batches
        self._write = write
        self._max_unplaced = max_unplaced
        self._changed = threading.Condition()
        self._read: deque[Batch] = deque()
        self._unplaced: deque[int] = deque()
        """The batches that were handed out and have not become steps yet: how many documents each has."""
        self._unwritten: deque[StepToWrite] = deque()
        self._since = 0.0
        """When the first of them began to wait."""
        self._is_awaited = False
        """Whether someone waits until all of them are written."""
        self._written: deque[Step] = deque()
        self._is_read = False
        self._problem: BaseException | None = None
        """Why reading ended, where it was no end."""
        self._failure: BaseException | None = None
        """Why nothing more is written."""
        self._is_ending = False
        self._reader = threading.Thread(target=self._read_ahead, name="reader", daemon=True)
        self._writer = threading.Thread(target=self._write_behind, name="writer", daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        self._writer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *problem: object) -> None:
        """What was judged is written; what was only read is forgotten."""
        with self._changed:
            self._is_ending = True
            self._changed.notify_all()
        is_interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        self._writer.join(SECONDS_TO_END if is_interrupted else None)
        self._reader.join(SECONDS_TO_STOP_READING)
        if self._failure is not None and (kind is None or issubclass(kind, GeneratorExit)):
            raise self._failure

    def next(self, is_wanted: Callable[[], bool]) -> Batch | Step | None:
        """What comes next: a step that was written, to be handed out; a batch, to be judged; None at the end.

        A step that is written never waits for a batch. Once no more is wanted, batches that were read are forgotten.
        """
        with self._changed:
            while True:
                if self._written:
                    return self._written.popleft()
                self._check()
                is_over = not is_wanted()
                if not is_over:
                    if self._read and self._has_room:
                        batch = self._read.popleft()
                        self._unplaced.append(len(batch.documents))
                        self._changed.notify_all()
                        return batch
                    is_over = self._is_read and not self._read
                if is_over and not self._unplaced and not self._unwritten:
                    if self._problem is not None and is_wanted():
                        raise self._problem
                    return None
                if is_over:
                    self._hurry()
                self._changed.wait(POLL_SECONDS)

    def write(self, judged: StepToWrite) -> None:
        """Let a step be written after those before it: that of the oldest batch that was handed out."""
        with self._changed:
            if not self._unwritten:
                self._since = time.monotonic()
            self._unplaced.popleft()
            self._unwritten.append(judged)
            self._changed.notify_all()

    def fail(self, problem: BaseException) -> None:
        """No more steps come after those that were handed over: the thread that judges raises why."""
        with self._changed:
            self._failure = problem
            self._changed.notify_all()

    def settle(self) -> None:
        """Wait until every step is written."""
        with self._changed:
            while self._unwritten:
                self._check()
                self._hurry()
                self._changed.wait(POLL_SECONDS)

    def left(self) -> Iterator[Step]:
        """Steps that were written and not handed out."""
        while self._written:
            yield self._written.popleft()

    @property
    def _has_room(self) -> bool:
        """Whether one more step may be judged before others are written."""
        n, n_documents = len(self._unplaced) + len(self._unwritten), sum(self._unplaced) + documents_of(self._unwritten)
        is_small = n < MAX_LARGE or (n < MAX_UNWRITTEN and n_documents < 4 * DOCUMENTS)
        return is_small and len(self._unplaced) < self._max_unplaced

    def _hurry(self) -> None:
        if not self._is_awaited:
            self._is_awaited = True
            self._changed.notify_all()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _read_ahead(self) -> None:
        problem: BaseException | None = None
        try:
            for batch in self._batches:
                with self._changed:
                    while len(self._read) >= MAX_READ and not self._is_ending:
                        self._changed.wait()
                    if self._is_ending:
                        return
                    self._read.append(batch)
                    self._changed.notify_all()
        except BaseException as error:  # the thread that judges raises it, when it has come so far
            problem = error
        with self._changed:
            self._is_read, self._problem = True, problem
            self._changed.notify_all()

    def _write_behind(self) -> None:
        while True:
            with self._changed:
                self._wait_for_enough()
                judged = list(self._unwritten)
            if not judged:
                return
            try:
                self._write(judged)
            except BaseException as error:  # the thread that judges raises it
                with self._changed:
                    self._failure = error
                    self._changed.notify_all()
                return
            with self._changed:
                for one in judged:
                    self._unwritten.popleft()
                    self._written.append(one.step)
                del judged, one  # they may hold a copy of the model
                self._since, self._is_awaited = time.monotonic(), False
                self._changed.notify_all()

    def _wait_for_enough(self) -> None:
        """Until there is something to write, or the end. It is put off only while more to be judged is at hand."""
        while not self._is_ending:
            if not self._unwritten:
                self._changed.wait()
            elif (
                (self._read or self._unplaced) and not self._is_awaited and not are_enough(self._unwritten, self._since)
            ):
                self._changed.wait(max(self._since + SECONDS - time.monotonic(), 0.0))
            else:
                return
