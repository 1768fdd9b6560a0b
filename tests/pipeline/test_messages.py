"""What goes over from the process that judges to the one that places, and back: nothing is lost on the way."""

from __future__ import annotations

import dataclasses
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

from firststory.errors import ParameterError, SourceError, StoreFullError, WidthError
from firststory.pipeline.build import build_core, detector_names
from firststory.pipeline.messages import packed_judged, packed_placed, unpacked_judged, unpacked_placed
from firststory.pipeline.pruning import columns_of_placing, prune, renumber_placing
from firststory.records import Batch, Document
from firststory.state import flatten, pack_state
from pipeline.test_pruning import stream


def sent(value):
    """As it comes out of a pipe."""
    return ForkingPickler.loads(ForkingPickler.dumps(value))


def in_batches(documents, size=13):
    return [Batch(n, tuple(documents[i : i + size])) for n, i in enumerate(range(0, len(documents), size))]


def taken_apart(settings, batches):
    """The steps of two cores of which one judges and one places, and what they know in the end."""
    judging, placing, steps = build_core(settings), build_core(settings), []

    def make_room(parts):
        in_use = sent(columns_of_placing(placing.parts))
        if in_use is not None and (new := prune(parts, in_use)) is not None:
            renumber_placing(placing.parts, sent(new))

    judging.make_room = make_room
    for batch in batches:
        judged = judging.judge(batch)
        there = unpacked_judged(sent(packed_judged(judged)))
        answer = sent(packed_placed(there, placing.place(there)))
        steps.append(judging.tell(judged, unpacked_placed(answer, judged)))
    state = flatten(judging._judging_state()) | flatten(placing._placing_state())
    return steps, state, judging


@pytest.mark.parametrize("detector", detector_names())
def test_two_halves_that_only_hear_of_one_another_are_one_whole(news, quick, detector):
    settings = quick(detector=detector, topics="storylines", topic_step=50)
    again = [dataclasses.replace(one, id=f"again {one.id}") for one in news[:40:3]]
    nearly = [dataclasses.replace(one, id=f"nearly {one.id}", text=f"{one.text} indeed") for one in news[:40:5]]
    wordless = [Document(f"empty {i}", "...") for i in range(20)]
    own = [dataclasses.replace(one, id=f"own {one.id}", vector=np.ones(4, np.float16) / 2) for one in news[60:80]]
    batches = in_batches([*news[:60], *again, *nearly, *wordless, *own, *news[80:]])
    core = build_core(settings)
    whole = [core.step(batch) for batch in batches]
    assert any(step.alerts or step.stories for step in whole)
    steps, state, _ = taken_apart(settings, batches)
    assert steps == whole and pack_state(state) == pack_state(core.get_state())


def test_columns_get_the_same_new_numbers_in_both(quick):
    settings = quick(detector="fused-words", window=60, max_terms=500, topics="storylines")
    documents = list(stream(600))
    core = build_core(settings)
    whole = [core.step(batch) for batch in in_batches(documents)]
    steps, state, judging = taken_apart(settings, in_batches(documents))
    assert judging.parts.vectorizer.prunings_ and steps == whole
    assert pack_state(state) == pack_state(core.get_state())


ERRORS = [
    StoreFullError(owner="store", parameter="the disk", allowed="room", received="none", remedy="Make room."),
    SourceError(owner="run", parameter="FILE", allowed="there", received="none", remedy="Look.", message="Gone."),
    WidthError("X", 3, 5),
    ParameterError(owner="X", parameter="alpha", allowed="positive", received=-1, remedy="Pass 0.1."),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_says_the_same_in_another_process(error):
    error.add_note("seen there")
    found = sent(error)
    assert type(found) is type(error) and str(found) == str(error) and vars(found) == vars(error)
