"""The only loop: arrivals into batches, batches into steps, steps into the store; in turn, or overlapped on two cores.

Resuming is the last saved state and a replay of the steps recorded since. The core is deterministic, so a run that was
killed and resumed leaves the same store as one that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from firststory.alerts.budget import parse_budget
from firststory.engines.engine import Engine
from firststory.errors import StoreError
from firststory.pipeline.agreement import CHANGEABLE, agree, kept_settings
from firststory.pipeline.allocator import trim_memory
from firststory.pipeline.build import build_core, missing_meaning
from firststory.pipeline.copies import copy_of_judging, copy_of_placing, whole_copy
from firststory.pipeline.duplicates import FindEarlier
from firststory.pipeline.garbage import paused_collection
from firststory.pipeline.held_back import HeldBack
from firststory.pipeline.judged_batch import JudgedBatch
from firststory.pipeline.made_with import made_with, what_changed
from firststory.pipeline.overlap import MAX_UNPLACED, Overlap
from firststory.pipeline.parts import Parts
from firststory.pipeline.placed_batch import PlacedBatch
from firststory.pipeline.placing import Placing
from firststory.pipeline.placing_process import MAX_SENT, PlacingProcess, can_place_beside
from firststory.pipeline.protocols import Detector, UsesEngine
from firststory.pipeline.pruning import prune
from firststory.pipeline.read_ahead import read_with_vectors
from firststory.pipeline.resuming import WORTH_SAVING, Work, restored_core
from firststory.pipeline.steps import Stepper
from firststory.pipeline.unwritten import Unwritten
from firststory.pipeline.vector_intake import VectorIntake
from firststory.records import Arrival, Batch, Step
from firststory.settings import Settings
from firststory.store.step_to_write import About, StepToWrite, Threshold
from firststory.text.encoder import SentenceEncoder

if TYPE_CHECKING:  # without a store none of its libraries need be loaded
    from firststory.store.states import Compressed
    from firststory.store.store import Store


class _Begun(NamedTuple):
    """A batch that was judged, and what was found out at that moment."""

    judged: JudgedBatch
    applied_feedback: Sequence[int]
    novelty: Mapping[str, Any]
    """Where the threshold on novelty stands."""
    is_saved: bool
    """Whether the model is saved once it is placed."""
    half: Compressed | None = None
    """What was copied of it before that."""


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
    engine : Engine, optional
        Computes the blocks of a step where the detector has some; the caller closes it.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store | None = None,
        say: Callable[[str], None] = lambda sentence: None,
        detector: Detector | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.settings = settings
        self._engine = engine
        self.store = store
        # Steps that are replayed were taken under the settings of their time.
        kept = store.settings() if store is not None else {}
        before = replace(settings, **{name: kept[name] for name in CHANGEABLE if name in kept})
        self.encoder = None if settings.vectors is None else SentenceEncoder(settings.vectors)
        self._intake = VectorIntake(
            self.encoder, max_words=settings.vector_words, dimensions=store.vector_dimensions() if store else None
        )
        self._build = partial(build_core, before, detector)
        self.core = self._build()
        self._hand_engine_over()
        self.is_busy = False
        """True while a step is computed: the wrong moment to stop."""
        self._unwritten = None if store is None else Unwritten(store)
        self._settle: Callable[[], None] = lambda: None
        """Waits until every step that was judged is in the store."""
        self._next_step = 0
        self._reached: int | None = None
        """`Batch.reached` of the last step."""
        self._saved_step = -1
        """The last step that the saved model has seen."""
        self._beside: PlacingProcess | None = None
        """Places documents, where this process does not."""
        self._has_parted = False
        """Whether half of the model has gone with it."""
        self._work = Work()
        self._say = say
        if missing := missing_meaning(settings, detector):
            say(missing)
        if store is not None:
            store.claim()
            self._made_with = made_with(settings, detector)
            agree(settings, store, self.encoder, self._made_with)
            if changed := what_changed(kept.get("made_with") or self._made_with, self._made_with):
                say(changed)
                store.keep_settings(store.settings() | {"made_with": self._made_with})
            self._resume(store)
            if before != settings:
                self._change_settings(before, store)

    @property
    def next_step(self) -> int:
        """The number of steps so far, with those of earlier runs."""
        return self._next_step

    def run(self, arrivals: Iterable[Arrival], *, never_wait: bool = False) -> Generator[Step, None, None]:
        """Every step, after it is safe in the store. Closing the iterator, or its end, saves the model.

        No arrival is asked for before the steps of those before it are handed out; unless arrivals `never_wait`, as
        those of a file that is there: then some steps are written at once, and handed out a moment later. Where the
        iterator is closed, what was written by then is in the store, handed out or not.
        """
        held = HeldBack(self._write)
        self._settle = held.write
        try:
            for batch in self.batches(arrivals):
                with paused_collection():
                    held.add(self._placed(self._judged(batch)))
                    if never_wait and not held.are_enough:
                        continue
                    held.write()
                yield from self._handed_out(held)
            held.write()
            yield from self._handed_out(held)
        except (Exception, KeyboardInterrupt):  # what was judged before it is kept
            held.write()
            yield from self._handed_out(held)
            raise
        finally:
            self._settle = lambda: None
            for step in held.safe():
                self._has_written(step)
            self.save()

    def _handed_out(self, held: HeldBack) -> Iterator[Step]:
        for step in held.safe():
            self._has_written(step)
            yield step

    def run_overlapped(
        self, arrivals: Iterable[Arrival], is_wanted: Callable[[], bool] = lambda: True, *, together: int = 1
    ) -> Generator[Step, None, None]:
        """The same steps, bit for bit, on two cores: one is judged while others are read, placed and written.

        Every step is handed out as soon as it is safe in the store, a few steps after it was read. Arrivals are asked
        for by a thread of its own. Once `is_wanted` says no, what was judged is written, and what was only read is
        forgotten: the next run reads it again. So it is where the iterator is closed; what was written by then is in
        the store, handed out or not. `together`: of so many steps the encoder makes the vectors at once.
        """
        known_ids = None if self.store is None else self.store.known_ids
        batches = read_with_vectors(self.batches(arrivals), self._intake, known_ids, together)
        beside = self._beside
        overlap = Overlap(batches, self._write, MAX_UNPLACED if beside is None else MAX_SENT)
        self.core.overlaps = True

        def fail(problem: BaseException) -> None:
            overlap.fail(problem)
            if beside is not None:
                beside.kill()  # nobody asks for its answers any more

        try:
            with overlap, Placing(overlap.write, fail) as placing:

                def settle() -> None:
                    placing.wait()
                    overlap.settle()

                self._settle = settle
                while (found := overlap.next(is_wanted)) is not None:
                    if isinstance(found, Step):
                        self._has_written(found)
                        yield found
                    else:
                        with paused_collection():
                            begun = self._judged(found)
                            if beside is not None:
                                beside.begin(begun.judged)
                            if begun.is_saved and self.core.may_judge_ahead():
                                begun = begun._replace(half=self._half_copied(begun.judged))
                        placing.begin(partial(self._placed, begun))
                        if not self.core.may_judge_ahead():
                            placing.wait()
        finally:
            self.core.overlaps, self._settle = False, lambda: None
            for step in overlap.left():
                self._has_written(step)
            self.save()

    @contextmanager
    def placing_beside(self) -> Iterator[None]:
        """Within this block `run_overlapped` places documents in a process of its own, where the stream allows it.

        Begin it before other threads are at work, since that process is a copy of this one. It has half of the model
        then: where the block ends, the model is saved, and this runner takes no more documents.
        """
        if not can_place_beside(self.core, self._engine):
            yield
            return
        self._beside = PlacingProcess(self.core)
        self.core.make_room = self._make_room_beside
        try:
            yield
        finally:
            self._beside.close()
            self._beside, self._has_parted = None, True

    def _make_room_beside(self, parts: Parts) -> None:
        """`pruning.make_room`, where stories and alerts are in another process."""
        assert self._beside is not None
        in_use = self._beside.columns()
        if in_use is not None and (new := prune(parts, in_use)) is not None:
            self._beside.renumber(new)

    def batches(self, arrivals: Iterable[Arrival]) -> Iterator[Batch]:
        """The arrivals cut into the steps that come next."""
        if self.store is not None:
            self.store.check_open()
        if self._has_parted:
            raise StoreError(
                owner="runner",
                parameter="the model",
                allowed="whole",
                received="half of it: the other half has ended with the process that placed documents",
                remedy="Make another Runner: it goes on after the last whole step.",
            )
        if self._unwritten:
            raise StoreError(
                owner="store",
                parameter="the last step",
                allowed="written",
                received=f"{len(self._unwritten)} steps that were judged and could not be written",
                remedy="Open it again: another Monitor or Store goes on after the last whole step.",
            )
        return Stepper(self.settings.step, self._reached).batches(self._intake.checked(arrivals), self._next_step)

    def _judged(self, batch: Batch) -> _Begun:
        """The first half of a step."""
        asked = self._unwritten
        told = None if asked is None else asked.before_step([document.id for document in batch.documents])
        known, feedback, wanted = told or ((), (), {})
        batch = self._intake.encoded(batch, known)
        self.is_busy = True
        if wanted:
            self._take_up_changes(wanted)
        self.core.apply_feedback([(row["document"], row["useful"]) for row in feedback])
        with self._work.counted(len(batch.documents)):
            judged = self.core.judge(batch, known, self._find_earlier(batch.index))
        self._next_step, self._reached = batch.index + 1, batch.reached
        applied = [row["n"] for row in feedback]
        if asked is not None:
            asked.add(judged, applied)
        steps = batch.index - self._saved_step
        is_saved = self.store is not None and self._work.is_save_due(steps, self.settings.save_every)
        self.is_busy = False
        return _Begun(judged, applied, self.core.parts.gate.status(), is_saved)

    def _placed(self, begun: _Begun) -> StepToWrite:
        """The whole step, with what is written beside it: the model too, where that is due."""
        with paused_collection():
            if self._beside is None:
                with self._work.counted(0):
                    placed = self.core.place(begun.judged)
            else:
                placed, seconds = self._beside.placed(begun.judged)
                self._work.seconds += seconds
            step = self.core.tell(begun.judged, placed)
        if self.store is None:
            return StepToWrite(step)
        state = None
        if begun.is_saved:
            if begun.half is not None:
                with self._work.saving():
                    state = whole_copy(begun.half, self._other_half())
            else:
                with self._work.saved(self._held):
                    state = self._copy()
                self._saved_step = step.index
        return StepToWrite(step, self._about(begun, placed), state)

    def _copy(self) -> Compressed:
        if self._beside is not None:
            self._beside.begin_copy()
        return whole_copy(copy_of_judging(self.core), self._other_half())

    def _half_copied(self, judged: JudgedBatch) -> Compressed:
        """Of the model what judges documents, as it is after this batch; the next one may be judged at once."""
        if self._beside is not None:
            self._beside.begin_copy()
        with self._work.saved(self._held):
            half = copy_of_judging(self.core)
        self._saved_step = judged.batch.index
        return half

    def _other_half(self) -> Compressed:
        return copy_of_placing(self.core) if self._beside is None else self._beside.copy()

    def _write(self, judged: Sequence[StepToWrite]) -> None:
        if self.store is not None:
            self.store.write_steps(judged)

    def _has_written(self, step: Step) -> None:
        if self._unwritten is not None:
            self._unwritten.remove(step)
            if step.index == self._saved_step:
                trim_memory()

    def _about(self, begun: _Begun, placed: PlacedBatch) -> About:
        return About(
            reached=begun.judged.batch.reached,
            threshold=Threshold(*(begun.novelty[name] for name in Threshold._fields)),
            applied_feedback=begun.applied_feedback,
            vector_dimensions=self._intake.dimensions,
            alerts_status=placed.alerts_status,
        )

    @property
    def _held(self) -> int:
        """How many documents the model holds."""
        return len(self.core.parts.memory)

    def _hand_engine_over(self) -> None:
        """A detector that was loaded from a state has none."""
        if self._engine is not None and self.encoder is not None:
            self.encoder.use_engine(self._engine)
        if self._engine is not None and isinstance(self.core.parts.detector, UsesEngine):
            self.core.parts.detector.use_engine(self._engine)

    def _find_earlier(self, step: int) -> FindEarlier | None:
        """Where a step looks for texts that the core has forgotten: among the steps before it, replayed or not."""
        return None if self._unwritten is None else partial(self._unwritten.first_with, before=step)

    def save(self) -> None:
        """Keep the model as it is now, unless a step was cut short or not written: then the store replays it."""
        is_ahead = self.is_busy or bool(self._unwritten) or self._has_parted
        if self.store is not None and not is_ahead and self._next_step - 1 > self._saved_step:
            self._write_state(self.store, self._next_step - 1)

    def _write_state(
        self, store: Store, step: int, *, alone: bool = False, settings: dict[str, Any] | None = None
    ) -> None:
        with paused_collection(), self._work.saved(self._held):
            store.write_state(step, self._copy(), alone=alone, settings=settings)
        self._saved_step = step
        trim_memory()

    def _resume(self, store: Store) -> None:
        self.core, self._saved_step = restored_core(self.core, store, self._build, self._say)
        self._work.restored(self._held)
        self._hand_engine_over()
        replayed = 0
        for index, verdicts in store.recorded(after=self._saved_step):
            self.core.apply_feedback([(row["document"], row["useful"]) for row in store.feedback(step=index)])
            documents = tuple(verdict.document for verdict in verdicts)
            with self._work.counted(len(documents)):
                step = self.core.step(Batch(index=index, documents=documents), find_earlier=self._find_earlier(index))
            same = [v.novelty for v in step.verdicts] == [v.novelty for v in verdicts]
            if not same:
                self._say(f"step {index} came out differently when replayed: was the store made by another version?")
            replayed += 1
            if self._work.is_much:
                self._write_state(store, index)
        self._next_step, self._reached = store.last_step() + 1, store.last_reached()
        if self._work.seconds > WORTH_SAVING:
            self._write_state(store, self._next_step - 1)
        if self._next_step:
            self._say(f"resuming after step {self._next_step - 1} ({replayed} steps replayed)")

    def _change_settings(self, before: Settings, store: Store) -> None:
        """Other alerts from here on. The model is saved at once, so that no replay crosses the change."""
        if before.budget != self.settings.budget:
            self.core.parts.gate.keeper.change(self.settings.budget)
        now = self.settings
        if self._beside is None:
            self.core.parts.alerts.change(parse_budget(now.budget), now.false_alerts, now.source_families)
        else:
            self._beside.change_alerts(now.budget, now.false_alerts, now.source_families)
        kept = kept_settings(self.settings, self.encoder, self._made_with)
        if self._next_step:
            self._write_state(store, self._next_step - 1, alone=True, settings=kept)
        else:
            store.keep_settings(kept)

    def _take_up_changes(self, asked: Mapping[str, Any]) -> None:
        """Settings that someone asked for since the last step, see `store.setting_changes`."""
        if self.store is None:
            return
        from firststory.store.setting_changes import taken_up

        self._settle()
        before = self.settings
        self.settings = replace(before, **{name: asked[name] for name in CHANGEABLE if name in asked})
        if before != self.settings:
            self._change_settings(before, self.store)
        taken_up(self.store, asked)
