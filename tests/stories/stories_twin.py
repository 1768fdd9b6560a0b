"""The rule of stories once more, plainly: NumPy and dictionaries, one document at a time, nothing kept up to date."""

from __future__ import annotations

from math import ceil, exp, log, log1p, sqrt

import numpy as np

DAY = 86400.0


class Text:
    """A document: its row and the row of its title (dictionaries), its vector, time (None: none) and number."""

    def __init__(self, candidate, number, n_dimensions):
        columns, weights = candidate.columns.tolist(), np.float32(candidate.weights).astype(float).tolist()
        self.row = dict(zip(columns, weights, strict=True))
        counts = candidate.counts if len(candidate.counts) else np.ones(len(columns))
        rarity = dict(zip(columns, (candidate.weights / (1 + np.log(np.maximum(counts, 1)))).tolist(), strict=True))
        title = {c: rarity[c] for c in candidate.title_columns.tolist() if c in rarity}
        length = sqrt(sum(w * w for w in title.values()))
        self.title = {c: float(np.float32(w / length)) for c, w in title.items()}
        self.vector = np.zeros(n_dimensions) if candidate.vector is None else candidate.vector.astype(float)
        self.time, self.number = candidate.time_in_seconds(), number


def dot(one, other):
    return sum(w * other.get(c, 0.0) for c, w in one.items())


def days(one, other, rule):
    if one.time is None or other.time is None:
        return (one.number - other.number) / rule.documents_per_day
    return (one.time - other.time) / DAY


def longness(n_terms, rule):
    between = rule.log_long_terms - rule.log_short_terms
    return min(max((log(max(n_terms, 1)) - rule.log_short_terms) / between, 0.0), 1.0)


class PlainStory:
    def __init__(self, key):
        self.key, self.texts, self.size, self.cosines = key, [], 0, []

    def add(self, texts, size, most):
        self.texts = sorted(self.texts + texts, key=lambda text: text.number)[-most:]
        self.size += size


class PlainTracker:
    """`add` each document, then `end_step`. Stories are kept for ever; `story_of` is by the number of the document."""

    def __init__(self, rule, n_dimensions, most):
        self.rule, self.n_dimensions, self.most = rule, n_dimensions, most
        self.stories, self.history, self.story_of, self.links = {}, {}, {}, set()
        self.opening_share, self.usual = 0.5, np.array([6.0, 20.0])
        self.background = np.array([28.0, 200.0])
        self.odds = []

    def pair(self, one, other):
        """Log-odds of two texts, and those without time."""
        u, rule = longness(min(len(one.row), len(other.row)), self.rule), self.rule
        known = np.array([dot(one.row, other.row), dot(one.title, other.title), one.vector @ other.vector])
        weights = u * self.long() + (1 - u) * np.array(self.short(known[2]))
        timeless = weights[:3] @ known + weights[4]
        return timeless + weights[3] * log1p(abs(days(one, other, rule))), timeless

    def long(self):
        dense, sparse = self.rule.dense_background, self.rule.sparse_background
        share = np.clip((self.background[0] / self.background[1] - sparse) / (dense - sparse), 0.0, 1.0)
        return share * np.array(self.rule.long) + (1 - share) * np.array(self.rule.sparse)

    def short(self, alike):
        return self.rule.short if alike else self.rule.wordy

    def evidence(self, text, story):
        """Log-odds of a text and a story, and those without time."""
        rule, texts = self.rule, story.texts
        pairs = [self.pair(text, other) for other in texts]
        m = ceil(len(texts) ** 0.75 - 1e-9)
        odds = np.mean(sorted(np.clip([p for p, _ in pairs], -rule.largest_odds, rule.largest_odds))[-m:])
        timeless = np.mean(sorted(p for _, p in pairs)[-m:])
        u = longness(min(len(text.row), len(texts[-1].row)), rule)
        if len(texts) == 1 or u == 1.0:
            return odds, timeless
        columns = {c for other in texts for c in other.row}
        total = {c: sum(other.row.get(c, 0.0) for other in texts) for c in columns}
        vector = sum(other.vector for other in texts)
        short = self.short(text.vector @ vector)
        whole = short.cosine * dot(text.row, total) / max(sqrt(dot(total, total)), 1e-9)
        whole += short.vector * (text.vector @ vector) / max(sqrt(vector @ vector), 1e-9) + short.constant
        lag = min(log1p(abs(days(text, other, rule))) for other in texts)
        timed = min(whole + short.lag * lag, rule.largest_odds)
        return u * odds + (1 - u) * timed, u * timeless + (1 - u) * whole

    def threshold(self, text):
        u = longness(len(text.row), self.rule)
        short = self.rule.short_threshold + self.rule.pull * log(max(self.opening_share, 0.2))
        return u * self.rule.threshold + (1 - u) * short

    def add(self, candidate, number):
        text = Text(candidate, number, self.n_dimensions)
        u = longness(len(text.row), self.rule)
        best, best_odds, near, cosines = None, -np.inf, [], {}
        for key in dict.fromkeys(self.story_of[n] for n in candidate.neighbours if n >= 0):
            story = self.stories[key]
            odds, timeless = self.evidence(text, story)
            cosines[key] = np.mean([dot(text.row, other.row) for other in story.texts])
            history = self.history[key]
            age = min([t.time for t in history if t.time is not None], default=None)
            age = days(text, Point(age, history[0].number), self.rule)
            odds -= self.rule.age * log1p(max(0.0, age) / self.rule.age_days)
            last = max([t.time for t in history if t.time is not None], default=None)
            quiet = days(text, Point(last, max(t.number for t in history)), self.rule)
            if timeless >= u * self.rule.link + (1 - u) * self.rule.short_link:
                near.append(key)
            if odds > best_odds and quiet <= self.rule.fade_days:
                best, best_odds = story, odds
        self.odds.append(best_odds)
        if best is not None and len(cosines) > 1:
            others = np.mean([cosine for key, cosine in cosines.items() if key != best.key])
            self.background = (1 - 0.002 * u) * self.background + [u * others, u]
        opens = best is None or best_odds < self.threshold(text)
        self.opening_share += (opens - self.opening_share) / 700.0
        if opens:
            best = self.stories[number] = PlainStory(number)
            self.history[number] = []
        else:
            cosines = [dot(text.row, other.row) for other in best.texts]
            best.cosines += cosines
            self.usual = 0.998 * self.usual + [np.mean(cosines), 1.0]
        best.add([text], 1, self.most)
        self.history[best.key].append(text)
        self.story_of[number] = best.key
        self.links |= {tuple(sorted((key, best.key))) for key in near if key != best.key}
        return best.key

    def end_step(self):
        """The stories that were merged, each with the one it went into."""
        merged, rule = {}, self.rule
        for pair in sorted(self.links):
            a, b = (self.now(key, merged) for key in pair)
            if a == b:
                continue
            one, other = sorted((self.stories[a], self.stories[b]), key=lambda story: story.key)
            if self.apart(one, other) > rule.merge_days:
                continue
            small, large = (other, one) if one.size >= other.size else (one, other)
            if small.size > 1:
                terms = min(exp(np.median([log(len(t.row)) for t in story.texts])) for story in (one, other))
                least = rule.short_merge + (rule.merge - rule.short_merge) * longness(terms + 1e-9, rule)
                joins = self.likeness(one, other) >= least
            else:
                text = small.texts[0]
                joins = large.size > 1 and self.evidence(text, large)[0] >= self.threshold(text)
            if joins:
                large.add(small.texts, small.size, self.most)
                large.cosines += small.cosines
                self.history[large.key] = sorted(
                    self.history[large.key] + self.history[small.key], key=lambda t: t.number
                )
                merged[small.key] = large.key
        self.story_of = {number: self.now(key, merged) for number, key in self.story_of.items()}
        self.links = set()
        return merged

    def now(self, key, merged):
        while key in merged:
            key = merged[key]
        return key

    def apart(self, one, other):
        def ends(story):
            times = [t.time for t in self.history[story.key] if t.time is not None]
            numbers = [t.number for t in self.history[story.key]]
            first, last = min(times, default=None), max(times, default=None)
            return Point(first, min(numbers)), Point(last, max(numbers))

        (first, last), (other_first, other_last) = ends(one), ends(other)
        return max(days(first, other_last, self.rule), days(other_first, last, self.rule))

    def likeness(self, one, other):
        few, many = (one, other) if len(one.texts) < len(other.texts) else (other, one)
        between = np.mean([[dot(a.row, b.row) for b in many.texts] for a in few.texts[-8:]])
        usual = 4.0 * self.usual[0] / self.usual[1]
        within = [(sum(story.cosines) + usual) / (len(story.cosines) + 4.0) for story in (one, other)]
        return between / sqrt(within[0] * within[1])


class Point:
    """A point of the stream."""

    def __init__(self, time, number):
        self.time, self.number = time, number
