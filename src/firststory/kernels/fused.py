"""One pass over the posting lists: nearest neighbour and nearest cluster, with idf, norms and clusters of the past.

Lists hold `1 + ln x`; the square of the idf weight sits between the two sides of each product (`idf2`), so that idf
can change without a posting being touched. What depends on idf (`idf2` and the norm of every row) is refreshed from
time to time, never at every row.

A row whose lists are too long is judged in a shorter way with the same sums. From time to time it is gathered, for each
common term, what every cluster holds of it, so that the cosines to clusters need only the newest part of the long
lists. The nearest rows are found by the rarer terms and then get their exact cosine.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.cosine import accumulate, keep_best
from firststory.kernels.jit import kernel
from firststory.kernels.window import NEXT, OLDEST, WindowIndex, evict, has_room, remember

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]

BETA, JOIN_BETA, THETA, FLOOR, TAU, IDF_POWER, STRONG = 0, 1, 2, 3, 4, 5, 6
"""What `knobs` holds: the neighbour's lag exponent, the cluster's, the cosine at which a row joins, what is left of a
cluster's cosine after long silence, the days in which it falls by e, the exponent of idf, and how much less a strong
match ages (0: like any other)."""

FREE, OPENED, FRESH_AT, FRESH_ROWS, SUMMED_AT, SUMMED_OPENED = 0, 1, 2, 3, 4, 5
"""What `tally` holds: cluster slots on the free stack, clusters ever opened; at the last refresh, rows ever seen and
rows in the window; when clusters were last summed, rows ever seen and clusters ever opened."""

BLOCK = 100
"""Rows between two refreshes while the window holds less than BLOCK * STALE rows."""

STALE = 100
"""Beyond that, a refresh comes after 1/STALE of the window: idf hardly moves in between, and the cost per row stays
constant however long the stream."""

COMMON = 0.02
"""A term is common when more than this share of the window has it."""

MANY = 10_000
"""Rows in the window from which on this is done at all."""

SUMMED = 10
"""Clusters are summed anew after 1/SUMMED of the window; what leaves the window in between stays in the sums."""

COMPLETED = 12
"""How many of the nearest rows get their exact cosine when the lists of common terms were not walked."""


@kernel
def weigh(rows: int, df: int, power: float) -> float:
    """The square of idf ** power; idf = ln((1 + N) / (1 + df)) + 1."""
    return float(max(math.log((1.0 + rows) / (1.0 + df)) + 1.0, 0.01) ** (2.0 * power))


@kernel
def refresh(
    power: float,
    meta: Ints,
    tally: Ints,
    length: Ints,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    idf2: Floats,
    inverse: Floats,
) -> None:
    """idf of every term and 1/norm of every row as of now. A list's length is the term's document frequency."""
    alive = meta[NEXT] - meta[OLDEST]
    table = np.empty(1024)  # idf depends on the document frequency alone, and most terms are rare
    for df in range(len(table)):
        table[df] = weigh(alive, df, power)
    for v in range(len(length)):
        idf2[v] = table[length[v]] if length[v] < len(table) else weigh(alive, length[v], power)
    for ordinal in range(meta[OLDEST], meta[NEXT]):
        slot = ordinal % len(log_start)
        total = 0.0
        for a in range(log_start[slot], log_start[slot] + log_length[slot]):
            total += log_weights[a] * log_weights[a] * idf2[log_terms[a]]
        inverse[slot] = 1.0 / math.sqrt(total + 1e-30)
    tally[FRESH_AT], tally[FRESH_ROWS] = meta[NEXT], alive


@kernel
def by_cluster(meta: Ints, cluster: Slots, n_slots: int) -> Ints:
    """The slots of the window ordered by cluster (counting sort; within a cluster by age)."""
    begin = np.zeros(n_slots + 1, np.int64)
    for ordinal in range(meta[OLDEST], meta[NEXT]):
        begin[cluster[ordinal % n_slots] + 1] += 1
    for c in range(n_slots):
        begin[c + 1] += begin[c]
    order = np.empty(meta[NEXT] - meta[OLDEST], np.int64)
    for ordinal in range(meta[OLDEST], meta[NEXT]):
        slot = ordinal % n_slots
        order[begin[cluster[slot]]] = slot
        begin[cluster[slot]] += 1
    return order


@kernel
def count_common(
    order: Ints, cluster: Slots, log_start: Ints, log_length: Ints, log_terms: Slots, common: Slots, n_common: int
) -> Ints:
    """How many clusters hold each common term, as the beginnings of their lists."""
    begin, last = np.zeros(n_common + 1, np.int64), np.full(n_common, -1, np.int64)
    for slot in order:
        for a in range(log_start[slot], log_start[slot] + log_length[slot]):
            g = common[log_terms[a]]
            if g >= 0 and last[g] != cluster[slot]:
                last[g] = cluster[slot]
                begin[g + 1] += 1
    for g in range(n_common):
        begin[g + 1] += begin[g]
    return begin


@kernel
def sum_common(
    order: Ints,
    cluster: Slots,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    inverse: Floats,
    common: Slots,
    begin: Ints,
    holders: Slots,
    held: Floats,
) -> None:
    """For each common term the clusters that hold it and the sum of their rows' weights / norms."""
    place, last = begin[:-1] - 1, np.full(len(begin) - 1, -1, np.int64)
    for slot in order:
        c = cluster[slot]
        for a in range(log_start[slot], log_start[slot] + log_length[slot]):
            g = common[log_terms[a]]
            if g >= 0:
                if last[g] != c:
                    last[g] = c
                    place[g] += 1
                    holders[place[g]], held[place[g]] = c, 0.0
                held[place[g]] += log_weights[a] * inverse[slot]


@kernel
def shared_mass(terms: Ints, values: Floats, other: Slots, weights: Floats) -> float:
    """The dot product of two rows whose terms are in order."""
    a, b, total = 0, 0, 0.0
    while a < len(terms) and b < len(other):
        if terms[a] == other[b]:
            total += values[a] * weights[b]
            a += 1
            b += 1
        elif terms[a] < other[b]:
            a += 1
        else:
            b += 1
    return total


@kernel
def walk_newest(
    terms: Ints,
    query: Floats,
    rare: NDArray[np.bool_],
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    dots: Floats,
    touched: Ints,
    n: int,
) -> int:
    """Add the products of common terms with the rows since clusters were summed: the tails of the lists."""
    mask, summed = len(dots) - 1, tally[SUMMED_AT]
    newest = meta[NEXT] - summed
    for a in range(len(terms)):
        if rare[a]:
            continue
        p = start[terms[a]] + length[terms[a]] - 1
        while p >= start[terms[a]] and ((members[p] - summed) & mask) < newest:
            j = members[p]
            if n >= 0 and dots[j] == 0.0:
                touched[n] = j
                n += 1
            dots[j] += query[a] * weights[p]
            p -= 1
    return n


@kernel
def lagged(cosine: float, days: float, beta: float, strong: float) -> float:
    """cosine * (1 + days) ** (-beta (1 - cosine) ** strong): the stronger a match, the less it ages."""
    if strong > 0.0:
        beta *= (1.0 - cosine) ** strong
    return cosine * math.exp(-beta * math.log(1.0 + days))


@kernel
def faded(cosine: float, days: float, floor: float, tau: float, strong: float) -> float:
    """cosine * (floor + (1 - floor) exp(-days / tau)), the loss being less for a strong match."""
    loss = (1.0 - floor) * (1.0 - math.exp(-days / tau))
    if strong > 0.0:
        loss *= (1.0 - cosine) ** strong
    return cosine * (1.0 - loss)


@kernel
def look(
    terms: Ints,
    values: Floats,
    day: float,
    tick: float,
    k: int,
    budget: int,
    fresh: float,
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    idf2: Floats,
    inverse: Floats,
    born: Floats,
    cluster: Slots,
    common: Slots,
    common_begin: Ints,
    holders: Slots,
    held: Floats,
    summed: Slots,
    c_square: Floats,
    c_size: Ints,
    c_day: Floats,
    c_tick: Floats,
    c_label: Ints,
    dots: Floats,
    sums: Floats,
    touched: Ints,
    clusters: Ints,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
) -> tuple[float, float, float, int, float]:
    """NN, CEN, the row's own norm, the cluster to join (slot, -1: none) and the cosine to it.

    `dots` and `sums` are all zero before and after. When the row's lists hold more than `budget` postings together,
    those of common terms are walked for the newest rows only.
    """
    capacity, oldest = len(born), meta[OLDEST]
    mask, alive = capacity - 1, meta[NEXT] - oldest  # the capacity is a power of two
    query, square, total = np.empty(len(terms)), 0.0, 0
    for a in range(len(terms)):
        known = terms[a] < len(idf2)
        query[a] = values[a] * (idf2[terms[a]] if known else fresh)
        square += values[a] * query[a]
        total += length[terms[a]] if known else 0
    norm = math.sqrt(square + 1e-30)
    inverse_norm = 1.0 / norm
    short = total > budget and len(holders) > 0
    if not short:
        scores, cosines, ordinals = scores[:k], cosines[:k], ordinals[:k]
        n = accumulate(terms, query, start, length, members, weights, dots, touched, alive)
        n_clusters = 0
    else:
        rare = np.ones(len(terms), np.bool_)
        for a in range(len(terms)):
            rare[a] = terms[a] >= len(common) or common[terms[a]] < 0
        n = accumulate(terms[rare], query[rare], start, length, members, weights, dots, touched, alive)
        n = walk_newest(terms, query, rare, meta, tally, start, length, members, weights, dots, touched, n)
        n_clusters = 0
        for a in range(len(terms)):
            if not rare[a]:
                g = common[terms[a]]
                q = query[a] * inverse_norm
                for p in range(common_begin[g], common_begin[g + 1]):
                    sums[holders[p]] += q * held[p]
        for c in summed:
            # A slot that was given back since may belong to another cluster by now.
            if c_label[c] >= tally[SUMMED_OPENED] or c_size[c] == 0:
                sums[c] = 0.0
            elif sums[c] > 0.0:
                clusters[n_clusters] = c
                n_clusters += 1
    for t in range(alive if n < 0 else n):
        j = (oldest + t) & mask if n < 0 else touched[t]
        dot = dots[j]
        if dot <= 0.0:
            continue
        dots[j] = 0.0
        cosine = min(1.0, dot * inverse[j] * inverse_norm)
        c = cluster[j]
        if sums[c] == 0.0:
            clusters[n_clusters] = c
            n_clusters += 1
        sums[c] += cosine
        if cosine >= scores[-1]:
            score = lagged(cosine, day - born[j], knobs[BETA], knobs[STRONG])
            if score >= scores[-1]:
                keep_best(score, cosine, oldest + ((j - oldest) & mask), scores, cosines, ordinals)
    if short:
        found = ordinals.copy()
        scores[:], cosines[:], ordinals[:] = 0.0, 0.0, -1
        for ordinal in found:
            if ordinal >= 0:
                j = ordinal % capacity
                log = slice(log_start[j], log_start[j] + log_length[j])
                dot = shared_mass(terms, query, log_terms[log], log_weights[log])
                cosine = min(1.0, dot * inverse[j] * inverse_norm)
                score = lagged(cosine, day - born[j], knobs[BETA], knobs[STRONG])
                keep_best(score, cosine, ordinal, scores, cosines, ordinals)
    centroid, best, best_score, best_cosine = 0.0, -1, 0.0, 0.0
    for t in range(n_clusters):
        c = clusters[t]
        cosine = sums[c] / math.sqrt(c_square[c])
        sums[c] = 0.0
        capped = min(1.0, cosine)
        # Ageing only lowers a cosine, so that most clusters are out without their age being looked at.
        if capped > centroid:
            centroid = max(centroid, faded(capped, tick - c_tick[c], knobs[FLOOR], knobs[TAU], knobs[STRONG]))
        if capped < best_score:
            continue
        score = lagged(capped, day - c_day[c], knobs[JOIN_BETA], knobs[STRONG])
        if score > best_score or (score == best_score and best >= 0 and c_label[c] < c_label[best]):
            best, best_score, best_cosine = c, score, cosine
    return scores[0], centroid, norm, best if best_score > knobs[THETA] else -1, best_cosine


@kernel
def judge_fused(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    days: Floats,
    ticks: Floats,
    k: int,
    budget: int,
    fresh: float,
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    idf2: Floats,
    inverse: Floats,
    born: Floats,
    cluster: Slots,
    common: Slots,
    common_begin: Ints,
    holders: Slots,
    held: Floats,
    summed: Slots,
    c_square: Floats,
    c_size: Ints,
    c_day: Floats,
    c_tick: Floats,
    c_label: Ints,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
    neighbour: Floats,
    centroid: Floats,
) -> None:
    """NN and CEN of each row by itself; nothing is learnt."""
    capacity = len(born)
    dots, sums = np.zeros(capacity), np.zeros(capacity)
    touched, clusters = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    for i in range(len(indptr) - 1):
        row = slice(indptr[i], indptr[i + 1])
        neighbour[i], centroid[i], _, _, _ = look(
            indices[row], data[row], days[i], ticks[i], k, budget, fresh, knobs, meta, tally, start, length,
            members, weights, log_start, log_length, log_terms, log_weights, idf2, inverse, born, cluster,
            common, common_begin, holders, held, summed, c_square, c_size, c_day, c_tick, c_label,
            dots, sums, touched, clusters, scores[i], cosines[i], ordinals[i],
        )  # fmt: skip


@kernel
def leave_cluster(slot: int, tally: Ints, cluster: Slots, c_square: Floats, c_size: Ints, free: Slots) -> None:
    """One member less: |S|^2 = m + m(m-1) c for a mean cosine c between members, which the leaver does not change."""
    k = cluster[slot]
    m = c_size[k]
    if m == 1:
        free[tally[FREE]] = k
        tally[FREE] += 1
    else:
        mean = max(0.0, c_square[k] - m) / (m * (m - 1.0))
        c_square[k] = m - 1.0 + (m - 1.0) * (m - 2.0) * mean
    c_size[k] = m - 1


@kernel
def follow_fused(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    days: Floats,
    ticks: Floats,
    first: int,
    window: int,
    max_age: float,
    k: int,
    budget: int,
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    room: Ints,
    members: Slots,
    weights: Floats,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    idf2: Floats,
    inverse: Floats,
    born: Floats,
    cluster: Slots,
    common: Slots,
    common_begin: Ints,
    holders: Slots,
    held: Floats,
    summed: Slots,
    c_square: Floats,
    c_size: Ints,
    c_day: Floats,
    c_tick: Floats,
    c_label: Ints,
    free: Slots,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
    neighbour: Floats,
    centroid: Floats,
    labels: Ints,
    joined: Floats,
    joined_size: Ints,
) -> int:
    """Judge rows `first ..` and learn each before the next is judged.

    Returns the first row not done: the number of rows, or where room ran out, or after which a refresh is due.
    """
    capacity = len(born)
    dots, sums = np.zeros(capacity), np.zeros(capacity)
    touched, clusters = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    for i in range(first, len(indptr) - 1):
        row = slice(indptr[i], indptr[i + 1])
        terms, values = indices[row], data[row]
        if not has_room(terms, window, meta, length, room, members, log_start, log_terms):
            return i
        neighbour[i], centroid[i], norm, c, cosine = look(
            terms, values, days[i], ticks[i], k, budget, 0.0, knobs, meta, tally, start, length, members, weights,
            log_start, log_length, log_terms, log_weights, idf2, inverse, born, cluster,
            common, common_begin, holders, held, summed, c_square, c_size, c_day, c_tick, c_label,
            dots, sums, touched, clusters, scores[i], cosines[i], ordinals[i],
        )  # fmt: skip
        joined[i], joined_size[i] = cosine if c >= 0 else 0.0, c_size[c] if c >= 0 else 0
        if c >= 0:
            # Before anyone leaves: the cosine was taken with all of the members.
            c_square[c] += 1.0 + 2.0 * cosine * math.sqrt(c_square[c])
            c_size[c] += 1
        while meta[NEXT] > meta[OLDEST] and (
            meta[NEXT] - meta[OLDEST] >= window or days[i] - born[meta[OLDEST] % capacity] > max_age
        ):
            leave_cluster(meta[OLDEST] % capacity, tally, cluster, c_square, c_size, free)
            evict(meta, start, length, room, log_start, log_length, log_terms)
        if c < 0:
            tally[FREE] -= 1
            c = free[tally[FREE]]
            c_square[c], c_size[c], c_label[c] = 1.0, 1, tally[OPENED]
            tally[OPENED] += 1
        slot = remember(
            terms, values, meta, start, length, room, members, weights,
            log_start, log_length, log_terms, log_weights,
        )  # fmt: skip
        born[slot], inverse[slot], cluster[slot] = days[i], 1.0 / norm, c
        c_day[c], c_tick[c], labels[i] = days[i], ticks[i], c_label[c]
        if meta[NEXT] - tally[FRESH_AT] >= max(BLOCK, (meta[NEXT] - meta[OLDEST]) // STALE):
            return i + 1
    return len(indptr) - 1


class FusedIndex(WindowIndex):
    """A window of rows of `1 + ln x`, their norms, and the clusters they form."""

    per_slot: ClassVar[dict[str, Any]] = {"born": np.float64, "inverse": np.float64, "cluster": np.int32}
    per_cluster: ClassVar[dict[str, Any]] = {
        "c_square": np.float64,
        "c_size": np.int64,
        "c_day": np.float64,
        "c_tick": np.float64,
        "c_label": np.int64,
    }
    """As many slots as rows: a cluster without a living member gives its slot back."""

    own: ClassVar[tuple[str, ...]] = ("idf2", "free", "tally", "common", "common_begin", "holders", "held", "summed")

    born: Floats
    inverse: Floats
    cluster: Slots
    c_square: Floats
    c_size: Ints
    c_day: Floats
    c_tick: Floats
    c_label: Ints

    def __init__(self, capacity: int = 64) -> None:
        super().__init__(capacity)
        for name, kind in self.per_cluster.items():
            setattr(self, name, np.zeros(capacity, dtype=kind))
        self.idf2 = np.zeros(0)
        self.common, self.holders = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
        self.common_begin, self.held = np.zeros(1, dtype=np.int64), np.zeros(0)
        self.summed = np.zeros(0, dtype=np.int32)
        self.free = np.arange(capacity, dtype=np.int32)[::-1].copy()
        self.tally = np.array([capacity, 0, 0, 0, 0, 0], dtype=np.int64)

    def judge(
        self, indptr: Ints, indices: Ints, data: Floats, days: Floats, ticks: Floats, *, k: int, budget: int,
        knobs: Floats,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """NN and CEN of each row by itself against the past."""
        n, kept = len(indptr) - 1, max(k, COMPLETED)
        neighbour, centroid = np.zeros(n), np.zeros(n)
        judge_fused(
            indptr.astype(np.int64), indices.astype(np.int64), data, days, ticks, k, budget, self._fresh(knobs),
            knobs,
            self.meta, self.tally, self.start, self.length, self.members, self.weights,
            self.log_start, self.log_length, self.log_terms, self.log_weights,
            self.idf2, self.inverse, self.born, self.cluster,
                self.common, self.common_begin, self.holders, self.held, self.summed,
            self.c_square, self.c_size, self.c_day, self.c_tick, self.c_label,
            np.zeros((n, kept)), np.zeros((n, kept)), np.full((n, kept), -1, dtype=np.int64), neighbour, centroid,
        )  # fmt: skip
        return neighbour, centroid

    def follow(
        self, indptr: Ints, indices: Ints, data: Floats, days: Floats, ticks: Floats, *, width: int, k: int,
        window: int, max_age: float, budget: int, knobs: Floats,
    ) -> tuple[Floats, Floats, Floats, Ints, Ints, Floats, Ints]:  # fmt: skip
        """NN, CEN, the k best (plain cosines, ordinals), the cluster of each row, its cosine and size before."""
        n, kept = len(indptr) - 1, max(k, COMPLETED)
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        scores, cosines = np.zeros((n, kept)), np.zeros((n, kept))
        ordinals = np.full((n, kept), -1, dtype=np.int64)
        neighbour, centroid, joined = np.zeros(n), np.zeros(n), np.zeros(n)
        labels, sizes = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        self.widen(width)
        self.idf2 = np.concatenate([self.idf2, np.full(width - len(self.idf2), self._fresh(knobs))])
        done = 0
        while True:
            done = follow_fused(
                indptr, indices, data, days, ticks, done, window, max_age, k, budget, knobs, self.meta, self.tally,
                self.start, self.length, self.room, self.members, self.weights,
                self.log_start, self.log_length, self.log_terms, self.log_weights,
                self.idf2, self.inverse, self.born, self.cluster,
                self.common, self.common_begin, self.holders, self.held, self.summed,
                self.c_square, self.c_size, self.c_day, self.c_tick, self.c_label, self.free,
                scores, cosines, ordinals, neighbour, centroid, labels, joined, sizes,
            )  # fmt: skip
            if self.meta[NEXT] - self.tally[FRESH_AT] >= max(BLOCK, len(self) // STALE):
                self._refresh(float(knobs[IDF_POWER]), budget)
            if done == n:
                return neighbour, centroid, cosines[:, :k], ordinals[:, :k], labels, joined, sizes
            self.make_room(indices[indptr[done] : indptr[done + 1]], window)

    def _refresh(self, power: float, budget: int) -> None:
        """Norms and idf as of now; and what clusters hold of common terms, if rows need it and it is old."""
        refresh(
            power, self.meta, self.tally, self.length, self.log_start, self.log_length, self.log_terms,
            self.log_weights, self.idf2, self.inverse,
        )  # fmt: skip
        # The mean row's postings are the sum of df^2 over the rows.
        needed = len(self) >= MANY and float((self.length.astype(float) ** 2).sum()) > 0.3 * budget * len(self)
        if needed and (not len(self.summed) or self.meta[NEXT] - self.tally[SUMMED_AT] >= len(self) // SUMMED):
            self._sum_clusters()

    def _sum_clusters(self) -> None:
        many = self.length > COMMON * len(self)
        self.common = np.where(many, np.cumsum(many) - 1, -1).astype(np.int32)
        log = (self.log_start, self.log_length, self.log_terms)
        order = by_cluster(self.meta, self.cluster, len(self.born))
        self.common_begin = count_common(order, self.cluster, *log, self.common, int(many.sum()))
        self.holders = np.zeros(self.common_begin[-1], dtype=np.int32)
        self.held = np.zeros(len(self.holders))
        sum_common(
            order, self.cluster, *log, self.log_weights, self.inverse, self.common, self.common_begin,
            self.holders, self.held,
        )  # fmt: skip
        self.summed = np.unique(self.cluster[order])
        self.tally[SUMMED_AT], self.tally[SUMMED_OPENED] = self.meta[NEXT], self.tally[OPENED]

    def _fresh(self, knobs: Floats) -> float:
        """idf2 of a term that nobody has seen, as of the last refresh."""
        return weigh(int(self.tally[FRESH_ROWS]), 0, float(knobs[IDF_POWER]))

    def _widen_ring(self) -> None:
        old = len(self.born)
        super()._widen_ring()
        for name in self.per_cluster:
            part = getattr(self, name)
            setattr(self, name, np.concatenate([part, np.zeros(old, dtype=part.dtype)]))
        # The ring is full, but there may be fewer clusters than rows: the new slots go on top of the stack.
        spare = self.free[: self.tally[FREE]]
        self.free = np.zeros(2 * old, dtype=np.int32)
        self.free[: len(spare)] = spare
        self.free[len(spare) : len(spare) + old] = np.arange(2 * old - 1, old - 1, -1)
        self.tally[FREE] = len(spare) + old

    def get_state(self) -> dict[str, Any]:
        """The living rows, the clusters as they lie, idf as of the last refresh."""
        own = {name: getattr(self, name).copy() for name in (*self.per_cluster, *self.own)}
        return {**super().get_state(), **own}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Build the lists again from the living rows."""
        index = super().from_state(state)
        for name in (*cls.per_cluster, *cls.own):
            setattr(index, name, state[name].copy())
        return index


@kernel
def capped_clock(days: Floats, count: int, day: float, tick: float, cap: float) -> Floats:
    """The stream's own clock: a gap counts at most `cap` times the mean gap so far, and never less than a day's worth.

    A long silence of the whole stream then says nothing about any one cluster. `count` rows came before, the last at
    `day` when the clock showed `tick`; the first 20 gaps are not capped, for want of a mean.
    """
    out = np.empty(len(days))
    for i in range(len(days)):
        gap = days[i] - day if count + i > 0 else 0.0
        if count + i > 20:
            gap = min(gap, max(cap * tick / (count + i), 1.0))
        tick += gap
        day = days[i]
        out[i] = tick
    return out
