"""Learning of a Dirichlet-process mixture: documents in, postings grown in place (A.2, A.8).

A document is scored, its mass is given out (one cluster: hard decision; all of them: soft decision, A6), and clusters
out of sight are retired. Arrays cannot grow in here: where room runs short the loop stops *before* the document and
says so; the caller makes room and goes on from there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.jit import kernel
from firststory.kernels.mixture.rising import log_gamma
from firststory.kernels.mixture.scoring import concentration_at, find_posting, posterior, score_document, temper_at

# Places in the two arrays of running numbers.
USED, SLOTS, NEXT, SEEN, LIVE, DEAD, ROWS, SHORT, POSTINGS = range(9)
"""Places used of the pool; slots used; next identity; documents learnt; living clusters; postings of retired
clusters; rows met, empty ones too; places that were missing when the loop stopped; postings, dead ones too."""
NOW, REFERENCE = range(2)
"""Latest time; the time at which scale is one."""

DONE, NEED_PLACES, NEED_SLOTS, NEED_REBASE, NEED_PACK, AT_EPOCH = range(6)
"""Why the loop stopped. When to pack depends on what was learnt only, never on how much room there was, so that a
model that was saved and loaded goes on to the last bit as if it had not been."""

_SLACK = 64
"""Dead postings and slots up to this number are not worth packing for."""

_RETIRE_SHARE = 20
"""Where max_clusters is reached, one cluster in this many is retired at once, so that choosing stays cheap."""

_MAX_EXPONENT = 50.0
"""Decay is kept as one common factor; when it has fallen by e**-50 the stored counts are written anew."""


@kernel
def reserve(
    indices: NDArray[np.integer],
    begin: int,
    end: int,
    extra: int,
    start: Ints,
    length: Ints,
    room: Ints,
    slot: NDArray[np.int32],
    count: Floats,
    gain: Floats,
    counter: Ints,
) -> bool:
    """Room for `extra` more postings at each word of the document, or False and counter[SHORT]."""
    need = 0
    for q in range(begin, end):
        v = indices[q]
        if length[v] + extra > room[v]:
            need += max(2 * room[v], length[v] + extra)
    if counter[USED] + need > slot.shape[0]:
        counter[SHORT] = need
        return False
    for q in range(begin, end):
        v = indices[q]
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
    indices: NDArray[np.integer],
    data: Floats,
    begin: int,
    end: int,
    j: int,
    weight: float,
    start: Ints,
    length: Ints,
    largest: Floats,
    prior: Floats,
    slot: NDArray[np.int32],
    count: Floats,
    gain: Floats,
    owned: Ints,
    counter: Ints,
    alive: NDArray[np.bool_],
    least: float,
    longest: int,
) -> None:
    """S_j += weight · x. `least`: smaller new postings are not opened; `longest`: the most postings a word may have."""
    for q in range(begin, end):
        v = indices[q]
        first = start[v]
        stop = first + length[v]
        p = find_posting(slot, first, stop, j)
        if p < stop and slot[p] == j:
            count[p] += weight * data[q]
        else:
            if weight * data[q] < least:
                continue
            living = 0
            out = -1
            if longest > 0 and length[v] >= longest:
                for k in range(first, stop):
                    if alive[slot[k]]:
                        living += 1
                        if out < 0 or count[k] < count[out]:
                            out = k
            if longest > 0 and living >= longest:
                # The smallest count says least; it leaves, and everything behind it moves up by one.
                owned[slot[out]] -= 1
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
            count[p] = weight * data[q]
            length[v] += 1
            owned[j] += 1
            counter[POSTINGS] += 1
        gain[p] = math.log1p(count[p] / prior[v])
        largest[v] = max(largest[v], count[p])


@kernel
def retire(j: int, mass: Floats, alive: NDArray[np.bool_], owned: Ints, counter: Ints) -> None:
    """Forget cluster j: its postings die where they lie until the pool is packed."""
    counter[DEAD] += owned[j]
    counter[LIVE] -= 1
    mass[j] = 0.0
    alive[j] = False


@kernel
def retire_crowd(keep: int, mass: Floats, recent: Ints, alive: NDArray[np.bool_], owned: Ints, counter: Ints) -> None:
    """Retire down to `keep` clusters: of the half that was used least recently, the smallest first."""
    slots = np.nonzero(alive[: counter[SLOTS]])[0]
    older = slots[np.argsort(recent[slots], kind="mergesort")][: max(slots.shape[0] // 2, slots.shape[0] - keep)]
    order = older[np.argsort(mass[older], kind="mergesort")]
    for k in range(slots.shape[0] - keep):
        retire(order[k], mass, alive, owned, counter)


@kernel
def learn_documents(
    indptr: NDArray[np.integer],
    indices: NDArray[np.integer],
    data: Floats,
    times: Floats,
    timed: bool,
    row: int,
    epoch: int,
    soft: bool,
    full_mass: bool,
    least_share: float,
    start: Ints,
    length: Ints,
    room: Ints,
    largest: Floats,
    prior: Floats,
    totals: Floats,
    slot: NDArray[np.int32],
    count: Floats,
    gain: Floats,
    mass: Floats,
    tokens: Floats,
    last: Floats,
    recent: Ints,
    cached: Floats,
    log_mass: Floats,
    alive: NDArray[np.bool_],
    owned: Ints,
    identity: Ints,
    representative: Ints,
    centrality: Floats,
    counter: Ints,
    clock: Floats,
    decay: float,
    window: int,
    max_age: float,
    max_clusters: int,
    least: float,
    longest: int,
    precision: float,
    temper: float,
    length_cap: float,
    form: int,
    a: float,
    b: float,
    c: float,
    certain: float,
    odds: Floats,
    label: Ints,
    evidence: Floats,
) -> tuple[int, int]:
    """Score then learn the rows from `row` on; returns the row that is next and why it stopped there.

    `odds`: log-odds of a new cluster; `label`: identity of the cluster joined or opened, −1 for an empty row;
    `evidence`: log Σ_c P(c) p(x|c) relative to the base measure, the predictive likelihood that validation compares.
    """
    score = np.empty(mass.shape[0])
    while row < indptr.shape[0] - 1:
        begin, end = indptr[row], indptr[row + 1]
        size = 0.0
        for q in range(begin, end):
            size += data[q]
        now = max(times[row], clock[NOW]) if timed else counter[SEEN] + 1.0
        if counter[SEEN] == 0:
            clock[REFERENCE] = now
        if decay > 0.0 and (now - clock[REFERENCE]) / decay > _MAX_EXPONENT:
            clock[NOW] = now
            return row, NEED_REBASE
        scale = math.exp(-(now - clock[REFERENCE]) / decay) if decay > 0.0 else 1.0
        oldest = now - max_age if max_age > 0.0 else -np.inf
        earliest = counter[SEEN] + 1 - window if window > 0 else 0
        n_slots = counter[SLOTS]
        gamma = concentration_at(form, a, b, c, counter[SEEN] + 1.0)
        tau = temper_at(temper, length_cap, size)
        _, opened = score_document(
            indices, data, begin, end, start, length, largest, prior, slot, count, gain,
            mass, tokens, last, recent, cached, log_mass, n_slots, scale, oldest, earliest, precision, tau, score,
        )  # fmt: skip
        base = opened
        opened += math.log(gamma)
        best, known, everything = posterior(score, n_slots, opened)
        if size == 0.0:
            # Posterior = prior: nothing is said and nothing is learnt.
            odds[row] = opened - known if best >= 0 else 0.0
            label[row] = -1
            evidence[row] = 0.0
            counter[ROWS] += 1
            row += 1
            continue
        new = best < 0 or opened >= score[best]

        # Room first: from here on nothing may stop half-way.
        takers = 1
        if soft:
            takers = 1 if new else 0
            for j in range(n_slots):
                if score[j] - everything > math.log(least_share):
                    takers += 1
        if new and n_slots == mass.shape[0]:
            return row, NEED_SLOTS
        if not reserve(indices, begin, end, takers, start, length, room, slot, count, gain, counter):
            return row, NEED_PLACES

        odds[row] = opened - known if best >= 0 else certain
        evidence[row] = everything - math.log(gamma + counter[SEEN])
        if soft:
            for j in range(n_slots):
                share = math.exp(score[j] - everything)
                if share > least_share:
                    add_document(
                        indices, data, begin, end, j, share / scale, start, length, largest, prior,
                        slot, count, gain, owned, counter, alive, least / scale, longest,
                    )  # fmt: skip
                    mass[j] += share / scale
                    tokens[j] += share * size / scale
                    cached[j] = log_gamma(precision + tokens[j])
                    log_mass[j] = math.log(mass[j])
        if new:
            best = n_slots
            counter[SLOTS] += 1
            counter[LIVE] += 1
            identity[best] = counter[NEXT]
            counter[NEXT] += 1
            alive[best] = True
            mass[best] = 0.0
            tokens[best] = 0.0
            owned[best] = 0
            representative[best] = counter[ROWS]
            centrality[best] = 0.0
        else:
            central = (score[best] - base) / size
            if central > centrality[best]:
                centrality[best] = central
                representative[best] = counter[ROWS]
        if new or not soft:
            share = math.exp(opened - everything) if soft and not full_mass else 1.0
            add_document(
                indices, data, begin, end, best, share / scale, start, length, largest, prior,
                slot, count, gain, owned, counter, alive, 0.0, longest,
            )  # fmt: skip
            mass[best] += share / scale
            tokens[best] += share * size / scale
            cached[best] = log_gamma(precision + tokens[best])
            log_mass[best] = math.log(mass[best])
        last[best] = now
        recent[best] = counter[SEEN] + 1
        label[row] = identity[best]
        clock[NOW] = now
        for q in range(begin, end):
            totals[indices[q]] += data[q]
        counter[SEEN] += 1
        counter[ROWS] += 1
        row += 1

        if window > 0 or max_age > 0.0:
            for j in range(counter[SLOTS]):
                if alive[j] and (last[j] < oldest or recent[j] < earliest):
                    retire(j, mass, alive, owned, counter)
        if max_clusters > 0 and counter[LIVE] > max_clusters:
            keep = max_clusters - max_clusters // _RETIRE_SHARE
            retire_crowd(keep, mass, recent, alive, owned, counter)
        if counter[SEEN] == epoch:
            return row, AT_EPOCH
        if 2 * counter[DEAD] > counter[POSTINGS] + _SLACK or counter[SLOTS] > 2 * counter[LIVE] + _SLACK:
            return row, NEED_PACK
    return row, DONE
