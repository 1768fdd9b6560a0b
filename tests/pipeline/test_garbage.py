"""The garbage collector waits for a step, and only for that; freed memory goes back when a model is written."""

from __future__ import annotations

import gc

import pytest

from firststory.pipeline import runner
from firststory.pipeline.garbage import paused_collection, tune_collection
from firststory.pipeline.runner import Runner
from firststory.records import Document, Position
from firststory.settings import load
from firststory.store.store import Store


def test_the_collector_is_as_it_was_before():
    assert gc.isenabled()
    with paused_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError), paused_collection():
        raise ValueError
    assert gc.isenabled()
    gc.disable()
    try:
        with paused_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_process_that_tune_collections_still_collects_cycles():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)  # a command that ran in this process may have tuned it already
    try:
        tune_collection()
        assert gc.isenabled() and gc.get_threshold()[0] > 700
        loop = []
        loop.append(loop)
        del loop
        assert gc.collect() >= 1
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@pytest.mark.parametrize("way", [Runner.run, Runner.run_overlapped])
def test_memory_is_given_back_whenever_a_model_was_written(tmp_path, monkeypatch, way):
    given_back = []
    with Store(str(tmp_path / "news.db")) as store:
        monkeypatch.setattr(runner, "trim_memory", lambda: given_back.append(store.last_step()))
        arrivals = [(Document(f"d{i}", f"Flood {i} in Bremen"), Position("file", {"line": i})) for i in range(6)]
        steps = list(way(Runner(load({"step": 2, "save_every": 1, "language": "en"}), store), arrivals))
        assert len(steps) == 3 and 1 <= len(given_back) <= 3
        assert given_back == sorted(given_back)
