"""Planted orthogonal tensors come back; norms agree with what is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.solvers.tensor_power import rank_one_sum, spectral_norm, tensor_power


def planted(seed, k):
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((k, k)))[0]
    values = rng.uniform(1.0, 4.0, size=k)
    return values, vectors, rng


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 8))
def test_an_orthogonal_tensor_comes_back_to_rounding(seed, k):
    values, vectors, rng = planted(seed, k)
    found = tensor_power(rank_one_sum(values, vectors), rng.standard_normal((max(10, 2 * k), k)))
    assert found.residual < 1e-12
    match = np.abs(found.vectors @ vectors.T).argmax(axis=1)
    assert sorted(match) == list(range(k))
    np.testing.assert_allclose(found.values, values[match], rtol=1e-10)
    np.testing.assert_allclose(found.vectors, vectors[match], atol=1e-9)  # the sign too: the order is odd


def test_polish_takes_back_the_errors_of_deflation():
    values, vectors, rng = planted(5, 6)
    noise = rng.standard_normal((6, 6, 6)) * 0.02
    tensor = rank_one_sum(values, vectors) + sum(
        noise.transpose(p) for p in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    )
    starts = rng.standard_normal((20, 6))
    rough, fine = (tensor_power(tensor, starts, n_sweeps=sweeps).residual for sweeps in (0, 20))
    assert fine < rough


def test_tensor_of_zeros_and_no_usable_start():
    found = tensor_power(np.zeros((3, 3, 3)), np.zeros((2, 3)))
    assert found.residual == 0.0 and np.isfinite(found.vectors).all() and not found.values.any()


def test_spectral_norm():
    values, vectors, rng = planted(1, 4)
    starts = rng.standard_normal((24, 4))
    assert spectral_norm(rank_one_sum(values, vectors), starts) == pytest.approx(values.max(), rel=1e-9)
    assert spectral_norm(-rank_one_sum(values, vectors), starts) == pytest.approx(values.max(), rel=1e-9)
    # and no unit vector on a fine grid does better
    x = rng.standard_normal((3, 3, 3))
    tensor = sum(x.transpose(p) for p in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    grid = rng.standard_normal((40_000, 3))
    grid /= np.linalg.norm(grid, axis=1, keepdims=True)
    best = np.abs(np.einsum("abc,na,nb,nc->n", tensor, grid, grid, grid, optimize=True)).max()
    norm = spectral_norm(tensor, rng.standard_normal((24, 3)))
    assert best <= norm * (1 + 1e-9) and best > 0.99 * norm
