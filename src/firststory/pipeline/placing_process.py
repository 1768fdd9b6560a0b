"""Placing documents in a process of its own, while the next ones are judged here.

Python runs one thread at a time, so that threads gain little where kernels are short. The other process is a copy of
this one, made when the stream begins, with the model in it; from then on each keeps its half. They talk by a pipe, and
only with one another; what is asked is answered in order.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn

from firststory.alerts.budget import parse_budget
from firststory.arrays import Ints
from firststory.child_process import die_with
from firststory.engines.engine import Engine
from firststory.errors import EngineError, FirststoryError
from firststory.kernels import preparing
from firststory.pipeline.allocator import trim_memory
from firststory.pipeline.copies import copy_of_placing
from firststory.pipeline.garbage import paused_collection
from firststory.pipeline.judged_batch import JudgedBatch
from firststory.pipeline.messages import packed_judged, packed_placed, unpacked_judged, unpacked_placed
from firststory.pipeline.placed_batch import PlacedBatch
from firststory.pipeline.pruning import columns_of_placing, renumber_placing
from firststory.pipeline.step import StreamCore
from firststory.pipeline.storyline_topics import StorylineTopics

if TYPE_CHECKING:  # without a store none of its libraries need be loaded
    from firststory.store.states import Compressed

MAX_SENT = 8
"""Batches that are judged, or being judged, and not placed: some take longer to be placed than to be judged."""
PLACE, COPY, COLUMNS = "place", "copy", "columns"
"""What is answered: by the batch as it was placed, a copy of half of the model, the columns to be kept."""
RENUMBER, CHANGE = "renumber", "change"
"""What is not: other numbers of columns, other settings of the alerts."""


class PlacingProcess:
    """The process that places documents, as seen by the one that judges them.

    Parameters
    ----------
    core : StreamCore
        Whose copy the other process has from now on: its second half is used there, and no more here.
    """

    def __init__(self, core: StreamCore) -> None:
        self._line, there = Pipe()
        self._sending = threading.Lock()
        parent = os.getpid()
        with warnings.catch_warnings():
            # Of other threads none holds a lock that placing takes: they draw and deliver.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process = os.fork()
        if not self._process:
            self._line.close()
            _place_and_end(parent, there, core)
        there.close()

    def begin(self, judged: JudgedBatch) -> None:
        """Let a batch be placed."""
        with suppress(EngineError):  # whoever waits for the answer says so
            self._send(PLACE, packed_judged(judged))

    def placed(self, judged: JudgedBatch) -> tuple[PlacedBatch, float]:
        """The next batch as it was placed, and the seconds that took; what went wrong there is raised here."""
        message, seconds = self._answer(PLACE)
        return unpacked_placed(message, judged), seconds

    def begin_copy(self) -> None:
        """Let its half of the model be copied, once all that was begun is placed."""
        self._send(COPY)

    def copy(self) -> Compressed:
        """That copy."""
        found: Compressed = self._answer(COPY)
        return found

    def columns(self) -> Ints | None:
        """See `columns_of_placing`."""
        self._send(COLUMNS)
        found: Ints | None = self._answer(COLUMNS)
        return found

    def renumber(self, new: Ints) -> None:
        """See `renumber_placing`."""
        self._send(RENUMBER, new)

    def change_alerts(self, budget: str, false_alerts: float, families: Mapping[str, str]) -> None:
        """See `EventAlerts.change`."""
        self._send(CHANGE, (budget, false_alerts, families))

    def kill(self) -> None:
        """Whatever it does, it does so no more."""
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)

    def close(self) -> None:
        """Nothing of it is left."""
        self._line.close()
        self.kill()
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)

    def _send(self, kind: str, value: Any = None) -> None:
        try:
            with self._sending:
                self._line.send((kind, value))
        except OSError as error:
            raise _gone() from error

    def _answer(self, wanted: str) -> Any:
        while True:
            try:
                kind, told = self._line.recv()
            except (OSError, EOFError) as error:
                raise _gone() from error
            if kind == wanted:
                return told
            if kind == "failed":
                raise told
            preparing.tell(told)


def can_place_beside(core: StreamCore, engine: Engine | None) -> bool:
    """Whether the halves of a step share nothing that only one process can have."""
    topics = core.parts.topics
    is_free = topics is None or isinstance(topics, StorylineTopics)
    return sys.platform == "linux" and is_free and engine is None


def _gone() -> EngineError:
    return EngineError(
        owner="firststory run",
        parameter="the process that places documents in stories",
        allowed="there until the end",
        received="none",
        remedy="Run again: it goes on after the last step in the store. With --cores 1 there is no such process.",
        message="The process that places documents in stories ended unasked; perhaps there was not enough memory.",
    )


def _place_and_end(parent: int, line: Connection, core: StreamCore) -> NoReturn:
    """All that the copied process does: nothing that the first one has begun is to be ended twice."""
    try:
        # Whoever began the run ends it, and the end of the pipe tells.
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        die_with(parent)
        _close_all_but(line.fileno())
        preparing.listen_alone(lambda is_beginning: line.send(("compiling", is_beginning)))
        asked = _received(line)
        while (wanted := asked.get()) is not None:
            if isinstance(wanted, BaseException):
                raise wanted
            kind, value = wanted
            with paused_collection():
                _do(kind, value, line, core)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the first process is gone
    except BaseException as error:
        with suppress(OSError):
            line.send(("failed", _sendable(error)))
    finally:
        os._exit(0)


def _received(line: Connection) -> SimpleQueue[tuple[str, Any] | BaseException | None]:
    """What is asked, as it comes; None at the end. A pipe holds less than a batch: whoever judges would wait for it."""
    asked: SimpleQueue[tuple[str, Any] | BaseException | None] = SimpleQueue()

    def receive() -> None:
        try:
            while True:
                asked.put(line.recv())
        except (OSError, EOFError):
            asked.put(None)
        except BaseException as error:  # whoever waits tells the first process
            asked.put(error)

    threading.Thread(target=receive, name="receiver", daemon=True).start()
    return asked


def _close_all_but(kept: int) -> None:
    """Files and connections of the first process: its lock on the store must not outlive it, by however little."""
    # Those that are open, not all that there may be: in a container these are a thousand million.
    for number in [int(one.name) for one in Path("/proc/self/fd").iterdir()]:
        if number > 2 and number != kept:
            with suppress(OSError):  # the list itself was one of them
                os.close(number)


def _do(kind: str, value: Any, line: Connection, core: StreamCore) -> None:
    parts = core.parts
    if kind == PLACE:
        begin = time.perf_counter()
        judged = unpacked_judged(value)
        message = packed_placed(judged, core.place(judged))
        line.send((kind, (message, time.perf_counter() - begin)))
    elif kind == COPY:
        line.send((kind, copy_of_placing(core)))
        trim_memory()
    elif kind == COLUMNS:
        line.send((kind, columns_of_placing(parts)))
    elif kind == RENUMBER:
        renumber_placing(parts, value)
    elif kind == CHANGE:
        budget, false_alerts, families = value
        parts.alerts.change(parse_budget(budget), false_alerts, families)


def _sendable(error: BaseException) -> BaseException:
    """What went wrong; of what is no error of ours where, since tracebacks are not sent."""
    if isinstance(error, FirststoryError):
        return error
    import traceback

    sent = RuntimeError(f"{type(error).__name__}: {error}")
    sent.add_note("".join(traceback.format_exception(error)))
    return sent
