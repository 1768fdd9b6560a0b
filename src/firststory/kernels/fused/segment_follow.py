"""The driver of a segmented window: rows judged and learnt one after the other, from what the segments answered.

It is `follow_rows` with the window elsewhere. Pairs of rows within the step are compared here, and so are rows that
leave within it. Where an answer does not suffice, the step ends early and the next one asks anew: its first row is
always sure of its answer, since nothing is believed there that could have changed.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.ageing import lagged
from firststory.kernels.fused.clock import (
    UNCAPPED_ROWS,
    advanced,
    largeness,
    learn_match,
    learnt_size,
    row_by_chance,
)
from firststory.kernels.fused.clusters import best_cluster, join_cluster, leave_cluster, open_cluster
from firststory.kernels.fused.layout import Batch, Findings, Past, Query
from firststory.kernels.fused.nearest import as_query
from firststory.kernels.fused.norms import refresh_due
from firststory.kernels.fused.rows import (
    EXACT_WINDOW_ROWS,
    NOT_WANTED,
    WALKED_PART,
    exact_dot,
    keep_plain,
    longest_walked,
    strongest_term,
)
from firststory.kernels.fused.rule import Rule
from firststory.kernels.fused.segment_layout import Ask, Gathered
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.cosine import keep_best
from firststory.kernels.neighbours.layout import Log
from firststory.kernels.neighbours.walk import is_worth_walking, postings
from firststory.kernels.neighbours.window import NEXT, OLDEST, TAIL

STEP_ROWS = 100
"""Pairs within a step go with its square."""

LEAVING_ROWS = 256
"""When more rows than this have left, the step ends: each is compared with every later row of it."""


NOTHING = 1e-9
"""A sum of cosines below this, after rows were taken away, is what rounding left."""


@kernel
def plan_step(
    batch: Batch, days: Floats, timed: bool, first: int, window: int, max_age: float, max_postings: int, rule: Rule,
    learn: bool, past: Past,
) -> tuple[Ask, int]:  # fmt: skip
    """The rows from `first` on that make the next step, with what can be known and what is believed of them; and how
    many rows leave within it."""
    meta, pace, born, length = past.window.meta, past.pace, past.window.rows.born, past.window.lists.length
    n, alive = min(STEP_ROWS, window, len(batch.indptr) - 1 - first), meta[NEXT] - meta[OLDEST]
    now, oldest = meta.copy(), np.empty(n, np.int64)
    asked_days, ticks = np.empty(n), np.empty(n)
    day, tick = pace.day[0], pace.tick[0]
    done = 0
    while done < n:
        before = (day, tick) if learn else (pace.day[0], pace.tick[0])
        day, tick = advanced(days[first + done], timed, now[NEXT], rule.gap_cap, before[0], before[1], pace.day_rows[0])
        if done > 0 and learn and day - asked_days[0] > max_age:
            break
        asked_days[done], ticks[done], oldest[done] = day, tick, now[OLDEST]
        done += 1
        if not learn:
            continue
        while now[NEXT] > now[OLDEST] and (
            now[NEXT] - now[OLDEST] >= window
            or (now[OLDEST] < meta[NEXT] and day - born[now[OLDEST] % len(born)] > max_age)
        ):
            now[OLDEST] += 1
        now[NEXT] += 1
        if refresh_due(now, past.tally, rule) or now[OLDEST] - meta[OLDEST] > LEAVING_ROWS:
            break
    begin, end = batch.indptr[first], batch.indptr[first + done]
    exact, walked = np.ones(done, np.bool_), np.ones(end - begin, np.bool_)
    for i in range(done):
        row = slice(batch.indptr[first + i], batch.indptr[first + i + 1])
        terms, values = batch.terms[row], batch.values[row]
        if alive >= EXACT_WINDOW_ROWS and postings(terms, values, length, math.inf) > max_postings:
            exact[i] = False
            longest = longest_walked(terms, values, length, max_postings // WALKED_PART)
            for a in range(len(terms)):
                v = terms[a]
                worth = v < len(length) and is_worth_walking(length[v], values[a], longest)
                walked[row.start - begin + a] = worth
    ask = Ask(
        batch.indptr[first : first + done + 1] - begin, batch.terms[begin:end], batch.values[begin:end],
        asked_days[:done], ticks[:done], oldest[:done], exact, walked, pace.strength[0], pace.unit_days[0],
    )  # fmt: skip
    return ask, now[OLDEST] - meta[OLDEST]


@kernel
def most_apart(day: float, believed: float, strength: float, unit: float, asked: Ask, oldest: float,
               newest: float) -> float:  # fmt: skip
    """How far strength * ln(1 + age) of any row born between the two days is from what was believed of it."""
    s, u, most = asked.strength, asked.unit_days, 0.0
    turn = (strength * (u + believed) - s * (unit + day)) / (strength - s) if strength != s else oldest
    for born in (oldest, newest, min(max(turn, oldest), newest)):
        now = strength * math.log(1.0 + max(0.0, day - born) / unit)
        most = max(most, abs(now - s * math.log(1.0 + max(0.0, believed - born) / u)))
    return most


@kernel
def log_row(terms: Ints, values: Floats, meta: Ints, length: Ints, log: Log) -> int:
    """Put a row into the log; returns its slot."""
    slot = meta[NEXT] % len(log.start)
    tail = meta[TAIL]
    log.start[slot], log.length[slot] = tail, len(terms)
    for a in range(len(terms)):
        log.terms[tail + a], log.weights[tail + a] = terms[a], values[a]
        length[terms[a]] += 1
    meta[TAIL] += len(terms)
    meta[NEXT] += 1
    return int(slot)


@kernel
def leave_log(meta: Ints, length: Ints, log: Log) -> None:
    """Take the oldest row out of the log."""
    slot = meta[OLDEST] % len(log.start)
    for a in range(log.start[slot], log.start[slot] + log.length[slot]):
        length[log.terms[a]] -= 1
    meta[OLDEST] += 1


@kernel
def cosine_to_logged(slot: int, query: Query, inverse: Floats, log: Log, spread: Floats) -> float:
    """The cosine to a row of the log, not capped; the query is spread out."""
    first = log.start[slot]
    dot = exact_dot(first, first + log.length[slot], log.terms, log.weights, spread)
    return float(dot * inverse[slot] * query.inverse_norm)


@kernel
def follow_answers(
    batch: Batch, days: Floats, timed: bool, first: int, ask: Ask, got: Gathered, leaving: int, window: int,
    max_age: float, rule: Rule, learn: bool, past: Past, spread: Floats, sums: Floats, touched: Ints, home: Ints,
    died: Ints, found: Findings,
) -> tuple[int, int]:  # fmt: skip
    """Judge the rows of a step and, with `learn`, learn each before the next is judged.

    Returns how many were done, and how many clusters died: their places, from `home`, go to `died`.
    """
    window_rows, tally, pace, idf2, unseen_idf2, _, clusters = past
    meta, lists, log, rows, _ = window_rows
    born, inverse, cluster, capacity = rows.born, rows.inverse, rows.cluster, len(rows.born)
    keep, n_died = 0.5 ** (1.0 / rule.half_life), 0
    begun, oldest = meta[NEXT], meta[OLDEST]
    has_past = begun > oldest
    first_born = born[oldest % capacity] if has_past else 0.0
    last_born = born[(begun - 1) % capacity] if has_past else 0.0
    plain_cosine, plain_ordinal = np.empty(1), np.empty(1, np.int64)
    # A row that comes may take the slot of one that left within the step.
    left, left_inverse, n_left = np.empty((leaving, 4), np.int64), np.empty(leaving), 0
    k, opened = found.aged.shape[1], tally.opened[0]
    for i in range(len(ask.oldest)):
        at = first + i
        row = slice(batch.indptr[at], batch.indptr[at + 1])
        terms, values = batch.terms[row], batch.values[row]
        day, tick = advanced(days[at], timed, meta[NEXT], rule.gap_cap, pace.day[0], pace.tick[0], pace.day_rows[0])
        strength, unit = pace.strength[0], pace.unit_days[0]
        apart = 0.0
        if day != ask.days[i] or strength != ask.strength or unit != ask.unit_days:
            apart = most_apart(day, ask.days[i], strength, unit, ask, first_born, last_born)
        norm, query = as_query(terms, values, day, tick, rule, strength, unit, idf2, unseen_idf2)
        ageing = rule.short if len(terms) <= rule.short_terms else rule.long
        for a in range(len(terms)):
            if terms[a] < len(spread):
                spread[terms[a]] = query.weighted[a]
        # Neighbours.
        found.aged[at], found.cosines[at], found.ordinals[at] = 0.0, 0.0, -1
        wants_plain = learn and meta[NEXT] >= UNCAPPED_ROWS
        plain_cosine[0], plain_ordinal[0] = (0.0 if wants_plain else NOT_WANTED), -1
        for r in range(got.row_start[i], got.row_start[i + 1]):
            j = got.ordinals[r]
            score = lagged(got.cosines[r], (day - born[j % capacity]) * query.per_day, query.beta, query.kappa)
            keep_best(score, got.cosines[r], j, found.aged[at], found.cosines[at], found.ordinals[at])
            keep_plain(got.cosines[r], j, plain_cosine, plain_ordinal)
        for s in range(got.plain_ordinals.shape[1]):
            if got.plain_ordinals[i, s] >= 0:
                keep_plain(got.plain_cosines[i, s], got.plain_ordinals[i, s], plain_cosine, plain_ordinal)
        n = 0
        for e in range(got.entry_start[i], got.entry_start[i + 1]):
            c = got.clusters[e]
            if clusters.label[c] == got.labels[e] and clusters.size[c] > 0:
                touched[n] = c
                n += 1
                sums[c] = got.sums[e]
        for j in range(begun, meta[NEXT]):
            slot = j % capacity
            cosine = cosine_to_logged(slot, query, inverse, log, spread)
            if cosine <= 0.0:
                continue
            capped = min(1.0, cosine)
            score = lagged(capped, (day - born[slot]) * query.per_day, query.beta, query.kappa)
            keep_best(score, capped, j, found.aged[at], found.cosines[at], found.ordinals[at])
            keep_plain(capped, j, plain_cosine, plain_ordinal)
            c = cluster[slot]
            if sums[c] == 0.0:
                touched[n] = c
                n += 1
            sums[c] += cosine
        for g in range(n_left):
            begin, end, c, label = left[g, 0], left[g, 1], left[g, 2], left[g, 3]
            if clusters.label[c] == label and sums[c] > 0.0:
                dot = exact_dot(begin, end, log.terms, log.weights, spread)
                sums[c] -= dot * left_inverse[g] * query.inverse_norm
                if sums[c] < NOTHING:
                    sums[c] = -1.0  # nothing is left of it but rounding
        centroid, size, joined, cosine, join_score = best_cluster(query, rule, clusters, n, False, sums, touched)
        enough = True
        if apart > 0.0 or day != ask.days[i]:
            apart_ticks = abs(tick - ask.ticks[i]) / rule.silence_days
            fade_slack = 1.0 + (1.0 / rule.silence_floor - 1.0) * (abs(strength - ask.strength) + apart_ticks)
            join_slack = math.exp(ageing.join_beta * apart) * 1.000001
            row_slack = math.exp(ageing.beta * apart) * 1.000001
        else:
            fade_slack, join_slack, row_slack = 1.0, 1.0, 1.0
        if found.aged[at, k - 1] < got.row_bounds[i] * row_slack or centroid < got.fade_bounds[i] * fade_slack:
            enough = False
        join_bound = got.join_bounds[i] * join_slack
        if join_score < join_bound and join_bound > rule.join_cosine:
            enough = False
        if i > 0 and not enough:
            for a in range(len(terms)):
                if terms[a] < len(spread):
                    spread[terms[a]] = 0.0
            return i, n_died
        # From here on the row is judged.
        found.days[at], found.strength[at] = day, strength
        found.largeness[at], found.cluster_weights[at] = largeness(pace.log_size[0], meta[NEXT], rule, keep)
        found.centroid[at] = centroid
        for r in range(k):
            j = found.ordinals[at, r]
            if j < 0:
                continue
            found.ages[at, r] = (day - born[j % capacity]) * query.per_day
            if j >= begun:
                begin = log.start[j % capacity]
                most = strongest_term(begin, begin + log.length[j % capacity], log.terms, log.weights, spread)
                found.strongest[at, r] = most * inverse[j % capacity] * query.inverse_norm
            else:
                for q in range(got.row_start[i], got.row_start[i + 1]):
                    if got.ordinals[q] == j:
                        found.strongest[at, r] = got.strongest[q]
        for a in range(len(terms)):
            if terms[a] < len(spread):
                spread[terms[a]] = 0.0
        if not learn:
            continue
        pace.day[0], pace.tick[0] = day, tick
        pace.log_size[0] = learnt_size(pace.log_size[0], size, keep)
        if plain_ordinal[0] >= 0:
            alive = meta[NEXT] - meta[OLDEST]
            any_row = meta[OLDEST] + row_by_chance(meta[NEXT], alive)
            learn_match(
                meta[NEXT] - plain_ordinal[0], alive, day - born[plain_ordinal[0] % capacity],
                day - born[any_row % capacity], timed, plain_cosine[0], rule, keep, pace,
            )  # fmt: skip
        opens, goes_on = joined < 0, True
        c = joined
        if not opens:
            found.joined_cosines[at], found.joined_sizes[at] = cosine, clusters.size[c]
            goes_on = got.changing[c] == clusters.label[c] or clusters.label[c] >= opened
            join_cluster(c, cosine, clusters)
        while meta[NEXT] > meta[OLDEST] and (
            meta[NEXT] - meta[OLDEST] >= window or day - born[meta[OLDEST] % capacity] > max_age
        ):
            slot = meta[OLDEST] % capacity
            own = cluster[slot]
            left[n_left, 0], left[n_left, 1] = log.start[slot], log.start[slot] + log.length[slot]
            left[n_left, 2], left[n_left, 3] = own, clusters.label[own]
            left_inverse[n_left] = inverse[slot]
            n_left += 1
            if clusters.size[own] == 1:
                died[n_died] = home[own]
                n_died += 1
            leave_cluster(own, tally, clusters)
            leave_log(meta, lists.length, log)
        if opens:
            c = open_cluster(tally, clusters)
            home[c] = -1
        slot = log_row(terms, values, meta, lists.length, log)
        born[slot], inverse[slot], cluster[slot] = day, 1.0 / norm, c
        clusters.day[c], clusters.tick[c], found.labels[at] = day, tick, clusters.label[c]
        if not goes_on:
            return i + 1, n_died
    return len(ask.oldest), n_died
