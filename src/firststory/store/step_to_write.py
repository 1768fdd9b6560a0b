"""What is written of a step: what it brought, what is to be said about it, and the model after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from firststory.records import Step

if TYPE_CHECKING:  # a run without a store judges too, and loads nothing of its libraries
    from firststory.store.states import Compressed


class Threshold(NamedTuple):
    """Where the threshold of alerts stood after a step, and why."""

    threshold: float | None
    needed_p_value: float | None
    reason: str


class About(NamedTuple):
    """What a step does not say of itself."""

    reached: int | None = None
    """See `Batch.reached`."""
    threshold: Threshold | None = None
    applied_feedback: Sequence[int] = ()
    vector_dimensions: int | None = None
    alerts_status: Mapping[str, Any] | None = None


class StepToWrite(NamedTuple):
    """A step that was judged, and what is written with it."""

    step: Step
    about: About = About()
    state: bytes | Compressed | None = None
    """The model as it was after it, where a copy is kept."""
