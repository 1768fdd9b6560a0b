"""The answers of all segments put together: nothing depends on how many there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firststory.arrays import Flags, Floats, Ints, Slots
from firststory.kernels.fused.ageing import faded, lagged
from firststory.kernels.fused.layout import Clusters, Past
from firststory.kernels.fused.rows import COMPLETED_ROWS
from firststory.kernels.fused.rule import Rule
from firststory.kernels.fused.segment_answer import NEARLY, OTHERS
from firststory.kernels.fused.segment_layout import Answer, Ask, Gathered
from firststory.kernels.jit import kernel


@kernel
def merge_rows(
    exact: Flags, k: int, ordinals: Ints, cosines: Floats, strongest: Floats, scores: Floats, row_start: Ints,
    out_ordinals: Ints, out_cosines: Floats, out_strongest: Floats,
) -> int:  # fmt: skip
    """The rows that segments found, for each row asked about: all of them, or where only some terms were looked at the
    COMPLETED_ROWS best by these. Arrays are segments x rows x found."""
    n_segments, n, width = ordinals.shape
    many = 0
    taken = np.zeros(n_segments, np.int64)
    for i in range(n):
        if exact[i]:
            for s in range(n_segments):
                for r in range(k):
                    if ordinals[s, i, r] >= 0:
                        out_ordinals[many], out_cosines[many] = ordinals[s, i, r], cosines[s, i, r]
                        out_strongest[many] = strongest[s, i, r]
                        many += 1
        else:
            taken[:] = 0
            for _ in range(max(k, COMPLETED_ROWS)):
                best, best_score, best_ordinal = -1, 0.0, -1
                for s in range(n_segments):
                    if taken[s] < width and ordinals[s, i, taken[s]] >= 0:
                        score, ordinal = scores[s, i, taken[s]], ordinals[s, i, taken[s]]
                        if best < 0 or score > best_score or (score == best_score and ordinal > best_ordinal):
                            best, best_score, best_ordinal = s, score, ordinal
                if best < 0:
                    break
                r = taken[best]
                out_ordinals[many], out_cosines[many] = ordinals[best, i, r], cosines[best, i, r]
                out_strongest[many] = strongest[best, i, r]
                many += 1
                taken[best] += 1
        row_start[i + 1] = many
    return many


@kernel
def keep_best_walked(exact: Flags, walked: Floats, ordinals: Ints) -> None:
    """Where only some terms were looked at, the best of all segments by these alone stands for all (n x segments)."""
    for i in range(len(exact)):
        if exact[i]:
            continue
        best = -1
        for s in range(ordinals.shape[1]):
            if ordinals[i, s] >= 0 and (
                best < 0
                or walked[i, s] > walked[i, best]
                or (walked[i, s] == walked[i, best] and ordinals[i, s] < ordinals[i, best])
            ):
                best = s
        for s in range(ordinals.shape[1]):
            if s != best:
                ordinals[i, s] = -1


@kernel
def bound_rows(ask: Ask, rule: Rule, k: int, born: Floats, row_start: Ints, ordinals: Ints, cosines: Floats,
               bounds: Floats) -> None:  # fmt: skip
    """The k-th best score of the rows found, under what was believed: no row that is not there has more."""
    best = np.empty(k)
    for i in range(len(bounds)):
        if not ask.exact[i]:
            continue
        ageing = rule.short if ask.indptr[i + 1] - ask.indptr[i] <= rule.short_terms else rule.long
        best[:] = 0.0
        for r in range(row_start[i], row_start[i + 1]):
            age = (ask.days[i] - born[ordinals[r] % len(born)]) / ask.unit_days
            keep_score(lagged(cosines[r], age, ask.strength * ageing.beta, ageing.kappa), best)
        bounds[i] = best[-1]


@kernel
def keep_score(score: float, best: Floats) -> None:
    """Insert into the best, best first."""
    r = len(best) - 1
    if score <= best[r]:
        return
    while r > 0 and best[r - 1] < score:
        best[r] = best[r - 1]
        r -= 1
    best[r] = score


@kernel
def bound_clusters(
    ask: Ask, rule: Rule, clusters: Clusters, entry_start: Ints, held: Slots, sums: Floats, changing: Ints,
    fade_bounds: Floats, join_bounds: Floats,
) -> None:  # fmt: skip
    """Which clusters may be joined within the step, besides those that `changing` names already: each row's best.

    And of the others the OTHERS-th best CEN and score for joining, under what was believed: no cluster that is not
    there has more. Segments have returned more than these; the rest does not decide how long the step is.
    """
    n = len(fade_bounds)
    join, fade = np.empty(len(held)), np.empty(len(held))
    for i in range(n):
        ageing = rule.short if ask.indptr[i + 1] - ask.indptr[i] <= rule.short_terms else rule.long
        join_beta, floor = ask.strength * ageing.join_beta, 1.0 - ask.strength * (1.0 - rule.silence_floor)
        best, best_score = -1, NEARLY * rule.join_cosine
        for e in range(entry_start[i], entry_start[i + 1]):
            c = held[e]
            cosine = min(1.0, sums[e] * clusters.scale[c])
            join[e] = lagged(cosine, (ask.days[i] - clusters.day[c]) / ask.unit_days, join_beta, ageing.kappa)
            fade[e] = faded(cosine, ask.ticks[i] - clusters.tick[c], floor, rule.silence_days, ageing.kappa)
            if join[e] > best_score or (
                join[e] == best_score and best >= 0 and clusters.label[c] < clusters.label[best]
            ):
                best, best_score = c, join[e]
        if best >= 0:
            changing[best] = clusters.label[best]
    most_join, most_fade = np.empty(OTHERS), np.empty(OTHERS)
    for i in range(n):
        most_join[:], most_fade[:] = 0.0, 0.0
        for e in range(entry_start[i], entry_start[i + 1]):
            if changing[held[e]] < 0:
                keep_score(join[e], most_join)
                keep_score(fade[e], most_fade)
        fade_bounds[i], join_bounds[i] = most_fade[-1], most_join[-1]


def merge_answers(
    ask: Ask, answers: Sequence[Answer], slots: Sequence[Ints], leaving: Slots, changing: Ints, k: int, rule: Rule,
    past: Past,
) -> Gathered:  # fmt: skip
    """With the driver's numbers for clusters: `slots` has them for each segment's own.

    `leaving` are the clusters of rows that leave within the step. `changing` is -1 for every cluster; `forget_changing`
    makes it so again.
    """
    n, clusters = len(ask.oldest), past.clusters
    found = np.stack([answer.ordinals for answer in answers])
    room = found.shape[0] * found.shape[2] * n
    row_start, bounds, fade_bounds, join_bounds = np.zeros(n + 1, dtype=np.int64), np.zeros(n), np.zeros(n), np.zeros(n)
    ordinals, cosines, strongest = np.empty(room, dtype=np.int64), np.empty(room), np.empty(room)
    many = merge_rows(
        ask.exact, k, found, np.stack([answer.cosines for answer in answers]),
        np.stack([answer.strongest for answer in answers]), np.stack([answer.scores for answer in answers]),
        row_start, ordinals, cosines, strongest,
    )  # fmt: skip
    bound_rows(ask, rule, k, past.window.rows.born, row_start, ordinals, cosines, bounds)
    plain = np.stack([answer.plain_ordinals for answer in answers], axis=1)
    keep_best_walked(ask.exact, np.stack([answer.plain_walked for answer in answers], axis=1), plain)
    rows = np.concatenate([np.repeat(np.arange(n), np.diff(answer.entries.indptr)) for answer in answers])
    order = np.argsort(rows, kind="stable")
    own = [slots[s][answer.entries.clusters] for s, answer in enumerate(answers)]
    held = np.concatenate(own)[order].astype(np.int32)
    sums = np.concatenate([answer.entries.sums for answer in answers])[order]
    entry_start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
    changing[leaving] = clusters.label[leaving]
    bound_clusters(ask, rule, clusters, entry_start, held, sums, changing, fade_bounds, join_bounds)
    return Gathered(
        row_start, ordinals[:many], cosines[:many], strongest[:many], bounds, plain,
        np.stack([answer.plain_cosines for answer in answers], axis=1), entry_start, held, clusters.label[held], sums,
        fade_bounds, join_bounds, changing,
    )  # fmt: skip


def forget_changing(got: Gathered, leaving: Slots) -> None:
    """As it was before `merge_answers`; a look at all clusters would take longer than the step."""
    got.changing[got.clusters] = -1
    got.changing[leaving] = -1
