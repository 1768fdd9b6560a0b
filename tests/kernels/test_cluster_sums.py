"""Gathered sums of clusters against the same sums over dense rows."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.cluster_sums import gather_common


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sums_are_those_of_the_dense_rows(index):
    rng = np.random.default_rng(0)
    n, width, n_clusters = 40, 12, 7
    dense = np.where(rng.random((n, width)) < 0.4, 1.0 + rng.random((n, width)), 0.0)
    cluster, inverse = rng.integers(0, n_clusters, size=n).astype(index), rng.random(n)
    length = (dense > 0).sum(axis=0)
    start = np.concatenate([[0], np.cumsum(length)[:-1]])
    members, weights = np.nonzero(dense.T)[1].astype(index), dense.T[dense.T > 0]
    terms = np.array([1, 4, 5, 11])
    begin, room = np.zeros(len(terms) + 1, dtype=np.int64), len(terms) * n_clusters
    holders, held = np.zeros(room, dtype=np.int32), np.zeros(room)
    gather_common(terms, start, length, members, weights, cluster, inverse, n_clusters, begin, holders, held)
    for g, v in enumerate(terms):
        expected = np.zeros(n_clusters)
        np.add.at(expected, cluster, dense[:, v] * inverse)
        own = slice(begin[g], begin[g + 1])
        assert holders[own].tolist() == np.flatnonzero(expected).tolist()
        np.testing.assert_allclose(held[own], expected[expected > 0])
