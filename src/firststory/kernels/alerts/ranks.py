"""Ranks of scores among the scores of the past, which are in order: p-values, thresholds, and the past moving on."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats
from firststory.kernels.jit import kernel, part_of_kernel


@kernel
def ranked_by_lot(past: Floats, values: Floats, lots: Floats) -> Floats:
    """The p-value of each value among the past and all values; of equals that with the smallest lot comes first."""
    order = np.argsort(lots, kind="mergesort")
    order = order[np.argsort(-values[order], kind="mergesort")]
    found, total = np.empty(len(values)), len(past) + len(values)
    for place in range(len(values)):
        i = order[place]
        above = len(past) - np.searchsorted(past, values[i], side="right")
        equals = len(past) - np.searchsorted(past, values[i]) - above
        found[i] = (place + 1 + above + math.floor(lots[i] * (equals + 1))) / total
    return found


@part_of_kernel
def least(ordered: Floats, n: int, without: int, p_value: float) -> float:
    """The smallest score whose p-value among n others (`ordered` without the one at `without`) is at most `p_value`."""
    ranks = math.floor(p_value * (n + 1))
    # Counted as p-values are: a product that was rounded may be off by one.
    if (ranks + 1) / (n + 1) <= p_value:
        ranks += 1
    if ranks / (n + 1) > p_value:
        ranks -= 1
    if ranks < 1:
        return math.inf
    if ranks > n:
        return -math.inf
    place = n - ranks
    # The next number above the most novel of those that must be beaten: a score may lie anywhere between two others.
    return float(np.nextafter(ordered[place + (1 if place >= without else 0)], np.inf))


@kernel
def thresholds_of(past: Floats, values: Floats, p_values: Floats) -> Floats:
    """For each of the values `least` of the p-value beside it, among the past and all other values."""
    n, own = len(past) + len(values), np.sort(values)
    every, a, b = np.empty(n), 0, 0
    for place in range(n):
        if b == len(own) or (a < len(past) and past[a] <= own[b]):
            every[place], a = past[a], a + 1
        else:
            every[place], b = own[b], b + 1
    found = np.empty(len(values))
    for i in range(len(values)):
        found[i] = least(every, n - 1, np.searchsorted(every, values[i]), p_values[i])
    return found


@kernel
def move_on(values: Floats, ordered: Floats, latest: Floats, seen: int) -> None:
    """The values one after the other into a window that has seen so many: the oldest leaves when it is full.

    `latest` is a ring, the oldest of a full one at `seen` modulo its length; `ordered` has the same in order.
    """
    window = len(latest)
    for value in values:
        place = seen % window
        # The gap is where the oldest stood, or behind the last; it moves to where the new one belongs.
        gap = np.searchsorted(ordered, latest[place]) if seen >= window else seen
        while gap > 0 and ordered[gap - 1] > value:
            ordered[gap] = ordered[gap - 1]
            gap -= 1
        while gap < min(seen, window - 1) and ordered[gap + 1] <= value:
            ordered[gap] = ordered[gap + 1]
            gap += 1
        ordered[gap] = latest[place] = value
        seen += 1
