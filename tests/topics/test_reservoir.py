"""Who is in the pool: inclusion probabilities, bookkeeping and state."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare

from firststory.topics.reservoir import Reservoir


def numbered(n, start=0):
    """Document i holds word i, i + 3 times."""
    index = np.arange(start, start + n)
    return sp.csr_matrix((index + 3.0, (np.arange(n), index)), shape=(n, start + n))


def held(pool):
    return sorted(int(pool.documents.indices[begin]) for begin in pool.documents.begin)


@pytest.mark.parametrize("batch", [1, 7, 40])
def test_uniform_inclusion_is_capacity_over_t(batch):
    n, capacity, runs = 40, 8, 400 if batch == 1 else 1500
    rng, seen = np.random.default_rng(0), np.zeros(n)
    rows = numbered(n)
    for _ in range(runs):
        pool = Reservoir(capacity)
        for at in range(0, n, batch):
            pool.offer(rows[at : at + batch], rng)
        assert len(pool) == capacity
        seen[held(pool)] += 1
    assert chisquare(seen).pvalue > 1e-3  # every document alike: runs * capacity / n times each
    assert seen.sum() == runs * capacity


def test_biased_pool_forgets_at_the_rate_it_says():
    n, capacity, bias, runs = 60, 10, 0.5, 1200
    rng, seen = np.random.default_rng(1), np.zeros(n)
    rows = numbered(n)
    for _ in range(runs):
        pool = Reservoir(capacity, bias)
        pool.offer(rows, rng)
        seen[held(pool)] += 1
    age = np.arange(n)[::-1]
    expected = np.where(np.arange(n) < capacity, 1.0, bias) * (1 - bias / capacity) ** np.minimum(age, n - capacity)
    assert abs(expected.sum() - capacity) < 1e-9
    assert chisquare(seen, runs * expected).pvalue > 1e-3


def test_what_leaves_and_what_comes_keep_the_books():
    rng = np.random.default_rng(2)
    pool, total = Reservoir(5), 0.0
    for step in range(30):
        gone, came = pool.offer(numbered(3, start=3 * step), rng)
        total += came.data.sum() - gone.data.sum()
        assert pool.n_words == pytest.approx(total) == pytest.approx(pool.csr(200).sum())
        assert len(gone) <= len(came)
    assert pool.n_offered == 90 and len(pool) == 5
    # the arena does not grow with the stream
    assert len(pool._data) < 5000


def test_capacity_is_never_exceeded_and_everything_fits_first():
    pool = Reservoir(10)
    gone, came = pool.offer(numbered(10), np.random.default_rng(0))
    assert len(gone) == 0 and len(came) == 10 and held(pool) == list(range(10))
    pool.offer(sp.csr_matrix((0, 3)), np.random.default_rng(0))
    assert len(pool) == 10


def test_state_does_not_depend_on_the_arena():
    rng = np.random.default_rng(3)
    pool = Reservoir(4)
    for step in range(9):
        pool.offer(numbered(2, start=2 * step), rng)
    twin = Reservoir.from_state(pool.get_state())
    a, b = np.random.default_rng(9), np.random.default_rng(9)
    for step in range(9, 20):
        pool.offer(numbered(2, start=2 * step), a)
        twin.offer(numbered(2, start=2 * step), b)
    assert (pool.csr(60) != twin.csr(60)).nnz == 0
