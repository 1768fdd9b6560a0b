"""Reading the next steps, judging one and writing those before it, all at once; the order stays.

The thread that judges is the caller's. One thread reads ahead of it, one writes behind it; both are bounded, so that
neither a fast source nor a slow disk fills memory. Kernels, SQLite and zstd let go of the interpreter, which is what
two threads of Python gain by.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Self

from firststory.records import Batch, Step

MAX_READ = 4
"""Steps that are read and not judged."""
MAX_UNWRITTEN = 4
"""Steps that are judged and not in the store: enough to go on while a copy of the model is written."""
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
    """

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._batches = batches
        self._changed = threading.Condition()
        self._read: deque[Batch] = deque()
        self._unwritten: deque[tuple[Step, Callable[[], None]]] = deque()
        self._written: deque[Step] = deque()
        self._n_unwritten = 0
        """Of the batches that were handed out: those whose steps are not in the store yet."""
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
                    if self._read and self._n_unwritten < MAX_UNWRITTEN:
                        self._n_unwritten += 1
                        self._changed.notify_all()
                        return self._read.popleft()
                    is_over = self._is_read and not self._read
                if is_over and not self._n_unwritten:
                    if self._problem is not None and is_wanted():
                        raise self._problem
                    return None
                self._changed.wait(POLL_SECONDS)

    def write(self, step: Step, write: Callable[[], None]) -> None:
        """Let a step be written after those before it."""
        with self._changed:
            self._unwritten.append((step, write))
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
                self._changed.wait(POLL_SECONDS)

    def left(self) -> Iterator[Step]:
        """Steps that were written and not handed out."""
        while self._written:
            yield self._written.popleft()

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
                while not self._unwritten and not self._is_ending:
                    self._changed.wait()
                if not self._unwritten:
                    return
                step, write = self._unwritten[0]
            try:
                write()
            except BaseException as error:  # the thread that judges raises it
                with self._changed:
                    self._failure = error
                    self._changed.notify_all()
                return
            with self._changed:
                self._unwritten.popleft()
                self._n_unwritten -= 1
                del write  # it may hold a copy of the model
                self._written.append(step)
                self._changed.notify_all()
