"""The step: each document is linked to the past, proves what it can, and is remembered."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints
from firststory.kernels.alerts.evidence import (
    BACKGROUND_DAYS,
    MAX_MEMBERS,
    confirmation,
    core_of,
    days_seen,
    members_of,
)
from firststory.kernels.alerts.layout import (
    FADING_FRESH,
    FADING_OLD,
    Facts,
    Found,
    Learnt,
    Links,
    Rule,
    Scratch,
    StepRows,
)
from firststory.kernels.alerts.links import (
    DUPLICATE_SIMILARITY,
    LEARN_EVERY,
    MAX_CANDIDATES,
    N_BINS,
    learn_threshold,
    similar,
)
from firststory.kernels.alerts.rows import link_row
from firststory.kernels.alerts.turn import LEAST_BACKGROUND, SILENT_WATCH_SHARE, TURN_VOICES, turn_terms
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.layout import Lists, Log
from firststory.kernels.neighbours.window import NEXT, OLDEST, evict, has_room, remember
from firststory.kernels.sorting import N_BYTES, sort_numbers
from firststory.units import DAY_SECONDS

CANDIDATE_BITS = 9
"""`MAX_CANDIDATES` are told apart by as many."""
OPENINGS_REMEMBERED = 500.0
"""Documents over which the share that opens a story is averaged."""
RATE_DAYS, LEAST_RATE_DAYS, LEAST_PER_DAY = 2.0, 0.5, 20.0
"""The documents per day are counted over two days; never fewer than twenty are assumed."""
FRESH_DAYS, OLD_FROM_DAYS, OLD_TO_DAYS = 1.0, 4.0, 7.0
MAX_OLD_LINKS, MAX_FRESH_LINKS = 30, 128
"""Links that are kept of a document: the latest of the old, the strongest within the watch."""
MOMENTS_FADING = 0.9998
LEAST_SCORE = 1.0
PAST_CHAIN = 200
"""Documents of a story, the latest, that are its past."""


@part_of_kernel
def is_other(source: int, other: int, by_text: bool) -> bool:
    """Whether two documents are two voices; one without a source is a voice of its own."""
    return by_text or source < 0 or source != other


@part_of_kernel
def documents_per_day(now: float, meta: Ints, born: Floats, begun: Ints) -> float:
    """`begun[0]` is the first ordinal of the last two days; it moves on."""
    capacity = len(born)
    begun[0] = max(begun[0], meta[OLDEST])
    while begun[0] < meta[NEXT] and now - born[begun[0] % capacity] > RATE_DAYS * DAY_SECONDS:
        begun[0] += 1
    n = meta[NEXT] - begun[0] + 1
    days = (now - born[meta[OLDEST] % capacity]) / DAY_SECONDS if meta[NEXT] > meta[OLDEST] else 0.0
    return float(max(LEAST_PER_DAY, n / max(LEAST_RATE_DAYS, min(RATE_DAYS, days))))


@kernel
def distinct(keys: Ints, n: int) -> int:
    """How many of the first n are distinct."""
    if n < 2:
        return n
    ordered = np.sort(keys[:n])
    count = 1
    for a in range(1, n):
        count += ordered[a] != ordered[a - 1]
    return count


@kernel
def link(
    ordinals: Ints,
    cosines: Floats,
    now: float,
    source: int,
    meta: Ints,
    facts: Facts,
    links: Links,
    learnt: Learnt,
    rule: Rule,
) -> tuple[int, bool, bool, float, float]:
    """Keep the links of the next document and tell those it is linked to.

    Returns how many links it has, whether its own source had the text before, whether any had, its background and its
    strongest link to another voice within the watch.
    """  # fmt: skip
    capacity, day = len(facts.born), rule.day_seconds
    threshold, histogram = learnt.threshold[0], learnt.histogram
    is_own_duplicate = is_duplicate = False
    for a in range(len(ordinals)):
        slot, x = ordinals[a] % capacity, cosines[a]
        age = now - facts.born[slot]
        if is_other(source, facts.source[slot], rule.by_text):
            is_duplicate = is_duplicate or x >= DUPLICATE_SIMILARITY
            if age <= FRESH_DAYS * day:
                if x < DUPLICATE_SIMILARITY:
                    histogram[FADING_FRESH, min(N_BINS - 1, int(100 * x))] += 1.0
            elif OLD_FROM_DAYS * day < age <= OLD_TO_DAYS * day:
                histogram[FADING_OLD, min(N_BINS - 1, int(100 * x))] += 1.0
        elif x >= DUPLICATE_SIMILARITY:
            is_own_duplicate = True
    learnt.seen[0] += 1
    if learnt.seen[0] % LEARN_EVERY == 0:
        learn_threshold(learnt)
    # In the order of arrival: an ordinal, and which of the candidates it is.
    packed, n_strong = np.empty(len(ordinals), np.int64), 0
    for a in range(len(ordinals)):
        if cosines[a] >= threshold:
            packed[n_strong] = (ordinals[a] - meta[OLDEST]) << CANDIDATE_BITS | a
            n_strong += 1
    sort_numbers(packed, n_strong, np.empty(n_strong, np.int64), np.empty(N_BYTES, np.int64))
    chosen = packed[:n_strong] & ((1 << CANDIDATE_BITS) - 1)
    n_old = n_fresh = 0
    for a in chosen:
        if now - facts.born[ordinals[a] % capacity] > rule.watch_seconds:
            n_old += 1
        else:
            n_fresh += 1
    least = 0.0
    if n_fresh > MAX_FRESH_LINKS:
        least = np.sort(cosines[chosen[n_old:]])[n_fresh - MAX_FRESH_LINKS]
    keys, tail, strongest = np.empty(n_old, np.int64), links.tail[0], 0.0
    for b in range(len(chosen)):
        j, x = ordinals[chosen[b]], cosines[chosen[b]]
        slot = j % capacity
        if b < n_old:
            # One per source and day; one without a source is a voice of its own.
            days_ago = int((now - facts.born[slot]) / day)
            alone = rule.by_text or facts.source[slot] < 0
            keys[b] = -1 - b if alone else facts.source[slot] * 64 + days_ago
            if b < n_old - MAX_OLD_LINKS:
                continue
        else:
            if x < least:
                continue
            if is_other(source, facts.source[slot], rule.by_text):
                strongest = max(strongest, x)
                facts.strongest[slot] = max(facts.strongest[slot], x)
                if x < DUPLICATE_SIMILARITY and not is_own_duplicate:
                    facts.is_echoed[slot] = True
        links.ordinals[tail], links.similarities[tail] = j, x
        tail += 1
    n_links = tail - links.tail[0]
    links.tail[0] = tail
    return n_links, is_own_duplicate, is_duplicate, float(distinct(keys, n_old)), strongest


@kernel
def follow(
    rows: StepRows,
    first: int,
    rule: Rule,
    meta: Ints,
    rate_begun: Ints,
    lists: Lists,
    log: Log,
    facts: Facts,
    links: Links,
    learnt: Learnt,
    scratch: Scratch,
    found: Found,
) -> int:
    """Documents `first ..` of a step; returns the first that was not done.

    It is the same document again where room ran out: the caller makes room and calls again. Where a document may fire
    an alert, none is forgotten that the alert may tell of: it ends before that.
    """
    capacity, told_since = len(facts.born), math.inf
    for i in range(first, len(rows.clock)):
        own, now, source = slice(rows.indptr[i], rows.indptr[i + 1]), rows.clock[i], rows.source[i]
        terms, values, n_named = link_row(rows.columns[own], rows.weights[own], rows.in_title[own])
        has_room_for_links = links.tail[0] + MAX_CANDIDATES <= len(links.ordinals)
        if not (has_room_for_links and has_room(terms, rule.max_documents, meta, lists, log)):
            return i
        while meta[NEXT] > meta[OLDEST] and (
            meta[NEXT] - meta[OLDEST] >= rule.max_documents
            or now - facts.born[meta[OLDEST] % capacity] > rule.index_seconds
        ):
            if facts.born[meta[OLDEST] % capacity] >= told_since:
                return i
            evict(meta, lists, log)
        ordinals, cosines = similar(terms, values, meta, lists, scratch)
        n_links, is_own_duplicate, is_duplicate, background, strongest = link(
            ordinals, cosines, now, source, meta, facts, links, learnt, rule
        )
        found.per_day[i] = documents_per_day(now, meta, facts.born, rate_begun)
        opens = 1.0 if rows.previous[i] < meta[OLDEST] else 0.0
        learnt.opening_share[0] += (opens - learnt.opening_share[0]) / OPENINGS_REMEMBERED
        found.opened_per_day[i] = max(LEAST_PER_DAY, found.per_day[i] * learnt.opening_share[0])
        days = days_seen(now, meta, facts, rule) if meta[NEXT] > meta[OLDEST] else 0.0
        if days >= 1.0:
            of_a_week = background * BACKGROUND_DAYS / days
            learnt.moments[0] = learnt.moments[0] * MOMENTS_FADING + 1.0
            learnt.moments[1] = learnt.moments[1] * MOMENTS_FADING + of_a_week
            learnt.moments[2] = learnt.moments[2] * MOMENTS_FADING + of_a_week * of_a_week
        ordinal = meta[NEXT]
        slot = remember(terms, values, meta, lists, log)
        facts.born[slot], facts.source[slot], facts.previous[slot] = now, source, rows.previous[i]
        facts.background[slot], facts.strongest[slot] = background, strongest
        facts.has_voice[slot], facts.is_echoed[slot] = (
            len(terms) > 0 and not is_own_duplicate and not is_duplicate,
            False,
        )
        facts.n_named[slot] = n_named
        facts.link_start[slot], facts.link_count[slot] = links.tail[0] - n_links, n_links
        found.nearest[i] = cosines.max() if len(cosines) else 0.0
        found.is_opener[i] = n_links == 0 and facts.has_voice[slot]
        if not facts.has_voice[slot]:
            continue
        members = members_of(ordinal, now - rule.watch_seconds, MAX_MEMBERS, meta, facts)
        core = core_of(members, facts, links, log, scratch.mark)
        if len(core) < 2 or core[0] != ordinal:
            continue
        total = 0.0
        for j in core:
            total += facts.background[j % capacity]
        found.background[i] = total / len(core)
        found.score[i], found.voices[i] = confirmation(core, now, found.background[i], days, facts, learnt, rule)
        silent = SILENT_WATCH_SHARE * rule.watch_seconds
        is_running = rows.is_settled[i] or found.background[i] >= LEAST_BACKGROUND
        is_silent = now - rows.alerted[i] <= silent
        # A story that is alerted in this step only is silent after it: nobody would look at its turn.
        may_turn = found.score[i] < LEAST_SCORE or not (is_silent or (not is_running and now - rows.clock[0] <= silent))
        if found.voices[i] >= TURN_VOICES and may_turn:
            chain = members_of(ordinal, -math.inf, PAST_CHAIN, meta, facts)
            turn_terms(
                core, chain, now, meta, lists, log, facts, links, scratch, rule,
                found.turn_score[i], found.turn_terms[i], found.turn_voices[i],
            )  # fmt: skip
        level = max(LEAST_SCORE, rule.price, math.log10(found.opened_per_day[i] / rule.false_alerts))
        turn_level = max(LEAST_SCORE, rule.turn_price, math.log10(found.opened_per_day[i] / rule.false_turns))
        confirms = found.score[i] >= level and not rows.is_settled[i]
        if confirms or (found.turn_score[i, 0] >= turn_level and is_running and not is_silent):
            told_since = min(told_since, now - rule.told_seconds)
    return len(rows.clock)


@kernel
def merge_chains(a: int, b: int, oldest: int, previous: Ints) -> int:
    """The two chains that end with ordinals a and b as one, in the order of arrival; returns where it ends."""
    capacity = len(previous)
    head, last = max(a, b), -1
    while a >= oldest or b >= oldest:
        if a >= b:
            j, a = a, previous[a % capacity]
        else:
            j, b = b, previous[b % capacity]
        if last >= 0:
            previous[last % capacity] = j
        last = j
    if last >= 0:
        previous[last % capacity] = -1
    return head
