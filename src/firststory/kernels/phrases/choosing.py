"""Which phrases of a document say what is new in it: their weights, and the choice among them."""

from __future__ import annotations

from math import log

import numpy as np

from firststory.arrays import Flags, Floats, Ints, Singles
from firststory.kernels.jit import kernel
from firststory.kernels.phrases.layout import NAME_DOCUMENTS, OF_PHRASE, WORDS, Keys
from firststory.kernels.phrases.learning import together_key
from firststory.kernels.phrases.tables import find_key

LEAST, MOST = 3, 6
ZONE_WEIGHT = (3.0, 1.4, 0.8)
"""Of title, lead and body."""
FORM_WEIGHT = (1.2, 0.85, 0.85, 0.9)
"""Of names, figures, hashtags and words."""
COUNT_WEIGHT = 0.35
LARGEST_RARITY = 7.0
TOGETHER_BEFORE, NEVER_TOGETHER = 0.9, 1.15
SAME_FORM = 0.75
"""For each further phrase of a form beyond the second."""
KEPT, KEPT_LAST = 0.25, 0.45
"""Of the best phrase's weight, for a phrase beyond the third, and for the sixth."""
ONCE = 1.5
"""Two phrases in fewer documents than this are new together: the document itself may have been learnt."""


@kernel
def faded(keys: Keys, counts: Singles, key: np.uint64, column: int, unit: float) -> float:
    """A count of a key in units of now; 0 where it is not known."""
    slot = find_key(keys, key) if key != 0 else -1
    return 0.0 if slot < 0 else np.float64(counts[slot, column]) / unit


@kernel
def overlap(one: Ints, other: Ints) -> bool:
    """Whether half of the words of the shorter phrase are words of the longer one."""
    n_one, n_other, both = 0, 0, 0
    for a in range(len(one)):
        is_first, is_there = True, False
        for b in range(a):
            is_first = is_first and one[b] != one[a]
        for b in range(len(other)):
            is_there = is_there or other[b] == one[a]
        n_one += is_first
        both += is_first and is_there
    for a in range(len(other)):
        is_first = True
        for b in range(a):
            is_first = is_first and other[b] != other[a]
        n_other += is_first
    return both > 0 and 2 * both >= min(n_one, n_other)


@kernel
def weigh_phrases(
    forms: Ints,
    zones: Ints,
    times: Ints,
    numbers: Keys,
    word_first: Ints,
    words: Ints,
    word_numbers: Keys,
    n_documents: float,
    unit: float,
    name_keys: Keys,
    name_counts: Singles,
    told_keys: Keys,
    told_counts: Singles,
    word_keys: Keys,
    word_counts: Singles,
) -> Floats:
    """How much each phrase tells of its document, by itself.

    Of common words each is looked up, of all else the phrase as a whole.
    """
    weights = np.empty(len(forms))
    for i in range(len(forms)):
        most = total = -np.inf
        n = 1
        if forms[i] == WORDS:
            n, total = word_first[i + 1] - word_first[i], 0.0
            for w in range(word_first[i], word_first[i + 1]):
                seen = faded(word_keys, word_counts, word_numbers[words[w]], 0, unit)
                rarity = min(log((1.0 + n_documents) / (1.0 + seen)) + 1.0, LARGEST_RARITY)
                most, total = max(most, rarity), total + rarity
        else:
            named = faded(name_keys, name_counts, numbers[i], NAME_DOCUMENTS, unit)
            told = faded(told_keys, told_counts, numbers[i] ^ OF_PHRASE, 0, unit)
            most = total = min(log((1.0 + n_documents) / (1.0 + max(named, told))) + 1.0, LARGEST_RARITY)
        rare = 0.5 * most + 0.5 * total / n
        place = ZONE_WEIGHT[zones[i]] * (1.0 + COUNT_WEIGHT * log(np.float64(times[i])))
        weights[i] = place * max(rare, 0.0) * FORM_WEIGHT[forms[i]]
    return weights


@kernel
def choose_phrases(
    first: Ints,
    weights: Floats,
    forms: Ints,
    numbers: Keys,
    word_first: Ints,
    words: Ints,
    most: int,
    unit: float,
    told_keys: Keys,
    told_counts: Singles,
) -> Flags:
    """Of the phrases `first[d] .. first[d + 1]` of each document d those that say what is new.

    The heaviest is taken first, then one after the other what adds most: more if it was never together with one of
    those chosen, less if it is of the same form; none that shares its words with them.
    """
    kept = np.zeros(len(weights), np.bool_)
    left, is_new = np.ones(len(weights), np.bool_), np.ones(len(weights), np.bool_)
    for d in range(len(first) - 1):
        of_form = np.zeros(4, np.int64)
        heaviest = 0.0
        for i in range(first[d], first[d + 1]):
            heaviest = max(heaviest, weights[i])
        for n in range(most):
            best, best_gain = -1, 0.0
            for i in range(first[d], first[d + 1]):
                if left[i]:
                    gain = weights[i] * (NEVER_TOGETHER if is_new[i] else TOGETHER_BEFORE)
                    gain *= SAME_FORM ** max(of_form[forms[i]] - 1, 0)
                    if best < 0 or gain > best_gain:  # the first in the text among equals
                        best, best_gain = i, gain
            if best < 0:
                break
            left[best] = False
            of_form[forms[best]] += 1
            kept[best] = n < LEAST or weights[best] > (KEPT if n < MOST - 1 else KEPT_LAST) * heaviest
            own = words[word_first[best] : word_first[best + 1]]
            for i in range(first[d], first[d + 1]):
                if not left[i]:
                    continue
                if overlap(own, words[word_first[i] : word_first[i + 1]]):
                    left[i] = False
                elif n == 0 or not is_new[i]:
                    together = faded(told_keys, told_counts, together_key(numbers[best], numbers[i]), 0, unit)
                    is_new[i] = together < ONCE
    return kept
