"""Arrays that get longer against `np.concatenate`."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firststory.kernels.neighbours.widening import widened


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from([0.0, 1.5])), max_size=30), st.booleans())
def test_it_is_longer_and_the_rest_stays(steps, narrows):
    part = twin = np.arange(3.0)
    for more, fill in steps:
        part = widened(part, len(part) + more, fill)
        twin = np.concatenate([twin, np.full(more, fill)])
        part[-1] = twin[-1] = more
        np.testing.assert_array_equal(part, twin)
        if narrows:  # what lay behind does not come back
            part, twin = part[:-1], twin[:-1]


def test_a_few_more_entries_copy_nothing():
    part = widened(np.zeros(100), 110)
    assert np.shares_memory(part, widened(part, 120))
    assert not np.shares_memory(part, widened(part, 1000))
