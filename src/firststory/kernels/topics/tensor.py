"""The power method on a symmetric k x k x k tensor: v <- T(I, v, v) / |T(I, v, v)|.

The innermost loops run along the last axis and add vectors, so that they vectorise without reordering any sum.
"""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats
from firststory.kernels.jit import kernel


@kernel
def contract(tensor: Floats, v: Floats, out: Floats) -> None:
    """out = T(I, v, v) of a symmetric tensor."""
    k = tensor.shape[0]
    out[:] = 0.0
    for a in range(k):
        for b in range(a + 1):
            scale = v[a] * v[b]
            if a != b:
                scale *= 2.0
            for c in range(k):
                out[c] += scale * tensor[a, b, c]


@kernel
def iterate(tensor: Floats, v: Floats, shift: float, n_iterations: int, tolerance: float) -> float:
    """Power iterations on T + shift * identity, in place from the unit vector v; returns T(v, v, v)."""
    k = tensor.shape[0]
    image = np.empty(k)
    for _ in range(n_iterations):
        contract(tensor, v, image)
        for a in range(k):
            image[a] += shift * v[a]
        norm = np.sqrt(np.dot(image, image))
        if not norm > 1e-300:
            break
        change = 0.0
        for a in range(k):
            step = image[a] / norm
            change += (step - v[a]) ** 2
            v[a] = step
        if change < tolerance * tolerance:
            break
    contract(tensor, v, image)
    value: float = np.dot(image, v)
    return value


@kernel
def deflate(
    tensor: Floats, starts: Floats, n_short: int, n_long: int, tolerance: float, values: Floats, vectors: Floats
) -> None:
    """Find one component after another, taking each out of `tensor` (which is used up).

    Every start gets `n_short` iterations; the one with the largest T(v, v, v) is iterated to convergence.
    """
    k = tensor.shape[0]
    best = np.empty(k)
    for component in range(values.shape[0]):
        best_value = -np.inf
        for s in range(starts.shape[0]):
            v = starts[s].copy()
            norm = np.sqrt(np.dot(v, v))
            if not norm > 1e-300:
                continue
            v /= norm
            value = iterate(tensor, v, 0.0, n_short, tolerance)
            if value < 0.0:
                value = -value
                v = -v
            if value > best_value:
                best_value = value
                best[:] = v
        if best_value == -np.inf:
            best[:] = 0.0
            best[component % k] = 1.0
        value = iterate(tensor, best, 0.0, n_long, tolerance)
        if value < 0.0:
            value = -value
            best[:] = -best
        values[component] = value
        vectors[component] = best
        for a in range(k):
            for b in range(k):
                scale = value * best[a] * best[b]
                for c in range(k):
                    tensor[a, b, c] -= scale * best[c]


@kernel
def polish(tensor: Floats, n_sweeps: int, tolerance: float, values: Floats, vectors: Floats) -> None:
    """Joint sweeps on the whole tensor minus the *other* components: takes the errors of deflation back."""
    n = values.shape[0]
    k = tensor.shape[0]
    image = np.empty(k)
    for _ in range(n_sweeps):
        largest = 0.0
        for i in range(n):
            v = vectors[i].copy()
            contract(tensor, v, image)
            for j in range(n):
                if j != i:
                    overlap = np.dot(vectors[j], v)
                    image -= values[j] * overlap * overlap * vectors[j]
            norm = np.sqrt(np.dot(image, image))
            if not norm > 1e-300:
                continue
            image /= norm
            change = 0.0
            for a in range(k):
                change += (image[a] - v[a]) ** 2
                vectors[i, a] = image[a]
            largest = max(largest, change)
            v[:] = image
            contract(tensor, v, image)
            value = np.dot(image, v)
            for j in range(n):
                if j != i:
                    value -= values[j] * np.dot(vectors[j], v) ** 3
            if value < 0.0:
                value = -value
                vectors[i] = -v
            values[i] = value
        if largest < tolerance * tolerance:
            break


@kernel
def largest_value(tensor: Floats, starts: Floats, n_iterations: int, tolerance: float) -> float:
    """max |T(v, v, v)| over unit v from many starts, by the shifted iteration on T and on -T (a lower bound)."""
    shift = np.sqrt(np.sum(tensor * tensor))
    best = 0.0
    for sign in (1.0, -1.0):
        signed = sign * tensor
        for s in range(starts.shape[0]):
            v = starts[s].copy()
            v /= np.sqrt(np.dot(v, v))
            best = max(best, iterate(signed, v, shift, n_iterations, tolerance))
    return best


@kernel
def unexplained(tensor: Floats, values: Floats, vectors: Floats) -> float:
    """|T - sum_i lambda_i v_i (x) v_i (x) v_i| / |T| in the Frobenius norm; 0 for a tensor of zeros."""
    k = tensor.shape[0]
    whole = 0.0
    rest = 0.0
    for a in range(k):
        for b in range(k):
            for c in range(k):
                x = tensor[a, b, c]
                whole += x * x
                for i in range(values.shape[0]):
                    x -= values[i] * vectors[i, a] * vectors[i, b] * vectors[i, c]
                rest += x * x
    return np.sqrt(rest / whole) if whole > 0.0 else 0.0
