"""Documents join stories or open them, one after the other."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Ints
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.stories.evidence import (
    Newcomer,
    days_between,
    longness,
    new_pairs,
    threshold_for,
    weigh,
    weights_of_long,
)
from firststory.kernels.stories.layout import Arrivals, Free, JoinRule, Learnt, Members, Placed, Stories
from firststory.kernels.stories.membership import let_go, take_up
from firststory.kernels.stories.row_table import fill, new_table

OPENING_DECAY = 1.0 - 1.0 / 700.0
"""Of the share of documents that open stories, at each document."""
USUAL_DECAY = 0.998
"""Of what is known of the usual cosine within stories, at each document that joins."""


@part_of_kernel
def candidate_slot(candidates: Ints, slots: Ints, i: int, c: int) -> int:
    """The slot that document i names in place c; -1 where it names none, or has named it before."""
    slot: int = candidates[i, c] if candidates[i, c] >= -1 else slots[-2 - candidates[i, c]]
    for earlier in range(c):
        before = candidates[i, earlier] if candidates[i, earlier] >= -1 else slots[-2 - candidates[i, earlier]]
        if before == slot:
            return -1
    return slot


@kernel
def place_documents(
    arrivals: Arrivals, stories: Stories, members: Members, free: Free, learnt: Learnt, rule: JoinRule, next_key: int
) -> Placed:
    """Let each document join the story that most speaks for, or open one. There is room for all of them."""
    n, n_candidates = len(arrivals.indptr) - 1, arrivals.candidates.shape[1]
    placed = Placed(np.empty(n, np.int64), np.zeros(n, np.int64), np.empty(n), np.full((n, n_candidates), -1))
    most = stories.members.shape[1]
    longest = 0
    for i in range(n):
        longest = max(longest, arrivals.indptr[i + 1] - arrivals.indptr[i])
    # Members that are let go have rows of their own lengths.
    for m in range(len(members.length)):
        longest = max(longest, members.length[m])
    table, pairs, chosen_cosine = new_table(longest), new_pairs(most), np.empty(most)
    for i in range(n):
        row = slice(arrivals.indptr[i], arrivals.indptr[i + 1])
        n_terms = arrivals.indptr[i + 1] - arrivals.indptr[i]
        newcomer = Newcomer(
            math.log(max(n_terms, 1)), arrivals.times[i], arrivals.first_ordinal + i, arrivals.vectors[i]
        )
        fill(table, arrivals.columns[row], arrivals.weights[row], arrivals.title_weights[row])
        long, u = weights_of_long(learnt, rule), longness(newcomer.log_terms, rule)
        least_link = u * rule.link + (1.0 - u) * rule.short_link
        best, best_odds, n_linked, n_chosen = -1, -math.inf, 0, 0
        n_near, near_cosine, best_cosine = 0, 0.0, 0.0
        for c in range(n_candidates):
            slot = candidate_slot(arrivals.candidates, placed.slot, i, c)
            if slot < 0:
                continue
            odds, timeless = weigh(table, newcomer, members, stories, slot, long, rule, pairs)
            cosine = pairs.cosine[: stories.n_members[slot]].mean()
            n_near += 1
            near_cosine += cosine
            since_first = days_between(
                newcomer.time, newcomer.ordinal, stories.first[slot], stories.first_ordinal[slot],
                rule.documents_per_day,
            )  # fmt: skip
            odds -= rule.age * math.log1p(max(0.0, since_first) / rule.age_days)
            if timeless >= least_link:
                placed.linked[i, n_linked] = slot
                n_linked += 1
            since_last = days_between(
                newcomer.time, newcomer.ordinal, stories.last[slot], stories.last_ordinal[slot],
                rule.documents_per_day,
            )  # fmt: skip
            if odds > best_odds and since_last <= rule.fade_days:
                best, best_odds, n_chosen, best_cosine = slot, odds, stories.n_members[slot], cosine
                chosen_cosine[:n_chosen] = pairs.cosine[:n_chosen]
        placed.odds[i] = best_odds
        opens = best < 0 or best_odds < threshold_for(newcomer.log_terms, learnt, rule)
        if best >= 0 and n_near > 1:
            fading = 1.0 - u * (1.0 - USUAL_DECAY)
            learnt.background[0] = fading * learnt.background[0] + u * (near_cosine - best_cosine) / (n_near - 1)
            learnt.background[1] = fading * learnt.background[1] + u
        share = learnt.opening_share[0]
        learnt.opening_share[0] = OPENING_DECAY * share + (1.0 - OPENING_DECAY) * (1.0 if opens else 0.0)
        if opens:
            best, n_chosen = open_story(stories, free, next_key, newcomer), 0
            next_key += 1
            placed.opened[i] = 1
        else:
            total = chosen_cosine[:n_chosen].sum()
            stories.n_pairs[best] += n_chosen
            stories.pair_sum[best] += total
            learnt.usual_cosine[0] = USUAL_DECAY * learnt.usual_cosine[0] + total / n_chosen
            learnt.usual_cosine[1] = USUAL_DECAY * learnt.usual_cosine[1] + 1.0
        m = keep_row(arrivals, i, members, free, newcomer)
        square = 0.0
        for weight in arrivals.weights[row]:
            square += np.float64(weight) * np.float64(weight)
        cosine_sum = chosen_cosine[:n_chosen].sum()
        if stories.n_members[best] == most:
            cosine_sum -= chosen_cosine[0]
            let_go(stories, members, best, table, free)
        take_up(stories, members, best, m, cosine_sum, square)
        note(stories, best, newcomer)
        placed.slot[i] = best
    return placed


@part_of_kernel
def open_story(stories: Stories, free: Free, key: int, newcomer: Newcomer) -> int:
    """An empty story in a free slot."""
    free.counts[0] -= 1
    slot: int = free.slots[free.counts[0]]
    stories.key[slot], stories.size[slot], stories.n_members[slot] = key, 0, 0
    stories.first[slot] = stories.last[slot] = newcomer.time
    stories.first_ordinal[slot] = stories.last_ordinal[slot] = newcomer.ordinal
    stories.squared_norm[slot], stories.n_pairs[slot], stories.pair_sum[slot] = 0.0, 0, 0.0
    stories.vector_sum[slot, :] = 0.0
    return slot


@part_of_kernel
def keep_row(arrivals: Arrivals, i: int, members: Members, free: Free, newcomer: Newcomer) -> int:
    """Document i becomes a member, of no story yet."""
    free.counts[1] -= 1
    m: int = free.members[free.counts[1]]
    start, tail = arrivals.indptr[i], free.counts[2]
    length = arrivals.indptr[i + 1] - start
    for k in range(length):
        members.columns[tail + k], members.weights[tail + k] = arrivals.columns[start + k], arrivals.weights[start + k]
        members.title_weights[tail + k] = arrivals.title_weights[start + k]
    members.start[m], members.length[m] = tail, length
    free.counts[2] += length
    members.log_terms[m], members.time[m], members.ordinal[m] = newcomer.log_terms, newcomer.time, newcomer.ordinal
    for d in range(members.vector.shape[1]):
        members.vector[m, d] = newcomer.vector[d]
    return m


@part_of_kernel
def note(stories: Stories, slot: int, newcomer: Newcomer) -> None:
    """A document has come to a story."""
    stories.size[slot] += 1
    stories.last_ordinal[slot] = newcomer.ordinal
    if not math.isnan(newcomer.time):
        if not stories.first[slot] <= newcomer.time:
            stories.first[slot] = newcomer.time
        if not stories.last[slot] >= newcomer.time:
            stories.last[slot] = newcomer.time
