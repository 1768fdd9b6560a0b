"""Fading counts beside a plain dict, and what a full bucket keeps."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.kernels.phrases.layout import Table
from firststory.kernels.phrases.tables import WAYS, add, add_once, count_of, find, marks_of, put_marks, rescale


def empty(slots: int, columns: int = 1) -> Table:
    return Table(np.zeros(slots, np.uint64), np.zeros((slots, columns), np.float32), np.zeros(slots, np.uint32))


KEYS = st.integers(1, 2**64 - 1)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([1, 2, 3, 10, 2**63, 2**64 - 1, 77]), st.integers(1, 4)), max_size=60))
def test_with_room_for_all_it_is_a_dict(counted):
    table, twin = empty(8 * WAYS), {}
    for key, unit in counted:
        add(table, np.uint64(key), float(unit))
        twin[key] = twin.get(key, 0) + unit
    assert {key: count_of(table, np.uint64(key)) for key in twin} == twin
    assert find(table, np.uint64(12345)) == -1 and count_of(table, np.uint64(12345)) == 0.0
    rescale(table, 2.0)
    assert {key: count_of(table, np.uint64(key)) for key in twin} == {key: count / 2 for key, count in twin.items()}


@settings(max_examples=50, deadline=None)
@given(st.lists(KEYS, min_size=1, max_size=300))
def test_a_full_bucket_drops_its_lightest_and_keeps_what_is_heavier(keys):
    table = empty(WAYS)  # one bucket
    heavy = np.uint64(5)
    add(table, heavy, 1000.0)
    unit = 1.0
    for key in keys:
        unit *= 1.001
        add(table, np.uint64(key), unit)
    assert count_of(table, heavy) >= 1000.0
    # The one counted last is there, and with rising units no key is counted more than it was added.
    assert count_of(table, np.uint64(keys[-1])) > 0.0
    assert np.count_nonzero(table.keys) <= WAYS


def test_once_for_each_document():
    table = empty(WAYS)
    key = np.uint64(9)
    assert [add_once(table, key, 1.0, number) for number in (1, 1, 2, 2, 3)] == [0.0, 0.0, 1.0, 1.0, 2.0]
    assert count_of(table, key) == 3.0


@settings(max_examples=30, deadline=None)
@given(st.lists(KEYS, max_size=100, unique=True), st.lists(KEYS, max_size=100, unique=True))
def test_marks_are_sets_of_words(one, other):
    keys, marks = np.zeros(512, np.uint64), np.zeros(512, np.uint32)
    put_marks(keys, marks, np.array(one, np.uint64), 1)
    put_marks(keys, marks, np.array(other, np.uint64), 4)
    for key in {*one, *other, 99}:
        assert marks_of(keys, marks, np.uint64(key)) == (key in one) + 4 * (key in other)
