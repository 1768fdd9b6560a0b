"""Turns: terms that several voices of a running story use together, against its past."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.alerts.layout import N_TURN_TERMS, Facts, Links, Rule, Scratch
from firststory.kernels.alerts.tails import binomial_score
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.layout import Lists, Log
from firststory.kernels.neighbours.window import NEXT, OLDEST

TURN_VOICES = 3
"""Voices that must use a term, and earlier documents that the story must have."""
TURN_WATCH_SHARE = 0.5
"""The part of the watch in which they must use it: twelve hours of a day."""
LEAST_BACKGROUND = 2.0
"""Links to earlier days, one per source and day, from which on a story is a running one."""
SILENT_WATCH_SHARE = 0.5
"""The part of the watch for which a story is silent after an alert."""
PAST_WEIGHT = 5.0
"""Documents that the share of the term in the whole stream counts for, beside the story's past."""


@kernel
def past_of(core: Ints, chain: Ints, before: float, oldest: int, facts: Facts, links: Links, past: Slots) -> Ints:
    """Earlier documents of the story and those that the core is linked to, from before some moment, each once."""
    capacity = len(facts.born)
    most = len(chain)
    for j in core:
        most += facts.link_count[j % capacity]
    found, n = np.empty(most, np.int64), 0
    for j in chain:
        slot = j % capacity
        if facts.born[slot] < before and past[slot] == 0:
            past[slot], found[n] = 1, j
            n += 1
    for j in core:
        start = facts.link_start[j % capacity]
        for p in range(start, start + facts.link_count[j % capacity]):
            target = links.ordinals[p]
            slot = target % capacity
            if target >= oldest and facts.born[slot] < before and past[slot] == 0:
                past[slot], found[n] = 1, target
                n += 1
    for a in range(n):
        past[found[a] % capacity] = 0
    return found[:n]


@kernel
def turn_terms(
    core: Ints,
    chain: Ints,
    now: float,
    meta: Ints,
    lists: Lists,
    log: Log,
    facts: Facts,
    links: Links,
    scratch: Scratch,
    rule: Rule,
    scores: Floats,
    terms: Ints,
    voices: Ints,
) -> None:
    """Score the terms of the latest document of the core; the best go to `scores`, `terms`, `voices`, best first."""
    capacity, place = len(facts.born), scratch.place
    since = now - TURN_WATCH_SHARE * rule.watch_seconds
    recent, who, n_recent, n_voices = np.empty(len(core), np.int64), np.empty(len(core), np.int64), 0, 0
    sources = np.empty(len(core), np.int64)
    for j in core:
        slot = j % capacity
        if facts.born[slot] < since or not facts.has_voice[slot]:
            continue
        voice, source = n_voices, facts.source[slot]
        if source >= 0 and not rule.by_text:
            for a in range(n_voices):
                if sources[a] == source:
                    voice = a
        if voice == n_voices:
            sources[n_voices] = source
            n_voices += 1
        recent[n_recent], who[n_recent] = slot, voice
        n_recent += 1
    if n_voices < TURN_VOICES:
        return
    past = past_of(core, chain, since, meta[OLDEST], facts, links, scratch.past)
    if len(past) < TURN_VOICES:
        return
    own = core[0] % capacity
    begin, n_terms = log.start[own], facts.n_named[own]
    for a in range(n_terms):
        place[log.terms[begin + a]] = a + 1
    used, before = np.zeros((n_terms, n_voices), np.bool_), np.zeros(n_terms)
    for m in range(n_recent):
        slot = recent[m]
        for p in range(log.start[slot], log.start[slot] + facts.n_named[slot]):
            if place[log.terms[p]] > 0:
                used[place[log.terms[p]] - 1, who[m]] = True
    for j in past:
        slot = j % capacity
        for p in range(log.start[slot], log.start[slot] + facts.n_named[slot]):
            if place[log.terms[p]] > 0:
                before[place[log.terms[p]] - 1] += 1.0
    alive = meta[NEXT] - meta[OLDEST]
    for a in range(n_terms):
        term = log.terms[begin + a]
        place[term] = 0
        users = used[a].sum()
        if users < TURN_VOICES:
            continue
        share = (before[a] + PAST_WEIGHT * lists.length[term] / alive + 0.1) / (len(past) + PAST_WEIGHT + 0.1)
        score = binomial_score(users, n_voices, min(0.999, share))
        r = N_TURN_TERMS - 1
        if score <= scores[r]:
            continue
        while r > 0 and scores[r - 1] < score:
            scores[r], terms[r], voices[r] = scores[r - 1], terms[r - 1], voices[r - 1]
            r -= 1
        scores[r], terms[r], voices[r] = score, term, users
