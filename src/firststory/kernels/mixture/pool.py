"""Housekeeping of the mixture's postings: pack the pool, recompute the cached logarithms."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.csr import Csr
from firststory.kernels.jit import kernel
from firststory.kernels.mixture.layout import Base, ClusterStats, Postings
from firststory.kernels.mixture.rising import log_gamma, log_rising


@kernel
def pack_postings(
    postings: Postings, moved: Ints, least: float, packed_slot: Slots, packed_count: Floats, owned: Ints
) -> int:
    """Copy the living postings word by word without a gap; start, length, largest become true again.

    `moved[j]` is the new slot of j, or −1; it keeps the order, so that blocks stay sorted. Postings under `least` go.
    """
    start, length, largest, slot, count = (
        postings.start, postings.length, postings.largest, postings.slot, postings.counts,
    )  # fmt: skip
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
def refresh_gains(postings: Postings, prior: Floats) -> None:
    """gain = log(1 + S/(λπ)) for every posting: after a new base measure, or a new scale."""
    start, length, count, gain = postings.start, postings.length, postings.counts, postings.gain
    for v in range(start.shape[0]):
        for p in range(start[v], start[v] + length[v]):
            gain[p] = math.log1p(count[p] / prior[v])


@kernel
def refresh_clusters(n_slots: int, clusters: ClusterStats, precision: float) -> None:
    """The two logarithms that are kept for each cluster."""
    for j in range(n_slots):
        clusters.log_gamma[j] = log_gamma(precision + clusters.tokens[j])
        clusters.log_mass[j] = math.log(clusters.mass[j]) if clusters.mass[j] > 0.0 else -np.inf


@kernel
def cluster_counts(wanted: int, postings: Postings, out: Floats) -> None:
    """out[v] = S_jv of one slot."""
    for v in range(postings.start.shape[0]):
        for p in range(postings.start[v], postings.start[v] + postings.length[v]):
            if postings.slot[p] == wanted:
                out[v] = postings.counts[p]


@kernel
def base_evidence(rows: Csr, base: Base, out: Floats) -> None:
    """out[i] = Σ_v R(λπ_v, x_iv): the part of the likelihood that is common to all clusters."""
    for i in range(rows.indptr.shape[0] - 1):
        total = 0.0
        for q in range(rows.indptr[i], rows.indptr[i + 1]):
            total += log_rising(base.prior[rows.indices[q]], rows.data[q])
        out[i] = total
