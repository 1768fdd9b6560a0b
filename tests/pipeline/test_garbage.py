"""The garbage collector waits for a step, and only for that."""

from __future__ import annotations

import gc

import pytest

from firststory.pipeline.garbage import settle, undisturbed


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
    gc.set_threshold(700, 10, 10)  # a command that ran in this process may have settled it already
    try:
        settle()
        assert gc.isenabled() and gc.get_threshold()[0] > 700
        loop = []
        loop.append(loop)
        del loop
        assert gc.collect() >= 1
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
