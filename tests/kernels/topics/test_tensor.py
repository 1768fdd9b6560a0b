"""The tensor kernels against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.topics.tensor import contract, iterate, unexplained
from firststory.solvers.tensor_power import rank_one_sum


def symmetric(seed, k=4):
    x = np.random.default_rng(seed).standard_normal((k, k, k))
    return sum(x.transpose(p) for p in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]) / 6


@pytest.mark.parametrize("k", [1, 2, 5])
def test_contract(k):
    tensor, v, out = symmetric(0, k), np.random.default_rng(1).standard_normal(k), np.empty(k)
    contract(tensor, v, out)
    np.testing.assert_allclose(out, np.einsum("abc,a,b->c", tensor, v, v), atol=1e-13)


def test_iterate_climbs_to_a_fixed_point():
    tensor = symmetric(2)
    v = np.ones(4) / 2
    value = iterate(tensor, v, 5.0, 2000, 1e-14)
    image = np.einsum("abc,a,b->c", tensor, v, v)
    np.testing.assert_allclose(image, value * v, atol=1e-7)


def test_unexplained():
    values, vectors = np.array([2.0, 1.0]), np.eye(3)[:2]
    tensor = rank_one_sum(values, vectors)
    assert unexplained(tensor, values, vectors) == pytest.approx(0.0, abs=1e-15)
    assert unexplained(tensor, np.array([2.0, 0.0]), vectors) == pytest.approx(1 / np.sqrt(5))
    assert unexplained(np.zeros((3, 3, 3)), values, vectors) == 0.0
