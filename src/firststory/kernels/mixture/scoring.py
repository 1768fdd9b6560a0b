"""Scores of a Dirichlet-process mixture by an inverted index (A15): cost is the postings that are touched.

Clusters live in *slots*. A word's postings are one contiguous block of the pool, sorted by slot: `start`, `length`
per word; `slot`, `count`, `gain` per posting. `gain` caches Δ for one more occurrence, log(1 + S/(λπ)), so that most of
the scoring is a gather and an addition. Where counts decay, stored = true / `scale`, and gains are taken afresh.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.jit import kernel
from firststory.kernels.mixture.rising import log_gamma, log_rising, rising_gain

NEGLIGIBLE = 50.0
"""Ten thousand clusters this many nats under the best one do not move the last bit of the normaliser."""

_PRUNE_FROM = 64
"""Pruning is tried from this many slots on: below, a scan is quicker than the bookkeeping."""

_LOOKUP = 8
"""What finding one posting costs, in postings scanned."""


@kernel
def find_posting(slot: NDArray[np.int32], lo: int, hi: int, wanted: int) -> int:
    """Where in the sorted slot[lo:hi] `wanted` is, or belongs."""
    while lo < hi:
        middle = (lo + hi) >> 1
        if slot[middle] < wanted:
            lo = middle + 1
        else:
            hi = middle
    return lo


@kernel
def score_document(
    indices: NDArray[np.integer],
    data: Floats,
    begin: int,
    end: int,
    start: Ints,
    length: Ints,
    largest: Floats,
    prior: Floats,
    slot: NDArray[np.int32],
    count: Floats,
    gain: Floats,
    mass: Floats,
    tokens: Floats,
    last: Floats,
    recent: Ints,
    cached: Floats,
    log_mass: Floats,
    n_slots: int,
    scale: float,
    oldest: float,
    earliest: int,
    precision: float,
    temper: float,
    score: Floats,
) -> tuple[float, float]:
    """Fill score[j] = τ(ℓ_j − Σ_v R(λπ_v, x_v)) + log n_j, −inf for slots that are empty or out of sight: no member
    since the time `oldest` or the document `earliest`.

    Returns |x| and τ(ℓ_new − Σ_v R(λπ_v, x_v)), to which the caller adds log γ. The sum over the words under the
    base measure is common to all and cancels. Slots that cannot matter (`NEGLIGIBLE`) may be left at −inf.
    """
    width = start.shape[0]
    size = 0.0
    for q in range(begin, end):
        size += data[q]
    for j in range(n_slots):
        score[j] = 0.0
    # Words in very many clusters tell little and cost most: they wait until it is known who is still in the race.
    patient = n_slots // 4 if n_slots >= _PRUNE_FROM else n_slots + 1
    waiting = 0
    waiting_postings = 0
    bound = 0.0
    for q in range(begin, end):
        v = indices[q]
        if v >= width or length[v] == 0:
            continue
        if length[v] > patient:
            waiting += 1
            waiting_postings += length[v]
            bound += rising_gain(prior[v], largest[v] * scale, data[q])
            continue
        _add_word(v, data[q], start, length, prior, slot, count, gain, scale, 1.0, score)
    opened = temper * (log_gamma(precision) - log_gamma(precision + size))
    best = -np.inf
    for j in range(n_slots):
        if mass[j] <= 0.0 or last[j] < oldest or recent[j] < earliest:
            score[j] = -np.inf
            continue
        if scale == 1.0:
            score[j] = temper * (score[j] + cached[j] - log_gamma(precision + tokens[j] + size)) + log_mass[j]
        else:
            seen = precision + tokens[j] * scale
            score[j] = temper * (score[j] + log_gamma(seen) - log_gamma(seen + size)) + math.log(mass[j] * scale)
        best = max(best, score[j])
    if waiting == 0:
        return size, opened
    # Every Δ is >= 0: `best` is a lower bound of the best slot, score + bound an upper bound of each. The rival is the
    # best slot and not the new cluster: the log-odds need the sum over the known ones even where it is hopeless.
    floor = best - temper * bound - NEGLIGIBLE
    racing = 0
    for j in range(n_slots):
        if score[j] >= floor:
            racing += 1
    if racing * waiting * _LOOKUP >= waiting_postings:
        for q in range(begin, end):
            v = indices[q]
            if v < width and length[v] > patient:
                _add_word(v, data[q], start, length, prior, slot, count, gain, scale, temper, score)
        return size, opened
    for j in range(n_slots):
        if score[j] < floor:
            score[j] = -np.inf
            continue
        for q in range(begin, end):
            v = indices[q]
            if v < width and length[v] > patient:
                stop = start[v] + length[v]
                p = find_posting(slot, start[v], stop, j)
                if p < stop and slot[p] == j:
                    # The same expressions in the same order as in a scan: pruned or not, the same bits.
                    if data[q] == 1.0 and scale == 1.0:
                        score[j] += temper * gain[p]
                    else:
                        rise = log_rising(prior[v] + count[p] * scale, data[q]) - log_rising(prior[v], data[q])
                        score[j] += temper * rise
    return size, opened


@kernel
def _add_word(
    v: int,
    x: float,
    start: Ints,
    length: Ints,
    prior: Floats,
    slot: NDArray[np.int32],
    count: Floats,
    gain: Floats,
    scale: float,
    factor: float,
    score: Floats,
) -> None:
    first = start[v]
    stop = first + length[v]
    if x == 1.0 and scale == 1.0:
        for p in range(first, stop):
            score[slot[p]] += factor * gain[p]
        return
    base = log_rising(prior[v], x)
    for p in range(first, stop):
        score[slot[p]] += factor * (log_rising(prior[v] + count[p] * scale, x) - base)


@kernel
def posterior(score: Floats, n_slots: int, opened: float) -> tuple[int, float, float]:
    """Of score[:n_slots] and s_new: the best slot (−1 when there is none), log Σ_j exp(score_j), and log of all."""
    best = -1
    top = -np.inf
    for j in range(n_slots):
        if score[j] > top:
            top = score[j]
            best = j
    if best < 0:
        return -1, -np.inf, opened
    total = 0.0
    for j in range(n_slots):
        if score[j] > top - NEGLIGIBLE:
            total += math.exp(score[j] - top)
    known = top + math.log(total)
    high = max(known, opened)
    return best, known, high + math.log(math.exp(known - high) + math.exp(opened - high))


@kernel
def concentration_at(form: int, a: float, b: float, c: float, i: float) -> float:
    """γ_i: form 1 is a/i + b + c·i (constant where a = c = 0), form 2 is a/(b + i) + c (A11)."""
    if form == 2:
        return a / (b + i) + c
    return a / i + b + c * i


@kernel
def temper_at(temper: float, length_cap: float, size: float) -> float:
    """τ, lowered to τ·L0/|x| for documents longer than the cap L0 (0: no cap)."""
    if length_cap > 0.0 and size > length_cap:
        return temper * length_cap / size
    return temper


@kernel
def mixture_novelty(
    indptr: NDArray[np.integer],
    indices: NDArray[np.integer],
    data: Floats,
    now: Floats,
    start: Ints,
    length: Ints,
    largest: Floats,
    prior: Floats,
    slot: NDArray[np.int32],
    count: Floats,
    gain: Floats,
    mass: Floats,
    tokens: Floats,
    last: Floats,
    recent: Ints,
    cached: Floats,
    log_mass: Floats,
    n_slots: int,
    reference: float,
    decay: float,
    max_age: float,
    earliest: int,
    precision: float,
    temper: float,
    length_cap: float,
    concentration: float,
    certain: float,
    odds: Floats,
    best: Ints,
) -> None:
    """Each row by itself against the clusters as they are: log-odds of a new cluster (A13) and the best slot."""
    score = np.empty(max(n_slots, 1))
    log_concentration = math.log(concentration)
    for i in range(indptr.shape[0] - 1):
        begin, end = indptr[i], indptr[i + 1]
        size = 0.0
        for q in range(begin, end):
            size += data[q]
        scale = math.exp(-(now[i] - reference) / decay) if decay > 0.0 else 1.0
        oldest = now[i] - max_age if max_age > 0.0 else -np.inf
        tau = temper_at(temper, length_cap, size)
        _, opened = score_document(
            indices, data, begin, end, start, length, largest, prior, slot, count, gain,
            mass, tokens, last, recent, cached, log_mass, n_slots, scale, oldest, earliest, precision, tau, score,
        )  # fmt: skip
        j, known, _ = posterior(score, n_slots, opened + log_concentration)
        odds[i] = opened + log_concentration - known if j >= 0 else certain
        best[i] = j if j >= 0 and score[j] > opened + log_concentration else -1
        if size == 0.0:
            best[i] = -1
            if j < 0:
                odds[i] = 0.0
