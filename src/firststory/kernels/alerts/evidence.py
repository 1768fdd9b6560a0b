"""What a story's latest documents prove: members, core, voices, and the test of their number."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.alerts.layout import FADING_OLD, Facts, Learnt, Links, Rule
from firststory.kernels.alerts.links import N_BINS
from firststory.kernels.alerts.tails import gamma_poisson_score
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.layout import Log
from firststory.kernels.neighbours.window import OLDEST

MAX_MEMBERS = 100
"""Latest documents of a story that count."""
CORE_SHARE = 0.3
"""The core: documents that are linked to this part of the others."""
BACKGROUND_DAYS = 7.0
LEAST_DAYS_SEEN = 0.5
CHOICE_COST = 0.3
"""The test is also made for every similarity above the threshold that a voice reaches; the choice costs log10 2."""


@kernel
def members_of(ordinal: int, since: float, most: int, meta: Ints, facts: Facts) -> Ints:
    """The documents of a story up to this one that came since some moment, latest first."""
    capacity = len(facts.born)
    found, n, j = np.empty(most, np.int64), 0, ordinal
    while j >= meta[OLDEST] and n < most and facts.born[j % capacity] >= since:
        found[n] = j
        n += 1
        j = facts.previous[j % capacity]
    return found[:n]


@kernel
def core_of(members: Ints, facts: Facts, links: Links, log: Log, mark: Slots) -> Ints:
    """Those of the members that are linked to a good part of the others, latest first; texts seen before have no row
    and do not count."""
    capacity = len(facts.born)
    degree, rows = np.zeros(len(members), np.int64), 0
    for a in range(len(members)):
        slot = members[a] % capacity
        if log.length[slot] > 0:
            mark[slot] = a + 1
            rows += 1
    oldest = members[-1]
    for a in range(len(members)):
        slot = members[a] % capacity
        for p in range(facts.link_start[slot], facts.link_start[slot] + facts.link_count[slot]):
            # A link to a document that was forgotten may name the slot of another.
            if links.ordinals[p] >= oldest:
                b = mark[links.ordinals[p] % capacity]
                if b > 0:
                    degree[a] += 1
                    degree[b - 1] += 1
    core, n = np.empty(len(members), np.int64), 0
    for a in range(len(members)):
        mark[members[a] % capacity] = 0
        if degree[a] >= max(1.0, CORE_SHARE * (rows - 1)):
            core[n] = members[a]
            n += 1
    return core[:n]


@kernel
def voices_of(core: Ints, facts: Facts, by_text: bool) -> Floats:
    """Of each voice that the core has, its strongest link to another."""
    capacity = len(facts.born)
    who, strongest, n = np.empty(len(core), np.int64), np.empty(len(core)), 0
    for j in core:
        slot = j % capacity
        if not facts.has_voice[slot]:
            continue
        source, place = facts.source[slot], n
        if source >= 0 and not by_text:
            for a in range(n):
                if who[a] == source:
                    place = a
        if place == n:
            who[n], strongest[n] = source, 0.0
            n += 1
        strongest[place] = max(strongest[place], facts.strongest[slot])
    return strongest[:n]


@part_of_kernel
def prior_of(moments: Floats) -> tuple[float, float]:
    """Shape and rate (per day) of the Gamma that the stream's backgrounds follow, by their moments."""
    mean = moments[1] / moments[0]
    variance = max(moments[2] / moments[0] - mean * mean, 1.5 * mean)
    shape = max(0.05, min(5.0, mean * mean / (variance - mean)))
    return shape, shape / max(mean, 0.02) * BACKGROUND_DAYS


@part_of_kernel
def days_seen(now: float, meta: Ints, facts: Facts, rule: Rule) -> float:
    """Days of background: how far the memory reaches back beyond the watch."""
    begun = facts.born[meta[OLDEST] % len(facts.born)]
    days = (now - begun - rule.watch_seconds) / rule.day_seconds
    return max(LEAST_DAYS_SEEN, min(BACKGROUND_DAYS, days)) if days > 0.0 else 0.0


@kernel
def confirmation(
    core: Ints, now: float, background: float, days: float, facts: Facts, learnt: Learnt, rule: Rule
) -> tuple[float, int]:
    """The score of a core and the number of its voices: voices beyond the first against its members' background."""
    strongest = voices_of(core, facts, rule.by_text)
    voices = len(strongest)
    if voices < 2:
        return 0.0, voices
    since = now - facts.born[core[-1] % len(facts.born)]
    watched = max(rule.least_watch_seconds, min(rule.watch_seconds, since)) / rule.day_seconds
    shape, rate = prior_of(learnt.moments)
    score = gamma_poisson_score(voices - 1, shape + background, rate + days, watched)
    # The same of those that are linked more strongly, with the chance of links as strong.
    reached = np.zeros(N_BINS, np.int64)
    for value in strongest:
        reached[min(N_BINS - 1, int(N_BINS * value))] += 1
    old, lowest = learnt.histogram[FADING_OLD], int(N_BINS * learnt.threshold[0])
    all_old, old_links, reaching = old[lowest:].sum(), 0.0, 0
    for b in range(N_BINS - 1, lowest, -1):
        old_links += old[b]
        reaching += reached[b]
        if reached[b] > 0 and reaching >= 2:
            chance = watched * (old_links + 1.0) / (all_old + 2.0)
            above = gamma_poisson_score(reaching - 1, shape + background, rate + days, chance)
            score = max(score, above - CHOICE_COST)
    return score, voices
