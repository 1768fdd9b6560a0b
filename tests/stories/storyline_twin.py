"""The rule of the storylines in plain Python: dicts, one text after the other. Slow, and easy to check by eye."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import ceil, log, sqrt

import numpy as np

N_GAPS, STORY_ROWS, LINE_STORIES = 16, 24, 48


@dataclass
class Row:
    number: int
    counts: dict[int, float]
    vector: np.ndarray


@dataclass
class Line:
    last_number: int
    words: Counter[int] = field(default_factory=Counter)
    total: float = 0.0
    size: float = 0.0
    vector: np.ndarray | float = 0.0
    stories: list[int] = field(default_factory=list)
    checked: float = 2.0
    founded: int = 0
    due: float = 0.0


def gap_class(gap: int) -> int:
    return min(N_GAPS - 1, 0 if gap <= 1 else ceil(np.log2(gap) - 1e-12))


class TwinStorylines:
    """Without times: what is forgotten is forgotten by the order of arrival."""

    def __init__(self, rule, window=4000):
        self.rule, self.window, self.n, self.next_key = rule, window, 0, 1
        self.lines: dict[int, Line] = {}
        self.rows: dict[int, list[Row]] = {}
        self.size_of: dict[int, int] = {}
        self.asked: dict[int, int] = {}
        self.line_of: dict[int, int] = {}
        self.history: Counter[int] = Counter()
        """What lines that have faded had used, each `most_count` times at most."""
        self.known: set[int] = set()
        self.found, self.chance, self.weights = np.ones(N_GAPS), np.ones(N_GAPS), np.zeros(N_GAPS)
        self.touched: set[int] = set()
        self.founding = 0.5

    # -- the score -----------------------------------------------------------------------------------------

    def shares(self, words):
        """The stream's share of each word: every line counted `most_count` times at most."""
        seen = Counter(self.history)
        for line in self.lines.values():
            for word, count in line.words.items():
                seen[word] += min(count, self.rule.most_count)
        total = max(1.0, sum(seen.values()) + 0.5 * len(self.known))
        return {word: (seen[word] + 0.5) / total for word in words}

    def lift(self):
        found, chance = self.found / self.found.sum(), self.chance / self.chance.sum()
        return np.clip(np.log(found / chance), -self.rule.most_lift, self.rule.most_lift)

    def score(self, line, counts, vector, words):
        rule, shares = self.rule, self.shares(counts)
        shares = {word: max(self.least_share(words), share) for word, share in shares.items()}
        if line.size < 0.5:
            return -np.inf
        score = rule.size_weight * log(min(line.size, rule.most_size))
        score += self.lift()[gap_class(self.n - line.last_number)]
        for word, x in counts.items():
            smooth = (line.words[word] + rule.smoothing * shares[word]) / (line.total + rule.smoothing)
            score += x * log(1.0 - rule.mixture + rule.mixture * smooth / shares[word])
        length = np.linalg.norm(vector)
        if length > 0.0:
            cosine = float(vector @ line.vector) / max(length * np.linalg.norm(line.vector), 1e-9)
            score += rule.vector_weight * (cosine - rule.vector_zero)
        return score

    def threshold(self):
        """What is enough."""
        share = min(max(self.founding, 0.05), 0.95)
        return self.rule.threshold + self.rule.odds_weight * log(share / (1.0 - share))

    def least_share(self, words):
        """The share below which no word of a text counts as rarer, where it counts for so many words."""
        is_long = (words - self.rule.length) / (self.rule.long_length - self.rule.length)
        return self.rule.least_share * min(max(is_long, 0.0), 1.0)

    def choose(self, counts, vector, words, without=None, ease=0.0):
        """The best line and its score; None where none is good enough."""
        best, chosen = self.threshold() - ease, None
        for key in sorted(self.lines):
            if key != without and any(word in self.lines[key].words for word in counts):
                score = self.score(self.lines[key], counts, vector, words)
                if score > best:
                    best, chosen = score, key
        return chosen, best

    # -- one document --------------------------------------------------------------------------------------

    def add(self, story, columns, counts, weights, vector):
        if self.n % 16 == 0:
            self.count_gaps()
        row = self.row(columns, counts, weights, vector)
        key = self.line_of.get(story)
        if key is None:
            key, _ = self.choose(row.counts, row.vector, sum(row.counts.values()))
            self.founding += ((key is None) - self.founding) / 500.0
            key = self.found_line(self.n) if key is None else key
            self.enter(story, key)
        elif self.rows.get(story):
            self.found *= self.rule.decay
            self.found[gap_class(self.n - self.lines[key].last_number)] += 1.0
            self.chance = self.rule.decay * self.chance + self.weights
        self.put(self.lines[key], [row], 1)
        self.known |= row.counts.keys()
        self.lines[key].last_number = self.n
        self.rows[story] = [*self.rows.get(story, []), row][-STORY_ROWS:]
        self.size_of[story] = self.size_of.get(story, 0) + 1
        self.touched.add(story)
        self.n += 1

    def row(self, columns, counts, weights, vector):
        rule, n = self.rule, len(columns)
        heavy = [weights[k] * counts[k] / (1.0 + log(max(counts[k], 1.0))) for k in range(n)]
        kept = sorted(sorted(range(n), key=lambda k: (-heavy[k], k))[:40])
        is_long = min(max(log(max(n, 1) / 12) / log(60 / 12), 0.0), 1.0)
        total = sum(counts[k] for k in kept)
        scale = min(1.0, (rule.length + is_long * (rule.long_length - rule.length)) / max(total, 1e-9))
        found = {int(columns[k]): scale * counts[k] for k in kept}
        return Row(self.n, found, np.asarray(vector, dtype=np.float64))

    def count_gaps(self):
        self.weights = np.zeros(N_GAPS)
        for line in self.lines.values():
            if line.size >= 0.5:
                pull = min(line.size, self.rule.most_size) ** self.rule.size_weight
                self.weights[gap_class(self.n - line.last_number)] += pull
        self.weights /= max(self.weights.sum(), 1e-300)

    def found_line(self, number):
        self.next_key += 1
        self.lines[self.next_key - 1] = Line(number, founded=number, due=number + self.rule.first_look)
        return self.next_key - 1

    def enter(self, story, key):
        self.line_of[story] = key
        self.lines[key].stories = [*self.lines[key].stories, story][-LINE_STORIES:]

    def put(self, line, rows, sign):
        for row in rows:
            for word, x in row.counts.items():
                line.words[word] += sign * x
                if line.words[word] < 1e-6:
                    del line.words[word]
            line.total = max(0.0, line.total + sign * sum(row.counts.values()))
            line.size, line.vector = line.size + sign, line.vector + sign * row.vector

    # -- the end of a step ---------------------------------------------------------------------------------

    def end_step(self, merged=()):
        for small, large in merged:
            if self.line_of[small] != self.line_of[large]:
                self.move(small, self.line_of[large])
            line = self.lines[self.line_of.pop(small)]
            line.stories = [story for story in line.stories if story != small]
            both = sorted(self.rows.pop(small) + self.rows[large], key=lambda row: row.number)
            self.rows[large] = both[-STORY_ROWS:]
            self.size_of[large] += self.size_of.pop(small)
            self.touched.discard(small)
            self.touched.add(large)
        doubled = [story for story in sorted(self.touched) if self.size_of[story] >= 2 * self.asked.get(story, 1)]
        for story in doubled:
            self.asked[story] = self.size_of[story]
            self.choose_again(story)
        self.touched = set()
        for key in [key for key in sorted(self.lines) if self.is_to_vote(key)]:
            if key in self.lines and self.is_to_vote(key):
                self.vote(key)
        for key in [k for k, line in self.lines.items() if line.last_number < self.n - self.window]:
            self.fade(key)
        for story in [s for s, rows in self.rows.items() if rows[-1].number < self.n - self.window]:
            line = self.lines[self.line_of[story]]
            line.stories = [other for other in line.stories if other != story]
            del self.rows[story]

    def is_to_vote(self, key):
        """A line votes when it has grown; one of fewer than four documents, when it is so many times as old."""
        line = self.lines[key]
        return self.n >= line.due if line.size < 4.0 else line.size >= self.rule.growth * line.checked

    def choose_again(self, story):
        key, rows = self.line_of[story], self.rows[story]
        pooled: Counter[int] = Counter()
        for row in rows:
            for word, x in row.counts.items():
                pooled[word] += x / sqrt(len(rows))
        self.put(self.lines[key], rows, -1)
        words = sum(sum(row.counts.values()) for row in rows) / len(rows)
        best, _ = self.choose(pooled, sum(row.vector for row in rows), words)
        self.put(self.lines[key], rows, 1)
        if best is None and len(self.lines[key].stories) > 1:
            best = self.found_line(rows[-1].number)
        if best is not None and best != key:
            self.move(story, best)

    def move(self, story, key):
        old, rows = self.line_of[story], self.rows[story]
        if len(self.lines[old].stories) == 1:
            self.merge(old, key)
            return
        self.put(self.lines[old], rows, -1)
        self.put(self.lines[key], rows, 1)
        self.lines[key].last_number = max(self.lines[key].last_number, rows[-1].number)
        self.lines[old].stories = [other for other in self.lines[old].stories if other != story]
        self.enter(story, key)

    def vote(self, key):
        line = self.lines[key]
        if line.size < 4.0:
            line.due = line.founded + int(self.rule.look_factor * (self.n - line.founded))
        else:
            line.checked = line.size
        rows = sorted((row for s in line.stories for row in self.rows.get(s, ())), key=lambda row: row.number)
        rows = rows[-self.rule.voters :]
        votes = Counter(self.second_choice(row, key) for row in rows)
        del votes[None]
        if votes and votes.most_common(1)[0][1] >= self.rule.votes * len(rows):
            self.merge(key, votes.most_common(1)[0][0])

    def second_choice(self, row, key):
        words = sum(row.counts.values())
        ease = self.rule.look_ease if self.lines[key].size < 4.0 else 0.0
        other, score = self.choose(row.counts, row.vector, words, without=key, ease=ease)
        if other is None:
            return None
        self.put(self.lines[key], [row], -1)
        own = self.score(self.lines[key], row.counts, row.vector, words)
        self.put(self.lines[key], [row], 1)
        return other if score >= own - self.rule.vote_margin else None

    def merge(self, one, other):
        small, large = sorted((one, other), key=lambda key: (self.lines[key].size, -key))
        gone, into = self.lines.pop(small), self.lines[large]
        into.words.update(gone.words)
        into.total, into.size, into.vector = into.total + gone.total, into.size + gone.size, into.vector + gone.vector
        into.last_number = max(into.last_number, gone.last_number)
        into.stories = (into.stories + gone.stories)[-LINE_STORIES:]
        for story, key in self.line_of.items():
            self.line_of[story] = large if key == small else key

    def fade(self, key):
        for word, count in self.lines.pop(key).words.items():
            self.history[word] += min(count, self.rule.most_count)
        for story in [s for s, k in self.line_of.items() if k == key]:
            del self.line_of[story]
            self.rows.pop(story, None)
            self.size_of.pop(story)
            self.asked.pop(story, None)
