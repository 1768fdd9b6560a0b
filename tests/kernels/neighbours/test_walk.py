"""Sums over posting lists against a dense product."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.neighbours.layout import Lists
from firststory.kernels.neighbours.walk import postings, walk


@pytest.mark.parametrize("many", [0, 10_000])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sums_are_those_of_the_dense_product(many, kind):
    rng = np.random.default_rng(1)
    dense = np.where(rng.random((90, 20)) < 0.2, rng.random((90, 20)), 0.0)
    dense[:, 3] = 0.0
    length = (dense > 0).sum(axis=0)
    start = np.concatenate([[0], np.cumsum(length)[:-1]])
    lists = Lists(start, length, length, np.nonzero(dense.T)[1].astype(np.int32), dense.T[dense.T > 0])
    terms, query = np.array([0, 3, 4, 9, 11, 12, 15, 17, 18]), rng.random(9)
    walked = np.array([True, True, False, True, True, True, True, False, True])
    dots, touched = np.zeros(90, dtype=kind), np.empty(91, dtype=np.int64)
    n = walk(terms, query, walked, lists, dots, touched, many)
    expected = dense[:, terms[walked]] @ query[walked]
    np.testing.assert_allclose(dots, expected, rtol=1e-6)
    if many == 0:
        assert n == -1
    else:
        assert sorted(touched[:n]) == np.flatnonzero(expected).tolist()
    values = 1.0 + rng.random(10)
    assert postings(np.append(terms, 99), values, length, np.inf) == length[terms].sum()
    short = length[terms] <= 7.0 * values[:9] ** 2
    assert 0 < short.sum() < 9 and postings(terms, values, length, 7.0) == length[terms][short].sum()
