"""Scores of a Dirichlet-process mixture by an inverted index (A15): cost is the postings that are touched.

Clusters live in *slots*. The gain of a posting caches Δ for one more occurrence, log(1 + S/(λπ)), so that most of the
scoring is a gather and an addition. Where counts decay, stored = true / `scale`, and gains are taken afresh.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.csr import Csr
from firststory.kernels.jit import kernel
from firststory.kernels.mixture.layout import CERTAIN_LOG_ODDS, Base, ClusterStats, Postings, Rules, Sight
from firststory.kernels.mixture.rising import log_gamma, log_rising, rising_gain

NEGLIGIBLE_NATS = 50.0
"""Ten thousand clusters this many nats under the best one do not move the last bit of the normaliser."""

_MIN_SLOTS_TO_PRUNE = 64
"""With fewer slots a scan is quicker than the bookkeeping of pruning."""

_LOOKUP_COST = 8
"""What finding one posting costs, in postings scanned."""


@kernel
def find_posting(slot: Slots, lo: int, hi: int, wanted: int) -> int:
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
    words: Ints,
    counts: Floats,
    postings: Postings,
    clusters: ClusterStats,
    base: Base,
    sight: Sight,
    temper: float,
    score: Floats,
) -> float:
    """Fill score[j] = τ(ℓ_j − Σ_v R(λπ_v, x_v)) + log n_j, −inf for slots that are empty or out of sight.

    Returns τ(ℓ_new − Σ_v R(λπ_v, x_v)), to which the caller adds log γ. The sum over the words under the base measure
    is common to all and cancels. Slots that cannot matter (`NEGLIGIBLE_NATS`) may be left at −inf.
    """
    start, length, slot = postings.start, postings.length, postings.slot
    prior, precision, n_slots, scale = base.prior, base.precision, sight.n_slots, sight.scale
    width = start.shape[0]
    size = 0.0
    for x in counts:
        size += x
    for j in range(n_slots):
        score[j] = 0.0
    # Words in very many clusters tell little and cost most: they wait until it is known who is still in the race.
    patient = n_slots // 4 if n_slots >= _MIN_SLOTS_TO_PRUNE else n_slots + 1
    waiting = 0
    waiting_postings = 0
    bound = 0.0
    for q in range(len(words)):
        v = words[q]
        if v >= width or length[v] == 0:
            continue
        if length[v] > patient:
            waiting += 1
            waiting_postings += length[v]
            bound += rising_gain(prior[v], postings.largest[v] * scale, counts[q])
            continue
        _add_word(v, counts[q], postings, prior, scale, 1.0, score)
    opened = temper * (log_gamma(precision) - log_gamma(precision + size))
    best = -np.inf
    # Fields are taken out of their tuples before the loop over all slots: it is the hottest of this kernel.
    mass, tokens, last, recent = clusters.mass, clusters.tokens, clusters.last, clusters.recent
    known, log_mass, oldest, earliest = clusters.log_gamma, clusters.log_mass, sight.oldest, sight.earliest
    for j in range(n_slots):
        if mass[j] <= 0.0 or last[j] < oldest or recent[j] < earliest:
            score[j] = -np.inf
            continue
        if scale == 1.0:
            after = log_gamma(precision + tokens[j] + size)
            score[j] = temper * (score[j] + known[j] - after) + log_mass[j]
        else:
            seen = precision + tokens[j] * scale
            score[j] = temper * (score[j] + log_gamma(seen) - log_gamma(seen + size)) + math.log(mass[j] * scale)
        best = max(best, score[j])
    if waiting == 0:
        return opened
    # Every Δ is >= 0: `best` is a lower bound of the best slot, score + bound an upper bound of each. The rival is the
    # best slot and not the new cluster: the log-odds need the sum over the known ones even where it is hopeless.
    floor = best - temper * bound - NEGLIGIBLE_NATS
    racing = 0
    for j in range(n_slots):
        if score[j] >= floor:
            racing += 1
    if racing * waiting * _LOOKUP_COST >= waiting_postings:
        for q in range(len(words)):
            v = words[q]
            if v < width and length[v] > patient:
                _add_word(v, counts[q], postings, prior, scale, temper, score)
        return opened
    for j in range(n_slots):
        if score[j] < floor:
            score[j] = -np.inf
            continue
        for q in range(len(words)):
            v = words[q]
            if v < width and length[v] > patient:
                stop = start[v] + length[v]
                p = find_posting(slot, start[v], stop, j)
                if p < stop and slot[p] == j:
                    # The same expressions in the same order as in a scan: pruned or not, the same bits.
                    if counts[q] == 1.0 and scale == 1.0:
                        score[j] += temper * postings.gain[p]
                    else:
                        before = prior[v] + postings.counts[p] * scale
                        score[j] += temper * (log_rising(before, counts[q]) - log_rising(prior[v], counts[q]))
    return opened


@kernel
def _add_word(v: int, x: float, postings: Postings, prior: Floats, scale: float, factor: float, score: Floats) -> None:
    """Add what x occurrences of word v say for each cluster that has it."""
    slot, count, gain = postings.slot, postings.counts, postings.gain
    first = postings.start[v]
    stop = first + postings.length[v]
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
        if score[j] > top - NEGLIGIBLE_NATS:
            total += math.exp(score[j] - top)
    known = top + math.log(total)
    high = max(known, opened)
    return best, known, high + math.log(math.exp(known - high) + math.exp(opened - high))


@kernel
def concentration_at(base: Base, i: float) -> float:
    """γ_i: form 1 is a/i + b + c·i (constant where a = c = 0), form 2 is a/(b + i) + c (A11)."""
    if base.form == 2:
        return base.a / (base.b + i) + base.c
    return base.a / i + base.b + base.c * i


@kernel
def temper_at(rules: Rules, size: float) -> float:
    """τ, lowered to τ·L0/|x| for documents longer than the cap L0 (0: no cap)."""
    if rules.length_cap > 0.0 and size > rules.length_cap:
        return rules.temper * rules.length_cap / size
    return rules.temper


@kernel
def sight_at(now: float, seen: int, n_slots: int, reference: float, rules: Rules) -> Sight:
    """What a document that comes now, after `seen` others, sees of the clusters."""
    scale = math.exp(-(now - reference) / rules.decay) if rules.decay > 0.0 else 1.0
    oldest = now - rules.max_age if rules.max_age > 0.0 else -np.inf
    earliest = seen + 1 - rules.window if rules.window > 0 else 0
    return Sight(n_slots, scale, oldest, earliest)


@kernel
def mixture_novelty(
    rows: Csr,
    now: Floats,
    seen: int,
    n_slots: int,
    reference: float,
    rules: Rules,
    base: Base,
    postings: Postings,
    clusters: ClusterStats,
    odds: Floats,
    best: Ints,
) -> None:
    """Each row by itself against the clusters as they are: log-odds of a new cluster (A13) and the best slot."""
    score = np.empty(max(n_slots, 1))
    log_concentration = math.log(concentration_at(base, seen + 1.0))
    for i in range(rows.indptr.shape[0] - 1):
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        counts = rows.data[own]
        size = 0.0
        for x in counts:
            size += x
        sight = sight_at(now[i], seen, n_slots, reference, rules)
        opened = score_document(
            rows.indices[own], counts, postings, clusters, base, sight, temper_at(rules, size), score
        )
        j, known, _ = posterior(score, n_slots, opened + log_concentration)
        odds[i] = opened + log_concentration - known if j >= 0 else CERTAIN_LOG_ODDS
        best[i] = j if j >= 0 and score[j] > opened + log_concentration else -1
        if size == 0.0:
            best[i] = -1
            if j < 0:
                odds[i] = 0.0
