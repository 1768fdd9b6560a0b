"""Documents gathered into steps: by number, or by the times that the documents themselves carry.

Steps in time lie on a fixed grid since 1970, so that where they begin does not depend on where reading began. A
document that belongs to a step that is closed already is late: it joins the open step, and is counted. A time far
ahead of all others is believed when the next documents of the batch agree; until then its document stays in the open
step and moves nothing.

A step by number closes early when its source is idle, so that a slow feed is answered: `run` then judges what it has.
A step in time stays open, as was asked for. What a step held is recorded with it, so a replay cuts where the run did.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from firststory.errors import ParameterError
from firststory.pipeline.clock import CONFIRMING_DOCUMENTS, FAR_AHEAD_SECONDS
from firststory.records import Arrival, Batch, Document, Idle, Position, Quarantined
from firststory.units import EPOCH, MICROSECOND

UNITS = {"s": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400, "day": 86400}
UNITS |= {"w": 604800, "week": 604800}
MAX_DOCUMENTS = 10_000
"""Documents of one step, however much time it spans: memory is bounded."""

WRONG_CLOCK_DOCUMENTS = 100
"""Late documents in one step, nearly all that it has, after which the clock is taken to have been wrong: a single
document from the year 2099 must not keep a step open for ever."""


class Stepper:
    """Cuts arrivals into batches.

    Parameters
    ----------
    step : int or str
        A number of documents, or a time: "15min", "6h", "1d".
    reached : int, optional
        `Batch.reached` of the last batch of an earlier run, to go on from there.

    Examples
    --------
    >>> arrivals = [(Document(id=str(i), text="x"), Position("f", {"line": i})) for i in range(5)]
    >>> [len(batch.documents) for batch in Stepper(2).batches(arrivals)]
    [2, 2, 1]
    """

    def __init__(self, step: int | str, reached: int | None = None) -> None:
        self.count, self.seconds = parse_step(step)
        self._reached = reached

    def batches(self, arrivals: Iterable[Arrival], first: int = 0) -> Iterator[Batch]:
        """Every batch as soon as it is complete; `first` is the index of the first one."""
        pending = _Pending(first)
        high = self._reached
        confirmed = min(CONFIRMING_DOCUMENTS, self.count)
        for arrival in arrivals:
            if isinstance(arrival, Idle):
                # A step in time waits for its end; one by number would only keep people waiting.
                if not self.seconds and not pending.is_empty:
                    high = self._reached = self._reached_after(pending, high)
                    yield pending.close(high)
                continue
            if isinstance(arrival, Quarantined):
                pending.quarantine(arrival)
            else:
                document, position = arrival
                here = self._place(document)
                if here is not None:
                    pending.ahead = pending.ahead + 1 if self._is_far(here, high) else 0
                    # Not believed yet: it goes where a document without a time would.
                    here = here if not pending.ahead or pending.ahead >= confirmed else None
                if self.seconds and here is not None and pending.documents and high is not None and here > high:
                    # Who goes on after a batch that confirmed a long silence has no other way to know of it.
                    yield pending.close(here if pending.ahead else high)
                if here is not None:
                    # By time, the open step is the latest; by number, what closed is what the last batch reached.
                    closed = high if self.seconds else self._reached
                    pending.late += closed is not None and here < closed
                    high = here if high is None else max(high, here)
                pending.add(document, position)
                if (
                    self.seconds
                    and here is not None
                    and pending.late >= max(WRONG_CLOCK_DOCUMENTS, 0.9 * len(pending.documents))
                ):
                    high = here
                    yield pending.close(high)
            if len(pending.documents) >= self.count or len(pending.quarantined) >= MAX_DOCUMENTS:
                high = self._reached = self._reached_after(pending, high)
                yield pending.close(high)
        if not pending.is_empty:
            self._reached = self._reached_after(pending, high)
            yield pending.close(self._reached)

    def _reached_after(self, pending: _Pending, high: int | None) -> int | None:
        """What is reached after a batch by number: where all of it was late, the clock was wrong before."""
        if self.seconds or not pending.late:
            return high
        places = [
            here
            for document in pending.documents
            if (here := self._place(document)) is not None and not self._is_far(here, high)
        ]
        return max(places) if pending.late == len(places) else high

    def _is_far(self, here: int, high: int | None) -> bool:
        """Whether a place is so far ahead of what was reached that one document is not enough to believe it."""
        return high is not None and here - high > FAR_AHEAD_SECONDS // (self.seconds or 1e-6)

    def _place(self, document: Document) -> int | None:
        """The step in time that a document belongs to; by number, its time itself."""
        if document.time is None:
            return None
        microseconds = (document.time - EPOCH) // MICROSECOND
        return microseconds // (self.seconds * 1_000_000) if self.seconds else microseconds


class _Pending:
    """The batch that is being gathered."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._clear()

    def _clear(self) -> None:
        self.documents: list[Document] = []
        self.quarantined: list[Quarantined] = []
        self.positions: dict[str, Position] = {}
        self.late = 0
        self.ahead = 0
        """Documents far ahead, in a row, at the end of the batch: a batch does not look into the one before."""

    @property
    def is_empty(self) -> bool:
        return not (self.documents or self.quarantined)

    @property
    def is_clock_wrong(self) -> bool:
        """Whether nearly all documents are late: it was the clock that ran ahead."""
        return self.late >= max(WRONG_CLOCK_DOCUMENTS, 0.9 * len(self.documents))

    def add(self, document: Document, position: Position) -> None:
        self.documents.append(document)
        self.positions[position.source] = position

    def quarantine(self, bad: Quarantined) -> None:
        self.quarantined.append(bad)
        self.positions[bad.position.source] = bad.position

    def close(self, reached: int | None) -> Batch:
        batch = Batch(
            index=self.index,
            documents=tuple(self.documents),
            positions=tuple(self.positions.values()),
            quarantined=tuple(self.quarantined),
            late=self.late,
            reached=reached,
        )
        self.index += 1
        self._clear()
        return batch


def parse_step(step: int | str) -> tuple[int, int]:
    """(documents, seconds): 500 is (500, 0), "1d" is (MAX_DOCUMENTS, 86400).

    Examples
    --------
    >>> parse_step("15min"), parse_step(500)
    ((10000, 900), (500, 0))
    """
    if isinstance(step, int) and not isinstance(step, bool) and step >= 1:
        return step, 0
    if isinstance(step, str):
        if step.strip().isdigit() and int(step) >= 1:
            return int(step), 0
        found = re.fullmatch(r"\s*([0-9]+)\s*([a-z]+)\s*", step.lower())
        unit = UNITS.get(found[2].removesuffix("s") or "s") if found else None
        if found and unit and int(found[1]) >= 1:
            return MAX_DOCUMENTS, int(found[1]) * unit
    raise ParameterError(
        owner="settings",
        parameter="step",
        allowed="a number of documents >= 1, or a time such as 15min, 6h, 1d",
        received=step,
        remedy="Use 100, or 1d for one step per day.",
    )
