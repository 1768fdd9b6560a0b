"""Housekeeping of the mixture's postings: pack the pool, write the cached gains anew."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.jit import kernel
from firststory.kernels.mixture.rising import log_gamma, log_rising


@kernel
def pack_postings(
    start: Ints,
    length: Ints,
    largest: Floats,
    slot: NDArray[np.int32],
    count: Floats,
    moved: Ints,
    least: float,
    packed_slot: NDArray[np.int32],
    packed_count: Floats,
    owned: Ints,
) -> int:
    """Copy the living postings word by word without a gap; start, length, largest become true again.

    `moved[j]` is the new slot of j, or −1; it keeps the order, so that blocks stay sorted. Postings under `least` go.
    """
    used = 0
    owned[:] = 0
    for v in range(start.shape[0]):
        first = used
        top = 0.0
        for p in range(start[v], start[v] + length[v]):
            j = moved[slot[p]]
            if j >= 0 and count[p] >= least:
                packed_slot[used] = j
                packed_count[used] = count[p]
                owned[j] += 1
                top = max(top, count[p])
                used += 1
        start[v] = first
        length[v] = used - first
        largest[v] = top
    return used


@kernel
def refresh_gains(start: Ints, length: Ints, count: Floats, gain: Floats, prior: Floats) -> None:
    """gain = log(1 + S/(λπ)) for every posting: after a new base measure, or a new scale."""
    for v in range(start.shape[0]):
        for p in range(start[v], start[v] + length[v]):
            gain[p] = math.log1p(count[p] / prior[v])


@kernel
def refresh_clusters(
    n_slots: int, mass: Floats, tokens: Floats, precision: float, cached: Floats, log_mass: Floats
) -> None:
    """The two logarithms that are kept for each cluster."""
    for j in range(n_slots):
        cached[j] = log_gamma(precision + tokens[j])
        log_mass[j] = math.log(mass[j]) if mass[j] > 0.0 else -np.inf


@kernel
def cluster_counts(wanted: int, start: Ints, length: Ints, slot: NDArray[np.int32], count: Floats, out: Floats) -> None:
    """out[v] = S_jv of one slot."""
    for v in range(start.shape[0]):
        for p in range(start[v], start[v] + length[v]):
            if slot[p] == wanted:
                out[v] = count[p]


@kernel
def base_evidence(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], data: Floats, prior: Floats, out: Floats
) -> None:
    """out[i] = Σ_v R(λπ_v, x_iv): the part of the likelihood that is common to all clusters."""
    for i in range(indptr.shape[0] - 1):
        total = 0.0
        for q in range(indptr[i], indptr[i + 1]):
            total += log_rising(prior[indices[q]], data[q])
        out[i] = total
