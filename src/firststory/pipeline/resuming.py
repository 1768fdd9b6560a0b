"""Where a run goes on: the newest saved model that is whole, and how much work a replay from there would be."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from firststory.errors import OlderStateError, StateError, StateVersionError
from firststory.pipeline.step import StreamCore
from firststory.state import unpack_state

if TYPE_CHECKING:
    from firststory.store.store import Store

SAVE_AFTER = 10.0
"""Seconds of work after which the model is saved, however few steps they were: no replay takes much longer."""
WORK_FOR_A_SAVE = 20
"""Saving takes at most one part in so many of the time."""
WORTH_SAVING = 1.0
"""Seconds of a replay after which the model is saved at once, so that a run that is killed often still moves on."""


DEFAULT_STEPS = 200
"""`save_every` where nobody says otherwise."""


class Work:
    """What a replay would have to do again: all since the model was saved last."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.documents = 0
        self._held = 0
        self._last_save = 0.0

    @contextmanager
    def counted(self, documents: int) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - begin
        self.documents += documents

    @contextmanager
    def saved(self, held: int) -> Iterator[None]:
        """Around the saving of a model that holds so many documents: the work begins anew."""
        self._last_save = 0.0
        with self.saving():
            yield
        self.restored(held)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Around the rest of it, where that comes later."""
        begin = time.perf_counter()
        yield
        self._last_save += time.perf_counter() - begin

    def restored(self, held: int) -> None:
        """A saved model that holds so many documents was loaded."""
        self.seconds, self.documents, self._held = 0.0, 0, held

    @property
    def is_much(self) -> bool:
        return self.seconds >= max(SAVE_AFTER, WORK_FOR_A_SAVE * self._last_save)

    def is_save_due(self, steps: int, save_every: int) -> bool:
        """Whether to save after so many steps.

        A copy costs as much as the model is large. So that copies cost the same for every document, a model is saved
        again when as many documents came as it held the last time, or half as many with half of the default steps.
        """
        is_grown = DEFAULT_STEPS * self.documents >= save_every * self._held
        return (steps >= save_every and is_grown) or self.is_much


def restored_core(
    core: StreamCore, store: Store, build: Callable[[], StreamCore], say: Callable[[str], None]
) -> tuple[StreamCore, int]:
    """The core as it was saved last, and the step after which it was: -1, nothing, where a replay can begin there.

    A copy that is damaged is passed over for the one before it. Where an earlier version saved them, all steps are
    replayed if that can be: its migrations are done, so that there is no way back to it. `build` makes an empty core.
    """
    problem: StateError | None = None
    replayable_from = store.replayable_from()
    for step in store.saved_steps():
        if step < replayable_from:
            break
        try:
            _set_state(core, store.state(step), step)
        except OlderStateError:
            if replayable_from >= 0:
                raise
            say("The saved model is of an earlier version: all steps are replayed, which takes as long as they took.")
            return build(), -1
        except StateVersionError:
            raise
        except StateError as error:
            problem, core = error, build()
        else:
            if problem is not None:
                say(f"{problem.without_owner.split('). ')[0]}). Going on from the one after step {step}.")
            return core, step
    if problem is not None and replayable_from >= 0:
        raise problem
    if problem is not None:
        say(f"{problem.without_owner.split('). ')[0]}). All steps are replayed.")
    return core, -1


def _set_state(core: StreamCore, blob: bytes, step: int) -> None:
    try:
        core.set_state(unpack_state(blob))
    except StateError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError) as error:
        raise StateError(
            owner="store",
            parameter="the saved model",
            allowed="whole",
            received=f"one after step {step} that is not ({error!r})",
            remedy="Restore a backup of the store.",
            message=f"The model that was saved after step {step} is damaged ({error!r}).",
        ) from error
