"""Live sources by themselves: bounded, in step with the store, and stubborn."""

from __future__ import annotations

import threading
import time
from itertools import count, islice

import pytest

from firststory.errors import SourceError
from firststory.pipeline.steps import Stepper
from firststory.records import Document, Idle, Position
from firststory.sources import queue
from firststory.sources.live import LiveSources
from firststory.sources.source import Unavailable


class Endless:
    """Numbers its documents; does what it is told at some of them; remembers what was acknowledged."""

    def __init__(self, name="endless", at=None, text="x", end=None):
        self.name, self.at, self.text, self.end = name, at or {}, text, end
        self.handed, self.acknowledged, self.is_closed = 0, [], False

    def read(self, after):
        for n in count(1 if after is None else after.at["n"] + 1):
            if self.end is not None and n > self.end:
                while True:
                    yield Idle()
                    time.sleep(0.01)
            if n in self.at:
                raise self.at.pop(n)
            self.handed = n
            yield Document(id=f"{self.name}-{n}", text=self.text), Position(self.name, {"n": n})

    def acknowledge(self, position):
        self.acknowledged.append(position.at["n"])

    def close(self):
        self.is_closed = True


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize(("text", "most"), [("x", queue.MAX_ARRIVALS), ("x" * 1_000_000, 20)])
def test_a_source_that_is_faster_than_the_detector_waits(text, most):
    source = Endless(text=text)
    with LiveSources([source], {}, print) as live:
        until(lambda: source.handed >= most)
        assert source.handed <= most + 2
        assert [document.id for document, _ in islice(live, 5)] == [f"endless-{n}" for n in range(1, 6)]
        until(lambda: source.handed >= most + 5)
        assert source.handed <= most + 7
    assert source.is_closed


def test_a_source_that_was_away_goes_on_where_it_was():
    source = Endless(at={4: Unavailable("away"), 6: Unavailable("away again", retry_after=0.01)})
    said = []
    with LiveSources([source], {}, said.append) as live:
        assert [p.at["n"] for _, p in islice((one for one in live if not isinstance(one, Idle)), 8)] == list(
            range(1, 9)
        )
    assert sum("trying again" in sentence for sentence in said) == 2 and sum("is back" in one for one in said) == 2


def test_reading_begins_after_the_committed_position_and_commits_are_acknowledged():
    source = Endless(end=12)
    with LiveSources([source], {"endless": Position("endless", {"n": 7})}, print) as live:
        arrivals = [one for one in islice(live, 5) if not isinstance(one, Idle)]
        assert [position.at["n"] for _, position in arrivals] == [8, 9, 10, 11, 12]
        assert source.acknowledged == [7]
        live.acknowledge([arrivals[2][1], Position("another", {"n": 1})])
        until(lambda: source.acknowledged == [7, 10])


def test_what_is_gathered_is_judged_when_no_source_has_more():
    """A step by number is closed when all sources are idle, and not while one still reads."""
    sources = [Endless("a", end=3), Endless("b", end=4)]
    with LiveSources(sources, {}, print) as live:
        batch = next(Stepper(100).batches(live))
    assert sorted(document.id for document in batch.documents) == ["a-1", "a-2", "a-3", "b-1", "b-2", "b-3", "b-4"]
    assert {position.source: position.at["n"] for position in batch.positions} == {"a": 3, "b": 4}


def test_steps_in_time_wait_for_their_end():
    day = [(Document(id=str(n), text="x", time=None), Position("a", {"n": n})) for n in range(3)]
    (batch,) = Stepper("1d").batches([day[0], Idle(), day[1], Idle(), day[2]])
    assert len(batch.documents) == 3


def test_a_source_that_fails_for_good_leaves_the_others_and_the_last_one_ends_the_run():
    broken = SourceError(owner="source", parameter="SOURCE", allowed="x", received="y", remedy="Mend it.")
    said = []
    with LiveSources([Endless("bad", at={1: broken}), Endless("good")], {}, said.append) as live:
        assert len(list(islice(live, 10))) == 10 and "Mend it." in said[0]
    with LiveSources([Endless("bad", at={1: broken})], {}, said.append) as live, pytest.raises(SourceError):
        list(live)


def test_closing_ends_every_thread():
    before = threading.active_count()
    with LiveSources([Endless("a"), Endless("b", end=0)], {}, print) as live:
        next(iter(live))
    assert threading.active_count() == before
