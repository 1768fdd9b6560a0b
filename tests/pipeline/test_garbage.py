"""The garbage collector waits for a step, and only for that."""

from __future__ import annotations

import gc

import pytest

from firststory.pipeline.garbage import paused_collection, tune_collection


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
