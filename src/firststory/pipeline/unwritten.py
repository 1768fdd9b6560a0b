"""Steps that were judged and are not in the store yet: look-ups in the store see them all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from firststory.errors import StoreLostError
from firststory.pipeline.judged_batch import JudgedBatch
from firststory.records import Step

if TYPE_CHECKING:
    from firststory.store.looking_up import BeforeStep
    from firststory.store.store import Store

T = TypeVar("T")


class _Judged(NamedTuple):
    ids: frozenset[str]
    first_with: dict[int, str]
    """For each text the id of the first document that had it, see `Store.first_with`."""
    applied_feedback: frozenset[int]


class Unwritten:
    """What the look-ups before a step are answered with: the store, and the steps on their way to it.

    A step is added when it is judged and removed when it is known to be written, both by the thread that judges. In
    between both may know it, to the same answer.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._steps: dict[int, _Judged] = {}

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, judged: JudgedBatch, applied_feedback: Sequence[int]) -> None:
        from firststory.store.row_writing import all_storable

        found = {one.document.id: one for one in judged.documents}
        documents = [found[document.id] for document in judged.fresh]
        ids = all_storable([one.document.id for one in documents])
        firsts = all_storable([one.duplicate_of or one.document.id for one in documents])
        # Of several with one text the first: later keys would replace it, hence reversed.
        numbers = [one.fingerprints.whole for one in documents]
        first_with = dict(zip(reversed(numbers), reversed(firsts), strict=True))
        self._steps[judged.batch.index] = _Judged(frozenset(ids), first_with, frozenset(applied_feedback))

    def remove(self, step: Step) -> None:
        del self._steps[step.index]

    def before_step(self, ids: Sequence[str]) -> BeforeStep:
        """`Store.before_step`, of a store that had written all steps."""
        found = self._ask(lambda: self._store.before_step(ids))
        if not self._steps:
            return found
        steps = self._steps.values()
        applied = frozenset().union(*(judged.applied_feedback for judged in steps))
        return found._replace(
            known_ids=found.known_ids.union(*(judged.ids.intersection(ids) for judged in steps)),
            feedback=tuple(row for row in found.feedback if row["n"] not in applied),
        )

    def first_with(self, fingerprints: Sequence[int], before: int) -> dict[int, str]:
        """`Store.first_with`: what the store has is older than what it has not."""
        found = self._ask(lambda: self._store.first_with(fingerprints, before))
        asked = frozenset(fingerprints)
        for index, judged in self._steps.items():
            if index < before:
                here = judged.first_with
                found = {number: here[number] for number in asked.intersection(here)} | found
        return found

    def _ask(self, question: Callable[[], T]) -> T:
        """A server that went away may be back: nothing is changed by asking again, nor by asking once more."""
        for _ in range(2):
            with suppress(StoreLostError):
                return question()
        return question()
