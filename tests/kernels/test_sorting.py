"""Numbers sorted byte by byte, as NumPy sorts them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.kernels.sorting import FEW, N_BYTES, sort_numbers

NUMBERS = st.integers(0, 3) | st.integers(0, 2**16) | st.integers(0, 2**31 - 1)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@settings(max_examples=60, deadline=None)
@given(numbers=st.lists(NUMBERS, max_size=FEW) | st.lists(NUMBERS, min_size=FEW, max_size=80))
def test_they_are_in_order(kind, numbers):
    found = np.array([*numbers, 7], dtype=kind)
    sort_numbers(found, len(numbers), np.empty(len(numbers), kind), np.empty(N_BYTES, np.int64))
    assert found.tolist() == [*sorted(numbers), 7]


def test_large_numbers_are_sorted_by_all_of_their_bytes():
    numbers = np.random.default_rng(1).integers(0, 2**62, size=200)
    found = numbers.copy()
    sort_numbers(found, len(found), np.empty_like(found), np.empty(N_BYTES, np.int64))
    assert found.tolist() == sorted(numbers.tolist())
