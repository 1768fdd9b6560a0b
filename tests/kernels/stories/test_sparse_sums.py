"""Sums of sparse rows against dictionaries and dense vectors."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.stories.layout import Sums
from firststory.kernels.stories.sparse_sums import added, heaviest, heaviest_of, in_order, product, square

WIDTH = 40


def row(rng, n, index=np.int32):
    columns = np.sort(rng.choice(WIDTH, size=n, replace=False)).astype(index)
    return columns, rng.integers(1, 5, size=n) / 4.0


def dense(columns, weights):
    out = np.zeros(WIDTH)
    out[columns] = weights
    return out


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_and_sums_are_those_of_dense_vectors(index):
    rng = np.random.default_rng(0)
    for _ in range(30):
        one, other = row(rng, rng.integers(0, 20), index), row(rng, rng.integers(0, 20), index)
        assert product(*one, *other) == pytest.approx(dense(*one) @ dense(*other))
        assert square(one[1]) == pytest.approx(one[1] @ one[1])
        columns, weights = added(*one, *other, 1.0)
        assert in_order(columns)
        np.testing.assert_allclose(dense(columns, weights), dense(*one) + dense(*other))
        assert len(columns) == len(set(one[0].tolist()) | set(other[0].tolist()))


def test_a_difference_keeps_what_is_left_only():
    rng = np.random.default_rng(1)
    for _ in range(30):
        one, other = row(rng, rng.integers(0, 20)), row(rng, rng.integers(0, 20))
        columns, weights = added(*one, *other, -1.0)
        left = dense(*one) - dense(*other)
        np.testing.assert_allclose(dense(columns, weights), np.where(left > 1e-9, left, 0.0))
        assert (weights > 0.0).all()


def test_the_heaviest_come_first_and_of_equals_the_smaller_column():
    rng = np.random.default_rng(2)
    for n in (0, 1, 3, 8, 50):
        columns, weights = row(rng, 25)
        expected = columns[np.lexsort((columns, -weights))[:n]]
        assert heaviest(columns, weights, n).tolist() == expected.tolist()
    assert heaviest(np.empty(0, np.int32), np.empty(0), 5).tolist() == []


def test_the_heaviest_of_sums_in_one_buffer():
    columns, weights = np.array([4, 7, 9, 1, 2], np.int32), np.array([0.1, 0.9, 0.5, 0.2, 0.2])
    start, length = np.array([0, 3, 3]), np.array([3, 2, 0])
    found = heaviest_of(Sums(columns, weights, start, length, room=length), np.array([1, 0, 2]), 3)
    assert found.tolist() == [[1, 2, -1], [7, 9, 4], [-1, -1, -1]]


def test_order_is_told():
    assert in_order(np.array([1, 2, 9], dtype=np.int32))
    assert in_order(np.empty(0, dtype=np.int32))
    assert not in_order(np.array([1, 1], dtype=np.int32))
    assert not in_order(np.array([2, 1], dtype=np.int32))
