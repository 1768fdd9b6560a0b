"""Judged steps that are held back for a moment: a database takes several at once for little more than one."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence

from firststory.records import Step
from firststory.store.step_to_write import StepToWrite

STEPS, DOCUMENTS = 10, 1000
"""Of one transaction: with more of them next to nothing is saved."""
SECONDS = 1.0
"""That a step waits for others: people watch."""


def documents_of(judged: Collection[StepToWrite]) -> int:
    """What was read of the sources for these steps."""
    return sum([len(one.step.verdicts) + len(one.step.quarantined) for one in judged])


def are_enough(judged: Collection[StepToWrite], since: float) -> bool:
    """Whether steps of which the first has waited `since` then are to be written. A copy of the model takes room."""
    return (
        len(judged) >= STEPS
        or documents_of(judged) >= DOCUMENTS
        or any(one.state is not None for one in judged)
        or time.monotonic() - since >= SECONDS
    )


class HeldBack:
    """Steps between the thread that judges them, that writes them too, and whoever waits for them.

    Parameters
    ----------
    write : callable
        Writes steps that follow one another.
    """

    def __init__(self, write: Callable[[Sequence[StepToWrite]], None]) -> None:
        self._write = write
        self._judged: list[StepToWrite] = []
        self._safe: deque[Step] = deque()
        self._since = 0.0

    def add(self, judged: StepToWrite) -> None:
        if not self._judged:
            self._since = time.monotonic()
        self._judged.append(judged)

    @property
    def are_enough(self) -> bool:
        return are_enough(self._judged, self._since)

    def write(self) -> None:
        """All that wait. Where that fails, they are not tried again."""
        judged, self._judged = self._judged, []
        if judged:
            self._write(judged)
            self._safe.extend([one.step for one in judged])

    def safe(self) -> Iterator[Step]:
        """The steps that are in the store and were not handed out, each once."""
        while self._safe:
            yield self._safe.popleft()
