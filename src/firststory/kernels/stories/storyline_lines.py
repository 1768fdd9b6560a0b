"""Storylines as they come and go: their words, their stories, and what they go into."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Array, Slots
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.stories.storyline_choice import smoothed
from firststory.kernels.stories.storyline_layout import (
    FREE_LINES,
    FREE_ROWS,
    FREE_STORIES,
    N_LINE_STORIES,
    N_MERGED,
    N_STORY_ROWS,
    Lines,
    Model,
    Rule,
)
from firststory.kernels.stories.storyline_words import add_counts, drop_words, move_words


@part_of_kernel
def _set_size(lines: Lines, rule: Rule, line: int, size: float, total: float) -> None:
    """How many documents a line has told, and how many words: what the score needs of them."""
    lines.size[line], lines.total[line] = size, total
    lines.pull[line] = 0.0 if size < 0.5 else math.exp(rule.size_weight * math.log(min(size, rule.most_size)))
    lines.unused[line], lines.slope[line] = smoothed(rule, total)


@part_of_kernel
def open_line(lines: Lines, counters: Array, rule: Rule, key: int, number: int, time: float) -> int:
    """A line without documents."""
    counters[FREE_LINES] -= 1
    line = lines.free[counters[FREE_LINES]]
    lines.key[line] = key
    _set_size(lines, rule, line, 0.0, 0.0)
    lines.last_number[line], lines.last_time[line] = number, time
    lines.checked[line] = 2.0
    lines.founded[line], lines.due[line] = number, number + int(rule.first_look)
    lines.n_stories[line] = 0
    lines.vector[line] = 0.0
    return int(line)


@part_of_kernel
def drop_line(model: Model, line: int) -> None:
    """A line leaves the memory."""
    drop_words(model.words, line)
    model.lines.key[line] = -1
    model.lines.free[model.counters[FREE_LINES]] = line
    model.counters[FREE_LINES] += 1


@part_of_kernel
def add_row(model: Model, rule: Rule, line: int, row: int, sign: float) -> None:
    """A line gets the words and the vector of a row, or (sign -1) loses them."""
    lines, rows = model.lines, model.rows
    add_counts(model.words, line, rows.columns[row], rows.counts[row], rows.length[row], sign, rule.most_count)
    for d in range(rows.vector.shape[1]):
        lines.vector[line, d] += sign * rows.vector[row, d]
    _set_size(lines, rule, line, lines.size[line] + sign, max(0.0, lines.total[line] + sign * rows.total[row]))


@part_of_kernel
def enter(n_stories: Slots, stories: Array, line_of: Slots, story: int, line: int) -> None:
    """A story is part of a line; the line forgets the story that came first where it has too many."""
    n = n_stories[line]
    if n == N_LINE_STORIES:
        for k in range(n - 1):
            stories[line, k] = stories[line, k + 1]
        n -= 1
    stories[line, n] = story
    n_stories[line] = n + 1
    line_of[story] = line


@part_of_kernel
def leave(n_stories: Slots, stories: Array, story: int, line: int) -> None:
    """A story is no longer among the last ones of a line."""
    kept = 0
    for k in range(n_stories[line]):
        if stories[line, k] != story:
            stories[line, kept] = stories[line, k]
            kept += 1
    n_stories[line] = kept


@kernel
def move_story(model: Model, rule: Rule, story: int, line: int) -> None:
    """A story goes from its line to another, with its rows; where it is all of its line, the two lines are one."""
    lines, stories = model.lines, model.stories
    old = stories.line[story]
    if lines.n_stories[old] == 1:
        merge_lines(model, rule, old, line, 0, 0)
        return
    for k in range(stories.n_rows[story]):
        row = stories.rows[story, k]
        add_row(model, rule, old, row, -1.0)
        add_row(model, rule, line, row, 1.0)
        lines.last_number[line] = max(lines.last_number[line], model.rows.number[row])
    leave(lines.n_stories, lines.stories, story, old)
    enter(lines.n_stories, lines.stories, stories.line, story, line)


@kernel
def merge_lines(model: Model, rule: Rule, one: int, other: int, votes: int, asked: int) -> None:
    """Of two lines the smaller goes into the larger, of equal ones the younger."""
    lines, n = model.lines, model.counters[N_MERGED]
    small, large = (one, other) if lines.size[one] <= lines.size[other] else (other, one)
    if lines.size[small] == lines.size[large] and lines.key[small] < lines.key[large]:
        small, large = large, small
    model.merged[n, 0], model.merged[n, 1] = lines.key[small], lines.key[large]
    model.merged[n, 2], model.merged[n, 3] = votes, asked
    model.counters[N_MERGED] = n + 1
    move_words(model.words, small, large, rule.most_count)
    lines.vector[large] += lines.vector[small]
    lines.last_time[large] = max(lines.last_time[large], lines.last_time[small])
    lines.last_number[large] = max(lines.last_number[large], lines.last_number[small])
    for k in range(lines.n_stories[small]):
        enter(lines.n_stories, lines.stories, model.stories.line, lines.stories[small, k], large)
    line_of = model.stories.line
    for story in range(len(line_of)):  # those too that the line no longer lists
        if line_of[story] == small:
            line_of[story] = large
    size, total = lines.size[large] + lines.size[small], lines.total[large] + lines.total[small]
    drop_line(model, small)
    _set_size(lines, rule, large, size, total)


@kernel
def merge_stories(model: Model, rule: Rule, small: int, large: int) -> None:
    """A story has gone into another: its rows too, the last ones stay."""
    stories, rows, lines = model.stories, model.rows, model.lines
    here, there = stories.line[small], stories.line[large]
    if there < 0:
        enter(lines.n_stories, lines.stories, stories.line, large, here)
    elif here != there:
        move_story(model, rule, small, there)
    leave(lines.n_stories, lines.stories, small, stories.line[small])
    n, m = stories.n_rows[small], stories.n_rows[large]
    both = np.empty(n + m, np.int32)
    both[:n], both[n:] = stories.rows[small, :n], stories.rows[large, :m]
    order = np.argsort(rows.number[both], kind="mergesort")
    gone = max(0, n + m - N_STORY_ROWS)
    for k in range(gone):
        rows.free[model.counters[FREE_ROWS]] = both[order[k]]
        model.counters[FREE_ROWS] += 1
    for k in range(gone, n + m):
        stories.rows[large, k - gone] = both[order[k]]
    stories.n_rows[large], stories.n_rows[small] = n + m - gone, 0
    stories.size[large] += stories.size[small]
    free_story(model, small)


@part_of_kernel
def free_story(model: Model, story: int) -> None:
    """Forget a story, with its rows."""
    stories = model.stories
    for k in range(stories.n_rows[story]):
        model.rows.free[model.counters[FREE_ROWS]] = stories.rows[story, k]
        model.counters[FREE_ROWS] += 1
    stories.n_rows[story] = 0
    stories.key[story] = stories.line[story] = -1
    stories.free[model.counters[FREE_STORIES]] = story
    model.counters[FREE_STORIES] += 1


@kernel
def terms_of(rows: Array, n_rows: Slots, length: Slots, stories: Slots) -> int:
    """How many terms the rows of some stories have."""
    total = 0
    for story in stories:
        for k in range(n_rows[story]):
            total += length[rows[story, k]]
    return total
