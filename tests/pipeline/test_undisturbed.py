"""The garbage collector waits for a step, and only for that."""

from __future__ import annotations

import gc

import pytest

from firststory.pipeline.undisturbed import undisturbed


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
