"""Learning of a Dirichlet-process mixture: documents in, postings grown in place.

A document is scored, its mass is given out (one cluster: hard decision; all of them: soft decision, A6), and clusters
out of sight are retired. Arrays cannot grow in here: where room runs short the loop stops *before* the document and
says so; the caller makes room and resumes from there.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints
from firststory.kernels.csr import Csr
from firststory.kernels.jit import kernel
from firststory.kernels.mixture.layout import CERTAIN_LOG_ODDS, Base, ClusterStats, Judged, Postings, Rules
from firststory.kernels.mixture.rising import log_gamma
from firststory.kernels.mixture.scoring import (
    concentration_at,
    find_posting,
    posterior,
    score_document,
    sight_at,
    temper_at,
)

# Places in the two arrays of running numbers.
USED, SLOTS, NEXT, SEEN, LIVE, DEAD, ROWS, SHORT, POSTINGS = range(9)
"""Places used of the pool; slots used; next identity; documents learnt; living clusters; postings of retired
clusters; rows met, empty ones too; places that were missing when the loop stopped; postings, dead ones too."""
NOW, REFERENCE = range(2)
"""Latest time; the time at which scale is one."""

DONE, NEED_PLACES, NEED_SLOTS, NEED_REBASE, NEED_PACK, AT_EPOCH = range(6)
"""Why the loop stopped. When to pack depends on what was learnt only, never on how much room there was, so that a
model that was saved and loaded continues bit for bit as if it had not been."""

_PACKING_SLACK = 64
"""Dead postings and slots up to this number are not worth packing for."""

_RETIRED_PER_CROWD = 20
"""Where max_clusters is reached, one cluster in this many is retired at once, so that choosing stays cheap."""

_MAX_DECAY_EXPONENT = 50.0
"""Decay is kept as one common factor; when it has fallen by e**-50 the stored counts are rescaled."""


@kernel
def reserve(words: Ints, extra: int, postings: Postings, counter: Ints) -> bool:
    """Room for `extra` more postings at each word of the document, or False and counter[SHORT]."""
    start, length, room = postings.start, postings.length, postings.room
    slot, count, gain = postings.slot, postings.counts, postings.gain
    need = 0
    for v in words:
        if length[v] + extra > room[v]:
            need += max(2 * room[v], length[v] + extra)
    if counter[USED] + need > slot.shape[0]:
        counter[SHORT] = need
        return False
    for v in words:
        if length[v] + extra > room[v]:
            wider = max(2 * room[v], length[v] + extra)
            to = counter[USED]
            for k in range(length[v]):
                slot[to + k] = slot[start[v] + k]
                count[to + k] = count[start[v] + k]
                gain[to + k] = gain[start[v] + k]
            start[v] = to
            room[v] = wider
            counter[USED] += wider
    return True


@kernel
def add_document(
    words: Ints,
    counts: Floats,
    j: int,
    weight: float,
    least: float,
    max_postings: int,
    prior: Floats,
    postings: Postings,
    clusters: ClusterStats,
    counter: Ints,
) -> None:
    """S_j += weight · x. New postings smaller than `least` are not opened."""
    length, slot, count, gain = postings.length, postings.slot, postings.counts, postings.gain
    for q in range(len(words)):
        v = words[q]
        first = postings.start[v]
        stop = first + length[v]
        p = find_posting(slot, first, stop, j)
        if p < stop and slot[p] == j:
            count[p] += weight * counts[q]
        else:
            if weight * counts[q] < least:
                continue
            living = 0
            out = -1
            if max_postings > 0 and length[v] >= max_postings:
                for k in range(first, stop):
                    if clusters.alive[slot[k]]:
                        living += 1
                        if out < 0 or count[k] < count[out]:
                            out = k
            if max_postings > 0 and living >= max_postings:
                # The smallest count says least; it leaves, and everything behind it moves up by one.
                clusters.owned[slot[out]] -= 1
                counter[POSTINGS] -= 1
                for k in range(out, stop - 1):
                    slot[k] = slot[k + 1]
                    count[k] = count[k + 1]
                    gain[k] = gain[k + 1]
                stop -= 1
                length[v] -= 1
                if out < p:
                    p -= 1
            for k in range(stop, p, -1):
                slot[k] = slot[k - 1]
                count[k] = count[k - 1]
                gain[k] = gain[k - 1]
            slot[p] = j
            count[p] = weight * counts[q]
            length[v] += 1
            clusters.owned[j] += 1
            counter[POSTINGS] += 1
        gain[p] = math.log1p(count[p] / prior[v])
        postings.largest[v] = max(postings.largest[v], count[p])


@kernel
def add_mass(j: int, share: float, size: float, scale: float, precision: float, clusters: ClusterStats) -> None:
    """n_j and N_j grow by this share of a document of `size` words."""
    clusters.mass[j] += share / scale
    clusters.tokens[j] += share * size / scale
    clusters.log_gamma[j] = log_gamma(precision + clusters.tokens[j])
    clusters.log_mass[j] = math.log(clusters.mass[j])


@kernel
def open_cluster(j: int, clusters: ClusterStats, counter: Ints) -> None:
    """An empty cluster in slot j, represented by the row that comes now."""
    counter[SLOTS] += 1
    counter[LIVE] += 1
    clusters.identity[j] = counter[NEXT]
    counter[NEXT] += 1
    clusters.alive[j] = True
    clusters.mass[j] = 0.0
    clusters.tokens[j] = 0.0
    clusters.owned[j] = 0
    clusters.representative[j] = counter[ROWS]
    clusters.centrality[j] = 0.0


@kernel
def retire(j: int, clusters: ClusterStats, counter: Ints) -> None:
    """Forget cluster j: its postings die where they lie until the pool is packed."""
    counter[DEAD] += clusters.owned[j]
    counter[LIVE] -= 1
    clusters.mass[j] = 0.0
    clusters.alive[j] = False


@kernel
def retire_crowd(keep: int, clusters: ClusterStats, counter: Ints) -> None:
    """Retire down to `keep` clusters: of the half that was used least recently, the smallest first."""
    slots = np.nonzero(clusters.alive[: counter[SLOTS]])[0]
    by_use = slots[np.argsort(clusters.recent[slots], kind="mergesort")]
    older = by_use[: max(slots.shape[0] // 2, slots.shape[0] - keep)]
    order = older[np.argsort(clusters.mass[older], kind="mergesort")]
    for k in range(slots.shape[0] - keep):
        retire(order[k], clusters, counter)


@kernel
def n_takers(score: Floats, n_slots: int, everything: float, new: bool, rules: Rules) -> int:
    """How many clusters take a share of the document."""
    if not rules.soft:
        return 1
    takers = 1 if new else 0
    for j in range(n_slots):
        if score[j] - everything > math.log(rules.least_share):
            takers += 1
    return takers


@kernel
def learn_documents(
    rows: Csr,
    times: Floats,
    timed: bool,
    row: int,
    epoch: int,
    rules: Rules,
    base: Base,
    postings: Postings,
    clusters: ClusterStats,
    totals: Floats,
    counter: Ints,
    clock: Floats,
    judged: Judged,
) -> tuple[int, int]:
    """Score then learn the rows from `row` on; returns the row that is next and why it stopped there."""
    precision = base.precision
    score = np.empty(clusters.mass.shape[0])
    while row < rows.indptr.shape[0] - 1:
        own = slice(rows.indptr[row], rows.indptr[row + 1])
        words, counts = rows.indices[own], rows.data[own]
        size = 0.0
        for x in counts:
            size += x
        now = max(times[row], clock[NOW]) if timed else counter[SEEN] + 1.0
        if counter[SEEN] == 0:
            clock[REFERENCE] = now
        if rules.decay > 0.0 and (now - clock[REFERENCE]) / rules.decay > _MAX_DECAY_EXPONENT:
            clock[NOW] = now
            return row, NEED_REBASE
        n_slots = counter[SLOTS]
        sight = sight_at(now, counter[SEEN], n_slots, clock[REFERENCE], rules)
        scale = sight.scale
        gamma = concentration_at(base, counter[SEEN] + 1.0)
        unopened = score_document(words, counts, postings, clusters, base, sight, temper_at(rules, size), score)
        opened = unopened + math.log(gamma)
        best, known, everything = posterior(score, n_slots, opened)
        if size == 0.0:
            # Posterior = prior: nothing is said and nothing is learnt.
            judged.odds[row] = opened - known if best >= 0 else 0.0
            judged.label[row] = -1
            judged.evidence[row] = 0.0
            counter[ROWS] += 1
            row += 1
            continue
        new = best < 0 or opened >= score[best]

        # Room first: from here on nothing may stop half-way.
        if new and n_slots == clusters.mass.shape[0]:
            return row, NEED_SLOTS
        if not reserve(words, n_takers(score, n_slots, everything, new, rules), postings, counter):
            return row, NEED_PLACES

        judged.odds[row] = opened - known if best >= 0 else CERTAIN_LOG_ODDS
        judged.evidence[row] = everything - math.log(gamma + counter[SEEN])
        if rules.soft:
            for j in range(n_slots):
                share = math.exp(score[j] - everything)
                if share > rules.least_share:
                    add_document(
                        words, counts, j, share / scale, rules.min_count / scale, rules.max_postings, base.prior,
                        postings, clusters, counter,
                    )  # fmt: skip
                    add_mass(j, share, size, scale, precision, clusters)
        if new:
            best = n_slots
            open_cluster(best, clusters, counter)
        else:
            central = (score[best] - unopened) / size
            if central > clusters.centrality[best]:
                clusters.centrality[best] = central
                clusters.representative[best] = counter[ROWS]
        if new or not rules.soft:
            share = math.exp(opened - everything) if rules.soft and not rules.full_mass else 1.0
            add_document(
                words, counts, best, share / scale, 0.0, rules.max_postings, base.prior, postings, clusters, counter
            )
            add_mass(best, share, size, scale, precision, clusters)
        clusters.last[best] = now
        clusters.recent[best] = counter[SEEN] + 1
        judged.label[row] = clusters.identity[best]
        clock[NOW] = now
        for q in range(len(words)):
            totals[words[q]] += counts[q]
        counter[SEEN] += 1
        counter[ROWS] += 1
        row += 1

        if rules.window > 0 or rules.max_age > 0.0:
            for j in range(counter[SLOTS]):
                if clusters.alive[j] and (clusters.last[j] < sight.oldest or clusters.recent[j] < sight.earliest):
                    retire(j, clusters, counter)
        if rules.max_clusters > 0 and counter[LIVE] > rules.max_clusters:
            retire_crowd(rules.max_clusters - rules.max_clusters // _RETIRED_PER_CROWD, clusters, counter)
        if counter[SEEN] == epoch:
            return row, AT_EPOCH
        dead, spare = counter[DEAD], counter[SLOTS] - 2 * counter[LIVE]
        if 2 * dead > counter[POSTINGS] + _PACKING_SLACK or spare > _PACKING_SLACK:
            return row, NEED_PACK
    return row, DONE
