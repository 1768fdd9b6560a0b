"""Documents come to the storylines, and the storylines are repaired at the end of a step."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Array, Floats, Ints, Slots
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.stories.sparse_sums import places_of_smallest
from firststory.kernels.stories.storyline_choice import (
    REFRESH_EVERY_DOCUMENTS,
    choose,
    count_gaps,
    gap_class,
    lift_of,
    score_without,
)
from firststory.kernels.stories.storyline_layout import (
    FREE_ROWS,
    N_LINE_STORIES,
    N_ROW_TERMS,
    N_SEEN,
    N_STORY_ROWS,
    NEXT_KEY,
    Documents,
    Lines,
    Model,
    RowSlots,
    Rule,
)
from firststory.kernels.stories.storyline_lines import (
    add_row,
    drop_line,
    enter,
    free_story,
    leave,
    merge_lines,
    merge_stories,
    move_story,
    open_line,
)

SHORT_TERMS, LONG_TERMS = 12, 60
"""Terms up to which a text is short, and from which on it is long; between them by the logarithm."""
MIN_VOTING_SIZE = 4.0
"""Documents from which on a storyline votes when it has grown; a smaller one, when it has aged."""
FOUNDING_STORIES = 500.0
"""Stories over which the share that founded a line is averaged."""


@kernel
def place_documents(model: Model, rule: Rule, documents: Documents, now: float) -> float:
    """Give documents their storylines, one after the other. Returns the latest time."""
    lines, stories, counters = model.lines, model.stories, model.counters
    for i in range(len(documents.stories)):
        if counters[N_SEEN] % REFRESH_EVERY_DOCUMENTS == 0:
            count_gaps(lines, counters[N_SEEN], model.weights)
        if not math.isnan(documents.times[i]):
            now = max(now, documents.times[i])
        story = documents.stories[i]
        counters[FREE_ROWS] -= 1
        row = model.rows.free[counters[FREE_ROWS]]
        _keep_row(model.rows, rule, documents, i, row, counters[N_SEEN])
        line = stories.line[story]
        if line < 0:
            lift = lift_of(model.found, model.chance, rule.most_lift)
            enough = threshold_of(rule, model.founding[0])
            line, _ = _choose_for(model, rule, lift, row, enough, -1)
            model.founding[0] += ((1.0 if line < 0 else 0.0) - model.founding[0]) / FOUNDING_STORIES
            if line < 0:
                line = open_line(lines, counters, rule, counters[NEXT_KEY], counters[N_SEEN], now)
                counters[NEXT_KEY] += 1
            enter(lines.n_stories, lines.stories, stories.line, story, line)
        elif stories.n_rows[story] > 0:
            # A document has joined a story: so long ago was its line told.
            model.found[:] *= rule.decay
            model.found[gap_class(counters[N_SEEN] - lines.last_number[line])] += 1.0
            model.chance[:] = rule.decay * model.chance + model.weights
        add_row(model, rule, line, row, 1.0)
        lines.last_number[line], lines.last_time[line] = counters[N_SEEN], now
        n = stories.n_rows[story]
        if n == N_STORY_ROWS:
            model.rows.free[counters[FREE_ROWS]] = stories.rows[story, 0]
            counters[FREE_ROWS] += 1
            for k in range(n - 1):
                stories.rows[story, k] = stories.rows[story, k + 1]
            n -= 1
        stories.rows[story, n] = row
        stories.n_rows[story] = n + 1
        stories.size[story] += 1
        counters[N_SEEN] += 1
    return now


@kernel
def _keep_row(rows: RowSlots, rule: Rule, documents: Documents, i: int, row: int, number: int) -> None:
    """The heaviest terms of a document."""
    start, end = documents.indptr[i], documents.indptr[i + 1]
    kept = np.arange(end - start)
    if end - start > N_ROW_TERMS:
        # The weights of rows have the logarithm of the counts: what a long text is about, it says again and again.
        heavy = np.empty(end - start)
        for k in range(end - start):
            count = documents.counts[start + k]
            heavy[k] = -documents.weights[start + k] * count / (1.0 + math.log(max(count, 1.0)))
        kept = places_of_smallest(heavy, N_ROW_TERMS)
    is_long = math.log(max(end - start, 1) / SHORT_TERMS) / math.log(LONG_TERMS / SHORT_TERMS)
    is_long = min(max(is_long, 0.0), 1.0)
    total = 0.0
    for k in range(len(kept)):
        rows.columns[row, k] = documents.columns[start + kept[k]]
        rows.counts[row, k] = documents.counts[start + kept[k]]
        total += rows.counts[row, k]
    scale = min(1.0, (rule.length + is_long * (rule.long_length - rule.length)) / max(total, 1e-9))
    rows.counts[row, : len(kept)] *= scale
    rows.length[row], rows.total[row] = len(kept), scale * total
    rows.number[row] = number
    rows.vector[row] = documents.vectors[i]


@part_of_kernel
def _choose_for(model: Model, rule: Rule, lift: Floats, row: int, threshold: float, without: int) -> tuple[int, float]:
    """The line that a document would join, and the score, see `choose`."""
    rows = model.rows
    columns, counts, length, vector = rows.columns[row], rows.counts[row], rows.length[row], rows.vector[row]
    least = _least_of(rows, rule, row)
    return choose(model, rule, lift, columns, counts, length, vector, least, threshold, without)


@part_of_kernel
def threshold_of(rule: Rule, founding: float) -> float:
    """The score that is enough: it follows the odds that a story belongs to no line."""
    share = min(max(founding, 0.05), 0.95)
    return rule.threshold + rule.odds_weight * math.log(share / (1.0 - share))


@part_of_kernel
def least_share_of(rule: Rule, words: float) -> float:
    """How rare a word may be at most, for a text that counts for so many words.

    A long text has so many words that some are rare by chance, and all that it shares with a line.
    """
    is_long = (words - rule.length) / (rule.long_length - rule.length)
    return rule.least_share * min(max(is_long, 0.0), 1.0)


@part_of_kernel
def _least_of(rows: RowSlots, rule: Rule, row: int) -> float:
    return least_share_of(rule, rows.total[row])


# -- repair ----------------------------------------------------------------------------------------------------


@kernel
def merge_all_stories(model: Model, rule: Rule, pairs: Slots) -> None:
    """Stories (pairs[:, 0]) have gone into others (pairs[:, 1])."""
    for i in range(len(pairs)):
        merge_stories(model, rule, pairs[i, 0], pairs[i, 1])


@kernel
def choose_all_again(model: Model, rule: Rule, asking: Slots, now: float) -> None:
    """Stories that have doubled choose their line once more, all rows of a story together."""
    lines, stories, rows = model.lines, model.stories, model.rows
    lift = lift_of(model.found, model.chance, rule.most_lift)
    for story in asking:
        line, n = stories.line[story], stories.n_rows[story]
        stories.asked[story] = stories.size[story]
        for k in range(n):
            add_row(model, rule, line, stories.rows[story, k], -1.0)
        columns, counts, length, vector = pooled(rows, stories.rows[story, :n])
        words = rows.total[stories.rows[story, :n]].sum() / max(n, 1)
        enough, least = threshold_of(rule, model.founding[0]), least_share_of(rule, words)
        chosen, _ = choose(model, rule, lift, columns, counts, length, vector, least, enough, -1)
        for k in range(n):
            add_row(model, rule, line, stories.rows[story, k], 1.0)
        if chosen < 0 and lines.n_stories[line] > 1:
            last = rows.number[stories.rows[story, n - 1]]
            chosen = open_line(lines, model.counters, rule, model.counters[NEXT_KEY], last, now)
            model.counters[NEXT_KEY] += 1
        if chosen >= 0 and chosen != line:
            move_story(model, rule, story, chosen)


@kernel
def pooled(rows: RowSlots, members: Slots) -> tuple[Array, Floats, int, Array]:
    """Rows as one text, sqrt(n) times as long as one of them."""
    n, room = len(members), rows.length[members].sum()
    columns, sums, length = np.empty(room, np.int32), np.empty(room), 0
    both, counts = np.empty(room, np.int32), np.empty(room)
    vector = np.zeros(rows.vector.shape[1], np.float32)
    for row in members:
        # The columns of each are in order.
        a, b, at = 0, 0, 0
        while a < length or b < rows.length[row]:
            is_there = a < length and (b == rows.length[row] or columns[a] <= rows.columns[row, b])
            is_new = b < rows.length[row] and (a == length or rows.columns[row, b] <= columns[a])
            both[at] = columns[a] if is_there else rows.columns[row, b]
            counts[at] = (sums[a] if is_there else 0.0) + (rows.counts[row, b] / math.sqrt(n) if is_new else 0.0)
            a, b, at = a + is_there, b + is_new, at + 1
        columns, both, sums, counts, length = both, columns, counts, sums, at
        for d in range(len(vector)):
            vector[d] += rows.vector[row, d]
    return columns, sums, length, vector


@kernel
def lines_to_ask(model: Model, rule: Rule) -> Slots:
    """The lines whose documents are to vote, by their keys."""
    lines = model.lines
    found, n = np.empty(len(lines.key), np.int32), 0
    for line in range(len(lines.key)):
        if lines.key[line] >= 0 and is_to_vote(lines, rule, line, model.counters[N_SEEN]):
            found[n] = line
            n += 1
    return found[:n][np.argsort(lines.key[found[:n]], kind="mergesort")]


@kernel
def is_to_vote(lines: Lines, rule: Rule, line: int, n_seen: int) -> bool:
    """Whether a line has grown since it was last asked; a small one, whether it is so many times as old."""
    if lines.size[line] < MIN_VOTING_SIZE:
        return bool(n_seen >= lines.due[line])
    return bool(lines.size[line] >= rule.growth * lines.checked[line])


@kernel
def merge_by_vote(model: Model, rule: Rule, asked: Slots) -> None:
    """Lines that have grown or aged go into another if enough of their last documents would."""
    lines = model.lines
    lift = lift_of(model.found, model.chance, rule.most_lift)
    for line in asked:
        if lines.key[line] < 0 or not is_to_vote(lines, rule, line, model.counters[N_SEEN]):
            continue
        if lines.size[line] < MIN_VOTING_SIZE:
            age = model.counters[N_SEEN] - lines.founded[line]
            lines.due[line] = lines.founded[line] + int(rule.look_factor * age)
        else:
            lines.checked[line] = lines.size[line]
        voters = _last_rows(model, line, rule.voters)
        choices, enough, n_left = np.full(len(voters), -1), rule.votes * len(voters), len(voters)
        for k, row in enumerate(voters):
            choices[k] = _second_choice(model, rule, lift, row, line)
            n_left -= choices[k] < 0
            if n_left < enough:  # whatever the others choose, no line gets enough votes
                break
        other, votes = _most_chosen(choices)
        if other < 0 or votes < enough:
            continue
        merge_lines(model, rule, line, other, votes, len(voters))


@part_of_kernel
def _second_choice(model: Model, rule: Rule, lift: Floats, row: int, line: int) -> int:
    """The line that a document would join without its own, if it fits there nearly as well; -1 for none."""
    enough, rows = threshold_of(rule, model.founding[0]), model.rows
    if model.lines.size[line] < MIN_VOTING_SIZE:
        enough -= rule.look_ease
    other, score = _choose_for(model, rule, lift, row, enough, line)
    if other >= 0:
        columns, counts, length, vector = rows.columns[row], rows.counts[row], rows.length[row], rows.vector[row]
        own = score_without(model, rule, lift, columns, counts, length, vector, _least_of(rows, rule, row), line)
        if score < own - rule.vote_margin:
            return -1
    return int(other)


@kernel
def _last_rows(model: Model, line: int, most: int) -> Slots:
    lines, stories = model.lines, model.stories
    found, n = np.empty(N_LINE_STORIES * N_STORY_ROWS, np.int32), 0
    for k in range(lines.n_stories[line]):
        story = lines.stories[line, k]
        for j in range(stories.n_rows[story]):
            found[n] = stories.rows[story, j]
            n += 1
    order = np.argsort(model.rows.number[found[:n]], kind="mergesort")
    return found[order[max(0, n - most) :]]


@kernel
def _most_chosen(choices: Ints) -> tuple[int, int]:
    """What was chosen most often, the first among equals, and how often; -1 stands for none."""
    best, most = -1, 0
    for choice in choices:
        votes = 0
        for other in choices:
            votes += other == choice
        if choice >= 0 and votes > most:
            best, most = choice, votes
    return best, most


@kernel
def forget(model: Model, lines: Slots, oldest: int) -> Ints:
    """Drop lines, and the rows of stories that are in none or have told nothing since the document `oldest`.

    Returns the keys of those stories.
    """
    stories, n = model.stories, 0
    forgotten = np.empty(len(stories.key), np.int64)
    for line in lines:
        drop_line(model, line)
    for story in range(len(stories.key)):
        if stories.key[story] < 0:
            continue
        line = stories.line[story]
        if line >= 0 and model.lines.key[line] >= 0:
            if model.rows.number[stories.rows[story, stories.n_rows[story] - 1]] >= oldest:
                continue
            leave(model.lines.n_stories, model.lines.stories, story, line)
        forgotten[n] = stories.key[story]
        n += 1
        free_story(model, story)
    return forgotten[:n]
