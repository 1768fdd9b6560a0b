"""The sieve lets through exactly the rows whose bound is high enough."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.fused.sieve import BLOCK_ROWS, any_reaches, rows_reaching, touched_reaching


@pytest.mark.parametrize("least", [0.2, 0.9, 1.1, 1.25])
def test_rows_that_reach_are_those_of_the_bound(least):
    rng = np.random.default_rng(2)
    dots, scale, share = (rng.random(4 * BLOCK_ROWS).astype(np.float32) for _ in range(3))
    bound, least = dots * scale + np.float32(0.3) * share, np.float32(least)
    near = np.empty(BLOCK_ROWS + 1, dtype=np.int64)
    for first in range(0, 4 * BLOCK_ROWS, BLOCK_ROWS):
        expected = first + np.flatnonzero(bound[first : first + BLOCK_ROWS] >= least)[::-1]
        assert any_reaches(first, dots, scale, share, np.float32(0.3), least) == (len(expected) > 0)
        n = rows_reaching(first, dots, scale, share, np.float32(0.3), least, near)
        assert near[:n].tolist() == expected.tolist()
    touched = rng.permutation(4 * BLOCK_ROWS)[:40]
    n = touched_reaching(touched, dots, scale, least, near)
    assert near[:n].tolist() == [j for j in touched[::-1] if dots[j] * scale[j] >= least]
