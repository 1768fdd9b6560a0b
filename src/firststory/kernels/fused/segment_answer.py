"""What a segment answers: for each row that is asked about its best rows, and the clusters that count.

What ages things (days, strength, unit) is believed for all but the first row. So more rows and clusters are returned
than are needed, with a bound on all others: the driver can tell whether they suffice.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Flags, Floats, Ints, Slots
from firststory.kernels.fused.ageing import faded, lagged, too_old
from firststory.kernels.fused.layout import Nearest, Query, Scratch, Window
from firststory.kernels.fused.nearest import as_query
from firststory.kernels.fused.rows import (
    COMPLETED_ROWS,
    LISTED_PART,
    ROUNDING_PER_TERM,
    exact_dot,
    keep_nearest,
    nearest_by_some_terms,
    strongest_term,
)
from firststory.kernels.fused.rule import Rule
from firststory.kernels.fused.segment_layout import WHOLE, Answer, Ask, Entries, SegmentClusters
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.layout import Lists
from firststory.kernels.neighbours.walk import walk
from firststory.kernels.neighbours.window import NEXT, OLDEST

OTHERS = 4
"""How many of the clusters that do not change are returned: the best by CEN, and the best to join."""

NEARLY = 0.98
"""A cluster that comes this near to being joined may change within the step."""


@kernel
def search_segment(
    query: Query, exact: bool, told: Flags, window: Window, scratch: Scratch, nearest: Nearest, plain_walked: Floats
) -> None:
    """The best rows of this segment by all terms; if not `exact` those that the terms `told` find, each with its exact
    cosine and, as its score, what these terms make of it."""
    terms, values, weighted = query.terms, query.values, query.weighted
    length, common = window.lists.length, window.common
    dots, spread = scratch.dots, scratch.spread
    alive = window.meta[NEXT] - window.meta[OLDEST]
    walked, square = np.zeros(len(terms), np.bool_), 0.0
    for a in range(len(terms)):
        v = terms[a]
        if v < len(length) and length[v] > 0:
            spread[v] = weighted[a]
            walked[a] = not common[v] if exact else told[a]
            square += 0.0 if walked[a] else values[a] * weighted[a]
    n = walk(terms, weighted * query.inverse_norm, walked, window.lists, dots, scratch.touched, alive // LISTED_PART)
    begin, count, log_terms, log_weights = window.log
    if exact:
        spare, slack = math.sqrt(square) * query.inverse_norm, ROUNDING_PER_TERM * (len(terms) + 8)
        if n < 0 and spare > 0.0:
            nearest_by_some_terms(n, len(nearest.scores), query, window, scratch, nearest)
        keep_nearest(n, spare, slack, True, query, window, scratch, nearest)
        if n >= 0 and spare + slack >= nearest.scores[-1]:
            n = -1
            keep_nearest(n, spare, slack, True, query, window, scratch, nearest)
        plain_walked[0] = nearest.plain_cosine[0]
    else:
        keep_nearest(n, 0.0, 0.0, False, query, window, scratch, nearest)
        plain_walked[0] = nearest.plain_cosine[0]
        for r in range(len(nearest.ordinals)):
            if nearest.ordinals[r] >= 0:
                nearest.cosines[r] = exact_cosine(nearest.ordinals[r], query, window, spread)
        if nearest.plain_ordinal[0] >= 0:
            nearest.plain_cosine[0] = exact_cosine(nearest.plain_ordinal[0], query, window, spread)
    for r in range(len(nearest.ordinals)):
        if nearest.ordinals[r] >= 0:
            j = nearest.ordinals[r] % len(dots)
            most = strongest_term(begin[j], begin[j] + count[j], log_terms, log_weights, spread)
            nearest.strongest[r] = most * window.rows.inverse[j] * query.inverse_norm
    for v in terms:
        if v < len(spread):
            spread[v] = 0.0
    if n < 0:
        dots[:] = 0.0
    else:
        for t in range(n):
            dots[scratch.touched[t]] = 0.0


@kernel
def exact_cosine(ordinal: int, query: Query, window: Window, spread: Floats) -> float:
    """By all terms; the row is spread out."""
    begin, count, terms, weights = window.log
    j = ordinal % len(begin)
    dot = exact_dot(begin[j], begin[j] + count[j], terms, weights, spread)
    return float(min(1.0, dot * window.rows.inverse[j] * query.inverse_norm))


@kernel
def first_alive(oldest: int, meta: Ints, ordinals: Ints) -> int:
    """The local ordinal of the first row that has at least this ordinal in the stream."""
    low, high = meta[OLDEST], meta[NEXT]
    while low < high:
        middle = (low + high) // 2
        if ordinals[middle % len(ordinals)] < oldest:
            low = middle + 1
        else:
            high = middle
    return int(low)


@kernel
def best_to_join(query: Query, rule: Rule, begin: int, end: int, sums: Floats, held: Slots,
                 clusters: SegmentClusters) -> int:  # fmt: skip
    """Of the entries begin .. end - 1 the cluster that the row would join, or nearly; -1: none."""
    best, best_score = -1, NEARLY * rule.join_cosine
    for e in range(begin, end):
        c = held[e]
        capped = min(1.0, sums[e] * clusters.scale[c])
        if capped < best_score or clusters.size[c] == 0:
            continue
        age = (query.day - clusters.day[c]) * query.per_day
        if too_old(capped, age, query.join_beta, query.kappa, best_score):
            continue
        score = lagged(capped, age, query.join_beta, query.kappa)
        if score > best_score or (score == best_score and best >= 0 and clusters.label[c] < clusters.label[best]):
            best, best_score = c, score
    return best


@kernel
def insert_entry(score: float, entry: int, label: int, scores: Floats, entries: Ints, labels: Ints) -> None:
    """Into the best ones, best first; of equals the one that was opened first."""
    r = len(scores) - 1
    if score < scores[r] or (score == scores[r] and entries[r] >= 0 and label > labels[r]) or score <= 0.0:
        return
    while r > 0 and (scores[r - 1] < score or (scores[r - 1] == score and labels[r - 1] > label)):
        scores[r], entries[r], labels[r] = scores[r - 1], entries[r - 1], labels[r - 1]
        r -= 1
    scores[r], entries[r], labels[r] = score, entry, label


@kernel
def choose_entries(
    queries_day: Floats, queries_tick: Floats, per_day: float, strength: float, lengths: Ints, rule: Rule,
    all_entries: Entries, clusters: SegmentClusters, changing: Flags,
) -> Entries:  # fmt: skip
    """The clusters that may change, for every row; and of the others the best by CEN and the best to join.

    The driver decides which of them do change: with fewer segments it might be others.
    """
    n, starts, held, sums = len(queries_day), all_entries.indptr, all_entries.clusters, all_entries.sums
    indptr, many = np.zeros(n + 1, np.int64), 0
    kept = np.empty(len(held), np.int64)
    scores_f, scores_j = np.empty(OTHERS), np.empty(OTHERS)
    best_f, best_j, labels_f, labels_j = (np.empty(OTHERS, np.int64), np.empty(OTHERS, np.int64),
                                          np.empty(OTHERS, np.int64), np.empty(OTHERS, np.int64))  # fmt: skip
    for i in range(n):
        ageing = rule.short if lengths[i] <= rule.short_terms else rule.long
        join_beta, kappa = strength * ageing.join_beta, ageing.kappa
        floor = 1.0 - strength * (1.0 - rule.silence_floor)
        scores_f[:], scores_j[:], best_f[:], best_j[:] = 0.0, 0.0, -1, -1
        for e in range(starts[i], starts[i + 1]):
            c = held[e]
            if clusters.size[c] == 0:
                continue
            if changing[c]:
                kept[many] = e
                many += 1
                continue
            capped = min(1.0, sums[e] * clusters.scale[c])
            if capped >= scores_f[-1]:
                fading = faded(capped, queries_tick[i] - clusters.tick[c], floor, rule.silence_days, kappa)
                insert_entry(fading, e, clusters.label[c], scores_f, best_f, labels_f)
            if capped >= scores_j[-1]:
                age = (queries_day[i] - clusters.day[c]) * per_day
                if not too_old(capped, age, join_beta, kappa, scores_j[-1]):
                    joining = lagged(capped, age, join_beta, kappa)
                    insert_entry(joining, e, clusters.label[c], scores_j, best_j, labels_j)
        for r in range(OTHERS):
            if best_f[r] >= 0:
                kept[many] = best_f[r]
                many += 1
        for r in range(OTHERS):
            is_new = best_j[r] >= 0
            for s in range(OTHERS):
                is_new = is_new and best_f[s] != best_j[r]
            if is_new:
                kept[many] = best_j[r]
                many += 1
        indptr[i + 1] = many
    return Entries(indptr, held[kept[:many]], sums[kept[:many]])


@kernel
def answer(
    ask: Ask, k: int, rule: Rule, idf2: Floats, unseen_idf2: float, window: Window, ordinals: Ints, lists: Lists,
    clusters: SegmentClusters, in_use: int, scratch: Scratch,
) -> Answer:  # fmt: skip
    """What this segment has for each of the rows; nothing is learnt."""
    n, own = len(ask.indptr) - 1, window.meta.copy()
    width = max(k, COMPLETED_ROWS)
    cosines, strongest, scores = np.zeros((n, width)), np.zeros((n, width)), np.zeros((n, width))
    found, ages = np.full((n, width), -1, np.int64), np.zeros(width)
    plain_cosines, plain_ordinals, plain_walked = np.zeros(n), np.full(n, -1, np.int64), np.zeros(n)
    seen = Window(own, window.lists, window.log, window.rows, window.common)
    starts, many = np.zeros(n + 1, np.int64), 0
    held, sums = np.empty(1024, np.int32), np.empty(1024)
    changing, lengths = np.zeros(in_use, np.bool_), np.empty(n, np.int64)
    for i in range(n):
        row = slice(ask.indptr[i], ask.indptr[i + 1])
        terms, values = ask.terms[row], ask.values[row]
        lengths[i] = len(terms)
        _, query = as_query(
            terms, values, ask.days[i], ask.ticks[i], rule, ask.strength, ask.unit_days, idf2, unseen_idf2
        )
        touched = walk(terms, query.weighted * query.inverse_norm, terms < len(lists.start), lists, scratch.sums,
                       scratch.touched, in_use)  # fmt: skip
        size = in_use if touched < 0 else touched
        if many + size > len(held):
            more = many + 2 * size + len(held)
            wider, taller = np.empty(more, np.int32), np.empty(more)
            wider[:many], taller[:many] = held[:many], sums[:many]
            held, sums = wider, taller
        for t in range(size):
            c = t if touched < 0 else scratch.touched[t]
            if scratch.sums[c] > 0.0:
                held[many], sums[many] = c, scratch.sums[c] / WHOLE
                many += 1
            scratch.sums[c] = 0.0
        starts[i + 1] = many
        best = best_to_join(query, rule, starts[i], many, sums, held, clusters)
        if best >= 0:
            changing[best] = True
        own[OLDEST] = first_alive(ask.oldest[i], window.meta, ordinals)
        wanted = k if ask.exact[i] else width
        nearest = Nearest(
            scores[i, :wanted], cosines[i, :wanted], found[i, :wanted], ages[:wanted], strongest[i, :wanted],
            plain_cosines[i : i + 1], plain_ordinals[i : i + 1],
        )  # fmt: skip
        search_segment(query, ask.exact[i], ask.walked[row], seen, scratch, nearest, plain_walked[i : i + 1])
        for r in range(wanted):
            if found[i, r] >= 0:
                found[i, r] = ordinals[found[i, r] % len(ordinals)]
        if plain_ordinals[i] >= 0:
            plain_ordinals[i] = ordinals[plain_ordinals[i] % len(ordinals)]
    if n > 0:
        for local in range(window.meta[OLDEST], first_alive(ask.oldest[n - 1], window.meta, ordinals)):
            changing[window.rows.cluster[local % len(ordinals)]] = True
    entries = choose_entries(
        ask.days, ask.ticks, 1.0 / ask.unit_days, ask.strength, lengths, rule, Entries(starts, held, sums), clusters,
        changing,
    )  # fmt: skip
    return Answer(cosines, found, strongest, scores, plain_cosines, plain_ordinals, plain_walked, entries)
