"""The garbage collector waits for a step, and only for that."""

from __future__ import annotations

import gc

import pytest

from firststory.pipeline.undisturbed import settle, undisturbed


def test_the_collector_is_as_it_was_before():
    assert gc.isenabled()
    with undisturbed():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError), undisturbed():
        raise ValueError
    assert gc.isenabled()
    gc.disable()
    try:
        with undisturbed():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_process_that_settles_still_collects_cycles():
    before = gc.get_threshold()
    try:
        settle()
        assert gc.isenabled() and gc.get_threshold()[0] > before[0]
        loop = []
        loop.append(loop)
        del loop
        assert gc.collect() >= 1
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
