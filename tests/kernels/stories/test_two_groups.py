"""Two groups among a handful of rows, against the same thing said in NumPy."""

from __future__ import annotations

import math

import numpy as np

from firststory.kernels.stories.two_groups import products, two_groups


def twin(cosine, share):
    n = len(cosine)
    seeds = np.unravel_index(int(np.argmin(cosine + 2.0 * np.eye(n))), cosine.shape)
    side = cosine[:, seeds[1]] > cosine[:, seeds[0]]
    for _ in range(8):
        if not 3 <= side.sum() <= n - 3:
            return None
        to = [cosine[:, group].sum(axis=1) / np.sqrt(cosine[np.ix_(group, group)].sum()) for group in (~side, side)]
        moved = to[1] > to[0]
        if (moved == side).all():
            break
        side = moved
    if not 3 <= side.sum() <= n - 3:
        return None

    def within(group):
        part = cosine[np.ix_(group, group)]
        return (part.sum() - np.trace(part)) / (len(part) * (len(part) - 1))

    alike = [within(~side), within(side)]
    between = cosine[np.ix_(~side, side)].mean()
    if min(alike) <= 0 or between >= share * math.sqrt(alike[0] * alike[1]):
        return None
    return side


def rows(rng, n, split):
    """Rows of few terms, from two vocabularies where `split`, as CSR with unit length, and dense."""
    dense = np.zeros((n, 60))
    for i in range(n):
        first = 30 * (i % 2) if split else 0
        dense[i, first + rng.choice(30, size=10, replace=False)] = 0.1 + rng.random(10)
    if split:
        dense[:, 15] += 0.2 * rng.random(n)
    dense = (dense / np.linalg.norm(dense, axis=1, keepdims=True)).astype(np.float32)
    indptr = np.concatenate([[0], np.cumsum((dense > 0).sum(axis=1))])
    return indptr, np.nonzero(dense)[1].astype(np.int32), dense[dense > 0], dense.astype(float)


def test_products_are_those_of_the_dense_rows():
    *sparse, dense = rows(np.random.default_rng(0), 12, split=True)
    np.testing.assert_allclose(products(*sparse), dense @ dense.T, atol=1e-12)


def test_groups_are_those_of_the_twin():
    rng = np.random.default_rng(1)
    found = 0
    for trial in range(60):
        *sparse, _ = rows(rng, int(rng.integers(8, 17)), split=trial % 2 == 0)
        cosine = products(*sparse)
        for share in (0.25, 0.9):
            expected, side = twin(cosine, share), two_groups(cosine, share)
            assert (expected is None) == (side.size == 0)
            if expected is not None:
                found += 1
                assert side.tolist() == expected.tolist()
    assert found > 10
