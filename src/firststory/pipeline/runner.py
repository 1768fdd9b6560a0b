"""The only loop: arrivals into batches, batches into steps, steps into the store.

Resuming is the last saved state and a replay of the steps recorded since. The core is deterministic, so a run that was
killed and resumed leaves the same store as one that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from firststory.errors import ParameterError
from firststory.pipeline.build import build_core, missing_meaning
from firststory.pipeline.duplicates import FindEarlier
from firststory.pipeline.protocols import Detector
from firststory.pipeline.steps import Stepper
from firststory.records import Arrival, Batch, Step
from firststory.settings import Settings
from firststory.state import pack_state, unpack_state
from firststory.store.store import Store, Threshold


class Runner:
    """Runs a stream, with a store or without.

    Parameters
    ----------
    settings : Settings
        Checked already, see `pipeline.opening`.
    store : Store, optional
        Where results go, and where the next run resumes. Without one nothing is kept but the core itself.
    say : callable
        Called with one sentence that a person should read.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store | None = None,
        say: Callable[[str], None] = lambda sentence: None,
        detector: Detector | None = None,
    ) -> None:
        self.settings = settings
        self.store = store
        # Steps that are replayed were taken under the budget of their time.
        budget = settings.budget if store is None else store.settings().get("budget", settings.budget)
        self.core = build_core(replace(settings, budget=budget), detector)
        self.is_busy = False
        """True while a step is computed or written: the wrong moment to stop."""
        self._next_step = 0
        self._reached: int | None = None
        """`Batch.reached` of the last step."""
        self._saved_step = -1
        """The last step that the saved model has seen."""
        self._say = say
        if missing := missing_meaning(settings, detector):
            say(missing)
        if store is not None:
            store.claim()
            _agree(settings, store)
            self._resume(store)
            if budget != settings.budget:
                self._change_budget(store)

    def run(self, arrivals: Iterable[Arrival]) -> Iterator[Step]:
        """Every step, after it is safe in the store. Closing the iterator, or its end, saves the model."""
        if self.store is not None:
            self.store.check_open()
        stepper = Stepper(self.settings.step, self._reached)
        try:
            for batch in stepper.batches(arrivals, self._next_step):
                yield self._run_step(batch)
        finally:
            self.save()

    def _run_step(self, batch: Batch) -> Step:
        """Compute one step and write it to the store."""
        self.is_busy = True
        known = self.store.known_ids([document.id for document in batch.documents]) if self.store else ()
        feedback = self.store.pending_feedback() if self.store else ()
        self.core.apply_feedback([(row["document"], row["useful"]) for row in feedback])
        step = self.core.step(batch, known, self._find_earlier(batch.index))
        self._next_step, self._reached = batch.index + 1, batch.reached
        if self.store is not None:
            is_save_due = batch.index - self._saved_step >= self.settings.save_every
            self.store.write_step(
                step,
                reached=batch.reached,
                threshold=self._threshold(),
                state=pack_state(self.core.get_state()) if is_save_due else None,
                applied_feedback=[row["n"] for row in feedback],
            )
            if is_save_due:
                self._saved_step = batch.index
        self.is_busy = False
        return step

    def _find_earlier(self, step: int) -> FindEarlier | None:
        """Where a step looks for texts that the core has forgotten: among the steps before it, replayed or not."""
        return None if self.store is None else partial(self.store.first_with, before=step)

    def save(self) -> None:
        """Keep the model as it is now, unless a step was cut short: then the store replays it."""
        if self.store is not None and not self.is_busy and self._next_step - 1 > self._saved_step:
            self._write_state(self.store)

    def _write_state(self, store: Store) -> None:
        store.write_state(self._next_step - 1, pack_state(self.core.get_state()))
        self._saved_step = self._next_step - 1

    def _threshold(self) -> Threshold:
        """The threshold as it stands after a step, and why: all of one moment."""
        status = self.core.parts.gate.status()
        return Threshold(status["threshold"], status["needed_p_value"], status["reason"])

    def _resume(self, store: Store) -> None:
        saved = store.last_state()
        if saved is not None:
            self._saved_step, blob = saved
            self.core.set_state(unpack_state(blob))
        replayed = 0
        for index, verdicts in store.recorded(after=self._saved_step):
            self.core.apply_feedback([(row["document"], row["useful"]) for row in store.feedback(step=index)])
            documents = tuple(verdict.document for verdict in verdicts)
            step = self.core.step(Batch(index=index, documents=documents), find_earlier=self._find_earlier(index))
            same = [v.novelty for v in step.verdicts] == [v.novelty for v in verdicts]
            if not same:
                self._say(f"step {index} came out differently when replayed: was the store made by another version?")
            replayed += 1
        self._next_step, self._reached = store.last_step() + 1, store.last_reached()
        if self._next_step:
            self._say(f"resuming after step {self._next_step - 1} ({replayed} steps replayed)")

    def _change_budget(self, store: Store) -> None:
        """Another budget from here on. The model is saved at once, so that no replay crosses the change."""
        self.core.parts.gate.keeper.change(self.settings.budget)
        store.keep_settings(_kept(self.settings))
        if self._next_step:
            self._write_state(store)


def _kept(settings: Settings) -> dict[str, Any]:
    return {**settings.model(), "budget": settings.budget}


def _agree(settings: Settings, store: Store) -> None:
    """A store's results come from one set of model settings; the first run that brings any decides."""
    wanted, kept = settings.model(), store.settings()
    if not kept or store.last_step() < 0:
        store.keep_settings(_kept(settings))
        return
    for name, value in wanted.items():
        if kept.get(name, value) != value:
            raise ParameterError(
                owner="store",
                parameter=name,
                allowed=f"{kept[name]!r}, with which this store was begun",
                received=value,
                remedy=f"Leave --{name.replace('_', '-')} out, or begin another store.",
                message=f"This store was begun with {name} {kept[name]!r}, which cannot become {value!r}.",
            )
