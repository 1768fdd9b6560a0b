"""The sums of stories in one buffer: nothing gets lost when they grow, move, merge and go."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.state import flatten, pack_state, unflatten, unpack_state
from firststory.stories.centroids import Centroids, sorted_row, sorted_rows

rows = st.dictionaries(st.integers(0, 40), st.floats(0.1, 2.0), max_size=12)
moves = st.lists(st.tuples(st.sampled_from(["open", "put", "absorb", "move", "release"]), rows, st.integers(0, 9)))


@settings(max_examples=60, deadline=None)
@given(moves)
def test_sums_are_those_of_dictionaries(done):
    centroids, truth = Centroids(), {}
    for number, (what, row, pick) in enumerate(done):
        slots = sorted(truth)
        slot = slots[pick % len(slots)] if slots else None
        other = slots[(pick + 1) % len(slots)] if len(slots) > 1 else None
        as_row = sorted_row(np.array(list(row), dtype=np.int64), np.array(list(row.values())))
        if what == "open" or slot is None:
            new = centroids.open(number)
            assert new not in truth and not centroids.row(new)[0].size and centroids.last(new) is None
            truth[new] = {}
        elif what == "put":
            centroids.put(slot, *as_row)
            truth[slot] = dict(row)
        elif what == "absorb" and other is not None:
            centroids.absorb(slot, other)
            for c, w in truth[other].items():
                truth[slot][c] = truth[slot].get(c, 0.0) + w
        elif what == "move" and other is not None:
            columns, weights = (array.copy() for array in centroids.row(slot))
            centroids.move(columns[::2].copy(), weights[::2].copy(), slot, other)
            for c, w in zip(columns[::2].tolist(), weights[::2].tolist(), strict=True):
                truth[other][c] = truth[other].get(c, 0.0) + w
                del truth[slot][c]
        elif what == "release":
            centroids.release(slot)
            del truth[slot]
        for kept, sums in truth.items():
            columns, weights = centroids.row(kept)
            assert columns.tolist() == sorted(sums)
            np.testing.assert_allclose(weights, [sums[c] for c in columns.tolist()], rtol=1e-9)
            np.testing.assert_allclose(centroids.squared_norm(kept), weights @ weights, rtol=1e-9, atol=1e-12)
    packed = pack_state(flatten(centroids.get_state()))
    again = Centroids.from_state(unflatten(unpack_state(packed)))
    assert pack_state(flatten(again.get_state())) == packed and len(again.slot_of_key()) == len(truth)
    for key, slot in centroids.slot_of_key().items():
        assert again.row(again.slot_of_key()[key])[1].tolist() == centroids.row(slot)[1].tolist()


def test_the_buffer_is_bounded_by_what_is_in_use():
    centroids = Centroids()
    row = np.arange(50, dtype=np.int32), np.full(50, 0.1)
    for number in range(2000):
        slot = centroids.open(number)
        centroids.put(slot, *row)
        centroids.release(slot)
    assert slot < 64 and len(centroids._sums.columns) < 500


def test_rows_in_any_order_and_of_any_type_come_out_in_order():
    nothing = np.empty(0, np.int32), np.empty(0)
    mixed = [(np.array([3, 1]), np.array([1.0, 2.0])), nothing, (np.array([5], np.int32), np.array([1.0], np.float32))]
    assert [(c.tolist(), w.tolist()) for c, w in sorted_rows(mixed)] == [([1, 3], [2.0, 1.0]), ([], []), ([5], [1.0])]
    ready = [nothing, (np.array([1, 9], np.int32), np.ones(2)), nothing, (np.array([2], np.int32), np.ones(1)), nothing]
    assert all(one[0] is given[0] for one, given in zip(sorted_rows(ready), ready, strict=True))
    wrong = [(np.array([9, 1], np.int32), np.ones(2)), nothing]
    assert sorted_rows(wrong)[0][0].tolist() == [1, 9]
    assert sorted_rows([]) == []
