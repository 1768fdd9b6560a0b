"""The products of sparse rows by way of a hash table, against dense rows."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.stories.row_table import dots_with, fill, new_table

WIDTH = 3000


def row(rng, n):
    columns = np.sort(rng.choice(WIDTH, size=n, replace=False)).astype(np.int32)
    return columns, rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32)


def dense(columns, weights):
    whole = np.zeros(WIDTH)
    whole[columns] = weights
    return whole


@pytest.mark.parametrize("longest", [8, 60, 900])
def test_products_are_those_of_dense_rows(longest):
    rng = np.random.default_rng(longest)
    table = new_table(longest)
    for _ in range(20):  # one row after the other in the same table
        columns, weights, titles = row(rng, int(rng.integers(0, longest + 1)))
        fill(table, columns, weights, titles)
        for _ in range(5):
            others, other_weights, other_titles = row(rng, int(rng.integers(0, longest + 1)))
            expected = (
                dense(columns, weights) @ dense(others, other_weights),
                dense(columns, titles) @ dense(others, other_titles),
            )
            np.testing.assert_allclose(dots_with(table, others, other_weights, other_titles), expected, rtol=1e-12)
