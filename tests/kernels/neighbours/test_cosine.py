"""The inverted index against a plain NumPy twin that remembers everything and compares with everything."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.kernels.csr import csr_of
from firststory.kernels.neighbours.cosine import CosineIndex
from firststory.kernels.neighbours.layout import Limits

UNBOUNDED = 2**62


def twin(rows, clock, k, window, max_age, rate):
    """Dense arithmetic, quadratic: for each row the k best of the earlier rows that are still remembered."""
    dense = rows.toarray()
    norms = np.sqrt((dense**2).sum(axis=1, keepdims=True))
    unit = np.divide(dense, norms, out=np.zeros_like(dense), where=norms > 0)
    n = len(dense)
    scores, cosines, ordinals = np.zeros((n, k)), np.zeros((n, k)), np.full((n, k), -1)
    for i in range(n):
        past = [j for j in range(max(0, i - window), i) if clock[i] - clock[j] <= max_age]
        found = [(unit[i] @ unit[j] * np.exp(-rate * (clock[i] - clock[j])), j) for j in past]
        found = sorted(((s, j) for s, j in found if s > 0), reverse=True)[:k]
        for r, (score, j) in enumerate(found):
            scores[i, r], cosines[i, r], ordinals[i, r] = score, unit[i] @ unit[j], j
    return scores, cosines, ordinals


def rows_of(seed, n, width, density=0.3):
    rng = np.random.default_rng(seed)
    return sp.csr_matrix(rng.integers(1, 5, size=(n, width)) * (rng.random((n, width)) < density), dtype=float)


def follow(index, rows, clock, **options):
    limits = Limits(options.pop("window"), options.pop("max_age", np.inf), options.pop("rate", 0.0))
    return index.follow(csr_of(rows), clock, limits, width=rows.shape[1], learn=True, **options)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(0, 70),
    width=st.integers(1, 30),
    window=st.sampled_from([1, 3, 20, UNBOUNDED]),
    max_age=st.sampled_from([2.0, 15.0, np.inf]),
    rate=st.sampled_from([0.0, 0.1]),
    k=st.integers(1, 4),
)
def test_equals_twin(seed, n, width, window, max_age, rate, k):
    rows = rows_of(seed, n, width)
    clock = np.cumsum(np.random.default_rng(seed).exponential(size=n))
    found = follow(CosineIndex(), rows, clock, k=k, window=window, max_age=max_age, rate=rate)
    known = twin(rows, clock, k, window, max_age, rate)
    np.testing.assert_allclose(found[0], known[0], atol=1e-12)
    np.testing.assert_allclose(found[1][:, 0], known[1][:, 0], atol=1e-12)
    # Where the best two are equal but for rounding, either may come first.
    two = twin(rows, clock, 2, window, max_age, rate)[0]
    clear = two[:, 0] - two[:, 1] > 1e-9
    np.testing.assert_array_equal(found[2][clear, 0], known[2][clear, 0])


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_both_index_types_and_batches_of_any_size(kind):
    rows, clock = rows_of(1, 60, 25), np.arange(60.0)
    rows.indices, rows.indptr = rows.indices.astype(kind), rows.indptr.astype(kind)
    whole = follow(CosineIndex(), rows, clock, k=2, window=25)
    index = CosineIndex()
    cuts = [slice(begin, begin + 7) for begin in range(0, 60, 7)]
    pieces = [follow(index, rows[cut], clock[cut], k=2, window=25) for cut in cuts]
    for part in range(3):
        np.testing.assert_array_equal(np.concatenate([piece[part] for piece in pieces]), whole[part])


def test_memory_is_bounded_by_the_window():
    index = CosineIndex()
    sizes = []
    for step in range(60):
        rows = rows_of(step, 50, 400, density=0.05)
        follow(index, rows, np.full(50, float(step)), k=1, window=100)
        sizes.append(len(index.members) + len(index.log_terms) + len(index.born))
        assert len(index) <= 100
        assert index.length.sum() == index.log_length[np.arange(*index.meta[:2]) % len(index.born)].sum()
    assert max(sizes[30:]) <= 2 * max(sizes[:20])


def test_age_alone_bounds_the_memory_too():
    index = CosineIndex()
    for step in range(200):
        follow(index, rows_of(step, 5, 40), np.full(5, float(step)), k=1, window=UNBOUNDED, max_age=10.0)
    assert len(index) == 55
    assert len(index.born) == 64


def test_a_new_index_from_the_state_has_the_same_future():
    index = CosineIndex()
    follow(index, rows_of(1, 90, 30), np.arange(90.0), k=2, window=40)
    copy = CosineIndex.from_state(index.get_state())
    later, clock = rows_of(2, 90, 35), 90 + np.arange(90.0)
    for ours, theirs in zip(
        follow(index, later, clock, k=2, window=40), follow(copy, later, clock, k=2, window=40), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_extreme_values_do_not_overflow_or_vanish():
    rows = sp.csr_matrix([[1e300, 1e300, 0.0], [1e-300, 1e-300, 0.0], [1e300, 1e-300, 0.0], [0.0, 0.0, 0.0]])
    scores, _, ordinals = follow(CosineIndex(), rows, np.zeros(4), k=1, window=10)
    np.testing.assert_allclose(scores[:, 0], [0.0, 1.0, np.sqrt(0.5), 0.0])
    np.testing.assert_array_equal(ordinals[:, 0], [-1, 0, 1, -1])
