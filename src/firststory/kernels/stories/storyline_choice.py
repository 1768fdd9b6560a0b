"""The storyline that a text would join: size, words, meaning, and how long ago the storyline was told."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Array, Floats
from firststory.kernels.jit import kernel
from firststory.kernels.stories.storyline_layout import N_GAPS, N_SEEN, Lines, Model, Rule
from firststory.kernels.stories.storyline_words import LINE, NEXT_OF_WORD, PSEUDO_COUNT, find_entry

REFRESH_EVERY_DOCUMENTS = 16
"""How often it is counted how long ago the storylines were told."""


@kernel
def gap_class(gap: int) -> int:
    """0 for one document ago, 1 for two, 2 for three or four, ..."""
    found, rest = 0, max(0, gap - 1)
    while rest > 0:
        found += 1
        rest >>= 1
    return min(N_GAPS - 1, found)


@kernel
def lift_of(found: Floats, chance: Floats, most: float) -> Floats:
    """For each class of gaps: ln of how much more often than by size alone a storyline is told again."""
    all_found, by_chance = found.sum(), chance.sum()
    lift = np.empty(N_GAPS)
    for g in range(N_GAPS):
        value = math.log(found[g] / all_found) - math.log(chance[g] / by_chance)
        lift[g] = min(max(value, -most), most)
    return lift


@kernel
def count_gaps(lines: Lines, n_seen: int, weights: Floats) -> None:
    """The share that each class of gaps would get by size alone."""
    weights[:] = 0.0
    for line in range(len(lines.key)):
        if lines.key[line] >= 0:
            weights[gap_class(n_seen - lines.last_number[line])] += lines.pull[line]
    total = weights.sum()
    if total > 0.0:
        weights /= total


@kernel
def choose(
    model: Model,
    rule: Rule,
    lift: Floats,
    columns: Array,
    counts: Floats,
    length: int,
    vector: Array,
    threshold: float,
    without: int,
) -> tuple[int, float]:
    """The storyline that such a text would join, -1 if it would found one; the score, or the threshold."""
    lines, table, gains, reached = model.lines, model.words, model.gains, model.reached
    links, used, slope = table.links, table.used, lines.slope
    n_reached, total = 0, 0.0
    # Where each word counts once, factors are multiplied: that is one logarithm per line instead of one per word.
    is_plain = True
    for k in range(length):
        is_plain &= counts[k] == 1.0
    for k in range(length):
        count = counts[k]
        total += count
        share = max(table.seen[columns[k]], PSEUDO_COUNT) / max(table.total[0], 1.0)
        entry = table.of_word[columns[k]]
        while entry >= 0:
            line = links[entry, LINE]
            factor = 1.0 + slope[line] * used[entry] / share
            if gains[line] == 0.0:
                gains[line] = factor if is_plain else count * math.log(factor)
                reached[n_reached] = line
                n_reached += 1
            elif is_plain:
                gains[line] *= factor
            else:
                gains[line] += count * math.log(factor)
            entry = links[entry, NEXT_OF_WORD]
    norm = _norm(vector)
    best, chosen = threshold, -1
    most_by_vector = rule.vector_weight * (1.0 - rule.vector_zero) if norm > 0.0 else 0.0
    least = threshold - rule.most_lift - most_by_vector
    if is_plain:
        least = math.exp(least)
    for r in range(n_reached):
        line = reached[r]
        gain, gains[line] = gains[line], 0.0
        if line == without or lines.size[line] < 0.5:
            continue
        if is_plain:
            gain *= lines.pull[line]
            if gain < least:
                continue
            gain = math.log(gain)
        else:
            gain += math.log(lines.pull[line])
            if gain < least:
                continue
        score = gain + total * lines.unused[line]
        score += lift[gap_class(model.counters[N_SEEN] - lines.last_number[line])]
        if score + most_by_vector < best:
            continue
        score += _meaning(rule, vector, norm, lines.vector[line])
        if score > best or (score == best and (chosen < 0 or lines.key[line] < lines.key[chosen])):
            best, chosen = score, line
    return chosen, best


@kernel
def score_of(
    model: Model, rule: Rule, lift: Floats, columns: Array, counts: Floats, length: int, vector: Array, line: int
) -> float:
    """The score of one storyline for a text."""
    lines, table = model.lines, model.words
    if lines.size[line] < 0.5:
        return -math.inf
    score = math.log(lines.pull[line]) + lift[gap_class(model.counters[N_SEEN] - lines.last_number[line])]
    for k in range(length):
        score += counts[k] * lines.unused[line]
        entry = find_entry(table.links, table.of_word, line, columns[k])
        if entry >= 0:
            share = max(table.seen[columns[k]], PSEUDO_COUNT) / max(table.total[0], 1.0)
            score += counts[k] * math.log1p(lines.slope[line] * table.used[entry] / share)
    return float(score + _meaning(rule, vector, _norm(vector), lines.vector[line]))


@kernel
def _norm(vector: Array) -> float:
    square = 0.0
    for d in range(len(vector)):
        square += vector[d] * vector[d]
    return math.sqrt(square)


@kernel
def _meaning(rule: Rule, vector: Array, norm: float, of_line: Floats) -> float:
    """What the vectors say; nothing where the text has none."""
    if norm == 0.0:
        return 0.0
    dot = 0.0
    for d in range(len(vector)):
        dot += vector[d] * of_line[d]
    return rule.vector_weight * (dot / max(norm * _norm(of_line), 1e-9) - rule.vector_zero)
