"""The storyline that a text would join: size, words, meaning, and how long ago the storyline was told."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Array, Floats
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.stories.storyline_layout import N_GAPS, N_SEEN, Lines, Model, Rule
from firststory.kernels.stories.storyline_words import BLOCK, LEAST_COUNT, PSEUDO_COUNT, find_entry, share_of

REFRESH_EVERY_DOCUMENTS = 16
"""How often it is counted how long ago the storylines were told."""
LEAST_LIFT = 1e-12
"""A share of the gaps that has a logarithm still."""
ROUNDING = 1e-9
"""By how much a bound may lie below what it bounds."""


@part_of_kernel
def smoothed(rule: Rule, total: float) -> tuple[float, float]:
    """Of a line with so many words: ln of the share, against the stream's, of a word that it never used; its slope."""
    room = total + rule.smoothing
    unused = 1.0 - rule.mixture + rule.mixture * rule.smoothing / room
    return math.log(unused), rule.mixture / (room * unused)


@part_of_kernel
def gap_class(gap: int) -> int:
    """0 for one document ago, 1 for two, 2 for three or four, ...: the binary digits of gap - 1."""
    rest, found = min(max(0, gap - 1), (1 << (N_GAPS - 1)) - 1), 0
    for half in (8, 4, 2, 1):
        if rest >> half:
            rest >>= half
            found += half
    return found + rest


@kernel
def lift_of(found: Floats, chance: Floats, most: float) -> Floats:
    """For each class of gaps: ln of how much more often than by size alone a storyline is told again."""
    all_found, by_chance = found.sum(), chance.sum()
    lift = np.empty(N_GAPS)
    for g in range(N_GAPS):
        # What is never found fades towards 0.
        value = math.log(max(found[g] / all_found, LEAST_LIFT)) - math.log(max(chance[g] / by_chance, LEAST_LIFT))
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


@part_of_kernel
def choose(
    model: Model,
    rule: Rule,
    lift: Floats,
    columns: Array,
    counts: Floats,
    length: int,
    vector: Array,
    least: float,
    threshold: float,
    without: int,
) -> tuple[int, float]:
    """The storyline that such a text would join, -1 if it would found one; the score, or the threshold.

    No word counts as rarer in the stream than `least`.
    """
    lines, gains = model.lines, model.gains
    norm = _norm(vector)
    most_by_vector = rule.vector_weight * (1.0 - rule.vector_zero) if norm > 0.0 else 0.0
    total = counts[:length].sum()
    n_likely = _find_likely(model, lift, columns, counts, length, least, threshold - most_by_vector, without)
    if n_likely > 0:
        _add_gains(model, columns, counts, length, least)
    best, chosen = threshold, -1
    for r in range(n_likely):
        line = model.reached[r]
        gain, gains[line] = gains[line] - 1.0, 0.0
        score = gain + math.log(lines.pull[line]) + total * lines.unused[line]
        score += lift[gap_class(model.counters[N_SEEN] - lines.last_number[line])]
        if score + most_by_vector < best:
            continue
        score += _meaning(rule, vector, norm, lines.vector[line], 0.0)
        if score > best or (score == best and (chosen < 0 or lines.key[line] < lines.key[chosen])):
            best, chosen = score, line
    return chosen, best


@part_of_kernel
def _find_likely(
    model: Model,
    lift: Floats,
    columns: Array,
    counts: Floats,
    length: int,
    least: float,
    threshold: float,
    without: int,
) -> int:
    """Put the lines whose words may reach the threshold into `reached`, with a gain of 1; how many they are.

    No word counts more often than `most`, and no factor is below 1: `most` times the logarithm of the factors'
    product is a bound. That is one logarithm for few of the lines, instead of one for each word of each line.
    """
    lines, table, gains, reached = model.lines, model.words, model.gains, model.reached
    line_of, used, slope, pull = table.line, table.used, lines.slope, lines.pull
    blocks, rarities, n_lists = model.places, model.rarities, 0
    n_reached, total, most = 0, 0.0, LEAST_COUNT
    for k in range(length):
        total += counts[k]
        most = max(most, counts[k])
        if table.of_word[columns[k]] >= 0:
            blocks[n_lists], rarities[n_lists] = table.of_word[columns[k]], 1.0 / share_of(table, columns[k], least)
            n_lists += 1
    # One block of each word in turn: while one comes from memory, so do the others.
    while n_lists > 0:
        n_left = 0
        for a in range(n_lists):
            block, rarity = blocks[a], rarities[a]
            for entry in range(BLOCK * block, BLOCK * block + table.filled[block]):
                line = np.uint64(line_of[np.uint64(entry)])
                factor = 1.0 + slope[line] * used[np.uint64(entry)] * rarity
                # No branch: a processor cannot foresee which lines a text reaches again.
                before = gains[line]
                reached[n_reached] = line
                n_reached += before == 0.0
                gains[line] = factor if before == 0.0 else before * factor
            blocks[n_left], rarities[n_left] = table.following[block], rarity
            n_left += blocks[n_left] >= 0
        n_lists = n_left
    enough = threshold - ROUNDING
    # Most lines are too far below the threshold to be worth a logarithm, however lately they were told.
    largest_lift = lift[0]
    for gap in range(1, N_GAPS):
        largest_lift = max(largest_lift, lift[gap])
    least_product = math.exp((enough - largest_lift) / max(most, 1.0))
    n_likely = 0
    for r in range(n_reached):
        line = np.uint64(reached[r])
        product, gains[line] = gains[line], 0.0
        if product * pull[line] < least_product or reached[r] == without or lines.size[line] < 0.5:
            continue
        bound = most * math.log(product) + math.log(pull[line]) + total * lines.unused[line]
        bound += lift[gap_class(model.counters[N_SEEN] - lines.last_number[line])]
        if bound >= enough:
            reached[n_likely], gains[line] = line, 1.0
            n_likely += 1
    return n_likely


@part_of_kernel
def _add_gains(model: Model, columns: Array, counts: Floats, length: int, least: float) -> None:
    """Add what the words say to the gain of each line that has one: 0 stands for none."""
    table, gains, slope = model.words, model.gains, model.lines.slope
    line_of, used, entries = table.line, table.used, model.places
    for k in range(length):
        block, n = table.of_word[columns[k]], 0
        while block >= 0:
            for entry in range(BLOCK * block, BLOCK * block + table.filled[block]):
                entries[n] = entry
                n += gains[np.uint64(line_of[np.uint64(entry)])] != 0.0
            block = table.following[block]
        if n > 0:
            share = share_of(table, columns[k], least)
            for a in range(n):
                place = np.uint64(entries[a])
                line = np.uint64(line_of[place])
                gains[line] += counts[k] * math.log(1.0 + slope[line] * used[place] / share)


@part_of_kernel
def score_without(
    model: Model,
    rule: Rule,
    lift: Floats,
    columns: Array,
    counts: Floats,
    length: int,
    vector: Array,
    least: float,
    line: int,
) -> float:
    """The score of a storyline for one of its texts, as if it had never had that text."""
    lines, table, most = model.lines, model.words, rule.most_count
    size = lines.size[line] - 1.0
    if size < 0.5:
        return -math.inf
    entries, stream, own = model.places, table.total[0], lines.total[line]
    for k in range(length):
        entries[k] = find_entry(table, line, columns[k])
        own -= counts[k]
        if entries[k] >= 0:
            used = table.used[entries[k]]
            stream += min(max(used - counts[k], 0.0), most) - min(used, most)
    unused, slope = smoothed(rule, max(0.0, own))
    score = rule.size_weight * math.log(min(size, rule.most_size))
    score += lift[gap_class(model.counters[N_SEEN] - lines.last_number[line])]
    for k in range(length):
        score += counts[k] * unused
        if entries[k] >= 0:
            used = table.used[entries[k]]
            left = max(used - counts[k], 0.0)
            if left >= LEAST_COUNT:
                seen = table.seen[columns[k]] + min(left, most) - min(used, most)
                share = max(least, max(seen, PSEUDO_COUNT) / max(stream, 1.0))
                score += counts[k] * math.log(1.0 + slope * left / share)
    return float(score + _meaning(rule, vector, _norm(vector), lines.vector[line], 1.0))


@part_of_kernel
def _norm(vector: Array) -> float:
    square = 0.0
    for d in range(len(vector)):
        square += vector[d] * vector[d]
    return math.sqrt(square)


@part_of_kernel
def _meaning(rule: Rule, vector: Array, norm: float, of_line: Floats, n_own: float) -> float:
    """What the vectors say; nothing where the text has none. The line's vector counts without `n_own` of the text's."""
    if norm == 0.0:
        return 0.0
    dot = square = 0.0
    for d in range(len(vector)):
        there = of_line[d] - n_own * vector[d]
        dot += vector[d] * there
        square += there * there
    return rule.vector_weight * (dot / max(norm * math.sqrt(square), 1e-9) - rule.vector_zero)
