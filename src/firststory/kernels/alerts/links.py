"""Links: the earlier documents that a row is like, and the similarity from which on likeness is a link."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats, Ints
from firststory.kernels.alerts.layout import FADING_FRESH, FADING_OLD, Learnt, Scratch
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.layout import Lists
from firststory.kernels.neighbours.walk import walk
from firststory.kernels.neighbours.window import NEXT, OLDEST

FLOOR = 0.12
"""Similarities below this one are never looked at."""
MAX_CANDIDATES = 400
"""Documents that one is compared with, the most similar."""
LONG_LIST_SHARE, LONG_LIST_DOCUMENTS = 0.15, 60
"""A term that more than this share of the documents have, and more than so many, links nothing."""
DUPLICATE_SIMILARITY = 0.93
"""From here on two texts are near duplicates."""
N_BINS = 100
CONTRAST = 10.0
"""How many times as frequent, per day, links to fresh documents must be as links to old ones."""
LEAST_THRESHOLD, MOST_THRESHOLD = 0.15, 0.5
LEARN_EVERY = 200
"""Documents after which the threshold is learnt again."""
FADING = 0.98
OLD_DAYS = 3.0
"""The old documents span three days: four to seven days ago."""
OLD_LINKS_NEEDED, OLD_LINKS_AT_SIMILARITY = 30.0, 5.0
"""Links to old documents before the threshold is learnt at all, and from which on a ratio is believed."""


@kernel
def similar(terms: Ints, values: Floats, meta: Ints, lists: Lists, scratch: Scratch) -> tuple[Ints, Floats]:
    """Ordinals and cosines of the remembered rows that reach `FLOOR`; at most `MAX_CANDIDATES`, in no order."""
    oldest, alive, capacity = meta[OLDEST], meta[NEXT] - meta[OLDEST], len(scratch.dots)
    longest = max(LONG_LIST_DOCUMENTS, int(LONG_LIST_SHARE * alive))
    walked = np.empty(len(terms), np.bool_)
    for a in range(len(terms)):
        walked[a] = lists.length[terms[a]] <= longest
    n = walk(terms, values, walked, lists, scratch.dots, scratch.touched, alive)
    ordinals, cosines, found = np.empty(alive if n < 0 else n, np.int64), np.empty(alive if n < 0 else n), 0
    for t in range(alive if n < 0 else n):
        slot = (oldest + t) % capacity if n < 0 else scratch.touched[t]
        dot = scratch.dots[slot]
        scratch.dots[slot] = 0.0
        if dot >= FLOOR:
            ordinals[found], cosines[found] = oldest + (slot - oldest) % capacity, min(dot, 1.0)
            found += 1
    ordinals, cosines = ordinals[:found], cosines[:found]
    if found > MAX_CANDIDATES:
        best = np.argsort(-cosines)[:MAX_CANDIDATES]
        ordinals, cosines = ordinals[best], cosines[best]
    return ordinals, cosines


@part_of_kernel
def learn_threshold(learnt: Learnt) -> None:
    """The lowest similarity from which on fresh links are `CONTRAST` times as frequent, per day, as old ones."""
    histogram = learnt.histogram
    for kind in range(2):
        for b in range(N_BINS):
            histogram[kind, b] *= FADING
    if histogram[FADING_OLD].sum() <= OLD_LINKS_NEEDED:
        return
    fresh = old = 0.0
    lowest = MOST_THRESHOLD
    for b in range(N_BINS - 1, int(100 * LEAST_THRESHOLD) - 2, -1):
        fresh += histogram[FADING_FRESH, b]
        old += histogram[FADING_OLD, b]
        if b <= int(100 * MOST_THRESHOLD) and old > OLD_LINKS_AT_SIMILARITY:
            if fresh < CONTRAST * (old + 1.0) / OLD_DAYS:
                break
            lowest = b / 100
    learnt.threshold[0] = max(LEAST_THRESHOLD, min(MOST_THRESHOLD, lowest))
