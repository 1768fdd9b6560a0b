"""Memory is bounded by counts, not by days alone: in a stream of millions of documents a day nothing grows for long."""

import json
from collections import Counter, deque
from dataclasses import replace

import numpy as np
import pytest

from firststory.alerts.events import held_back, ladder
from firststory.alerts.events.engine import EventAlerts
from firststory.lab.benchmarks import load_stream
from firststory.pipeline.build import build_core
from firststory.pipeline.step import StreamCore
from firststory.records import Batch
from firststory.settings import load
from firststory.sources.parse import document_of
from firststory.stories import document_stories, quiet
from firststory.stories.tracker import StoryTracker
from firststory.text import forms, meaning
from firststory.text.phrases import alphabet
from firststory.text.phrases.reader import PhraseReader

STEP, LATER = 200, 0.1
"""Documents of a step; and by how much a container may be longer later on."""
PERIODS = (range(40), range(40, 55), range(55, 70))
"""Steps: the warm-up, and two that are compared."""
SLACK = 64


@pytest.fixture
def small(monkeypatch):
    """A core whose every bound is small, so that a short stream goes beyond all of them."""
    for module, name, value in (
        (ladder, "MOST_CLIMBS", 50),
        (held_back, "MOST_STORIES", 50),
        (quiet, "FEW", 20),
        (document_stories, "MAX_MERGED", 20),
        (forms, "MAX_FORMS", 1 << 13),
        (forms, "MAX_READ", 1 << 10),
        (meaning, "MAX_WORDS", 1 << 11),
        (alphabet, "MAX_NUMBERS", 1 << 9),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(load_stream, "RUNNING", 100)
    monkeypatch.setattr(load_stream, "NEW_STORY", 0.02)
    core = build_core(load({"window": "300", "max_terms": "6000", "topic_step": "200"}))
    parts = replace(
        core.parts,
        stories=StoryTracker(window=300, max_stories=60),
        alerts=EventAlerts(max_documents=300),
        phrases=PhraseReader(capacity=1 << 10),
    )
    return StreamCore(parts, window=300)


def batches():
    documents = [document_of(json.loads(line), {}) for line in load_stream.documents(STEP * PERIODS[-1].stop)]
    for index in range(PERIODS[-1].stop):
        yield Batch(index=index, documents=tuple(documents[index * STEP : (index + 1) * STEP]))


def containers(root):
    """The length of the longest container at each place below an object; elements of a collection share one place."""
    found, seen, waiting = Counter(), set(), [("core", root)]
    while waiting:
        place, value = waiting.pop()
        if id(value) in seen or isinstance(value, (str, bytes, int, float, type, np.generic)) or callable(value):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            found[place] = max(found[place], len(value) if value.ndim else 1)
        elif isinstance(value, dict):
            found[place] = max(found[place], len(value))
            waiting += [(f"{place}.*", one) for one in value.values()]
        elif hasattr(value, "_fields"):
            waiting += [(f"{place}.{name}", getattr(value, name)) for name in value._fields]
        elif isinstance(value, (list, tuple, set, frozenset, deque)):
            found[place] = max(found[place], len(value))
            waiting += [(f"{place}[]", one) for one in value]
        elif type(value).__module__.startswith("firststory"):
            slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
            names = dict.fromkeys([*getattr(value, "__dict__", ()), *slots])
            waiting += [(f"{place}.{name}", getattr(value, name)) for name in names if hasattr(value, name)]
    return found


def longest(core):
    """Of each of the periods, how long each container was at most."""
    found = {period: Counter() for period in PERIODS}
    for batch in batches():
        core.step(batch)
        period = next(one for one in PERIODS if batch.index in one)
        if period != PERIODS[0] or batch.index % 10 == 9:
            found[period] |= containers(core)
        found[period]["core.parts.phrases.key_numbers"] = len(alphabet._numbers)
    return found


def grown(found):
    _, before, after = (found[period] for period in PERIODS)
    return {
        place: (before[place], n) for place, n in after.items() if n > (1.0 + LATER) * before[place] + SLACK
    }  # fmt: skip


def test_no_container_grows_for_long(small):
    found = longest(small)
    assert len(found[PERIODS[2]]) > 100
    assert found[PERIODS[2]]["core.parts.alerts._ladder._climbs"] == 50
    assert not grown(found)


def test_without_their_bounds_containers_are_found_to_grow(small, monkeypatch):
    monkeypatch.setattr(ladder, "MOST_CLIMBS", 10**9)
    monkeypatch.setattr(quiet, "FEW", 10**9)
    found = grown(longest(small))
    assert {"core.parts.alerts._ladder._climbs", "core.parts.stories._ageing._by_time._queue"} <= found.keys()
