"""FusedNovelty written from its definition with dense vectors, and the streams that the two are compared on."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

DAY = 86400.0


def stream(seed, n=260, width=60, dimensions=5):
    """Counts with bursts of shared terms, times with a long silence, and vectors of which a third is zero."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(width, 0.05), size=12)
    topic = rng.integers(12, size=n)
    counts = np.stack([rng.multinomial(rng.integers(3, 25), topics[k]) for k in topic]).astype(float)
    gaps = rng.exponential(0.4 * DAY, size=n)
    gaps[n // 2] = 400 * DAY
    centres = rng.normal(size=(12, dimensions))
    vectors = (centres[topic] + 0.7 * rng.normal(size=(n, dimensions))) * (rng.random(n) > 0.33)[:, None]
    return counts, np.cumsum(gaps), vectors


def aged(cosine, days, beta, kappa):
    return cosine * (1 + days) ** (-beta * (1 - cosine) ** kappa)


def median(mass, begin):
    """Of bins of half an octave, the middle of which begins at `begin`; masses may be negative."""
    total = np.cumsum(mass)
    b = int(np.argmax(total >= total[-1] / 2))
    return begin * 2 ** ((b + (total[-1] / 2 - total[b] + mass[b]) / mass[b]) / 2 - 16)


def half_octave(value, begin, bins):
    return int(np.clip(2 * (np.log2(max(value, 1e-9) / begin) + 16), 0, bins - 1))


class Clock:
    """Days and capped days; without days of its own, 1 / tau of one per document, tau the median lag of matches.
    And in what unit matches age, and how much."""

    def __init__(self, days, half_life):
        self.days, self.keep, self.tau, self.unit, self.strength = days, 0.5 ** (1 / half_life), 10.0, 1.0, 1.0
        self.day, self.tick, self.seen, self.matches = [], [], 0, []

    def advance(self):
        before, i = (self.day[-1] if self.day else 0.0), self.seen
        now = self.days[i] if self.days is not None else before + (1 / self.tau if i else 0.0)
        gap = now - before if i else 0.0
        if self.days is not None and i > 20:
            gap = min(gap, max(50 * self.tick[-1] / i, 1.0))
        self.day.append(now)
        self.tick.append((self.tick[-1] if self.tick else 0.0) + gap)
        self.seen += 1

    def learn(self, lag, cosine, alive):
        i = self.seen - 1
        by_chance = i - alive + int((i * 0.6180339887498949) % 1.0 * alive)
        now, old = self.day[i], self.day[i - lag]
        self.matches.append((lag, cosine, 2 * lag > alive, now - old, now - self.day[by_chance]))
        lags, ages, chances, everything, older = np.eye(64)[32], 10 * np.eye(80)[32], np.zeros(80), 0.0, 0.0
        for ago, (lag, c, is_old, age, chance_age) in enumerate(reversed(self.matches)):
            kept = self.keep**ago
            lags[half_octave(lag, 10, 64)] += kept * c**4 * (1 - c**8)
            ages[half_octave(age, 1, 80)] += kept * c * (1 - c)
            chances[half_octave(chance_age, 1, 80)] += kept * c * (1 - c)
            everything, older = everything + kept * c * (1 - c), older + kept * c * (1 - c) * is_old
        explained = min(1.0, 2 * older / (everything + 10))
        self.strength = min(1.0, (1 - explained) / 0.4)
        if self.days is None:
            self.tau = median(lags, 10)
        else:
            self.unit = max(1.0, median(ages - explained * chances, 1) / 4)


class Level:
    """A running mean that begins with the weight of 20 rows."""

    def __init__(self, mean, keep):
        self.total, self.rows, self.keep = 20 * mean, 20.0, keep

    def add(self, value):
        self.total, self.rows = self.total * self.keep + value, self.rows * self.keep + 1

    def __call__(self):
        return self.total / self.rows


def twin(counts, days=None, vectors=None, *, half_life=2000, window=None, ageing=True):
    """Scores, clusters, NN and CEN; `days` None: without times; not `ageing`: the horizon of topics."""
    n = len(counts)
    window = n if window is None else window
    tf = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)
    vectors = np.zeros((n, 1)) if vectors is None else vectors
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-30)[:, None]
    clock, keep, log_size = Clock(days, half_life), 0.5 ** (1 / half_life), 0.0
    member, square, size, last, refreshed = [], [], [], [], 0
    scores, nn, cen = np.ones(n), np.zeros(n), np.zeros(n)
    quick = 0.5 ** (1 / 500)
    short, strongest, words, meaning = Level(1.0, keep), Level(0.15, quick), Level(0.3, quick), Level(0.5, quick)
    for i in range(n):
        clock.advance()
        first = max(0, i - window)
        alive = i - first
        if i == 0 or i - refreshed >= min(100, max(1, i // 10), max(20, alive // 2)):
            refreshed = i
            idf2 = (np.log((1 + alive) / (1 + (counts[first:i] > 0).sum(axis=0))) + 0.5) ** 2.5
            norms = np.sqrt((tf**2 * idf2).sum(axis=1))
        past = np.arange(first, i)
        cosines = np.minimum(tf[past] @ (tf[i] * idf2) / np.maximum(norms[past] * norms[i], 1e-30), 1.0)
        is_short = (counts[i] > 0).sum() <= 30
        beta, join_beta, kappa = (0.3, 0.2, 0) if is_short else (0.6, 0.4, 3)
        beta, join_beta = beta * clock.strength, join_beta * clock.strength
        short.add(is_short)
        best, best_score, near_size = -1, 0.0, 1
        if alive and cosines.max() > 0:
            ages = (np.array(clock.day)[i] - np.array(clock.day)[past]) / clock.unit
            by_words = aged(cosines, ages, beta, kappa)
            top, learnt = [], []
            back = strongest() * short() ** 4 if days is not None and ageing and is_short else 0.0
            for j in sorted(np.flatnonzero(by_words), key=lambda j: -by_words[j])[:4]:
                one = (tf[past[j]] * tf[i] * idf2).max() / (norms[past[j]] * norms[i])
                c = max(0.0, cosines[j] - 0.5 * (1 - cosines[j]) * (one - back))
                learnt.append([(strongest, one)])
                if vectors[i].any() and vectors[past[j]].any():
                    v = unit[i] @ unit[past[j]]
                    learnt[-1] += [(words, c), (meaning, v)]
                    c = 0.7 * c + 0.3 * np.clip(v - meaning() + words(), 0, 1)
                top.append(aged(c, ages[j], beta, kappa) * ((1 + i) / (301 + i)) ** (0.2 * (1 - c)))
            for level, value in learnt[0]:
                level.add(value)
            top = sorted(top, reverse=True)[:3]
            for c in range(len(square)):
                mine = [j for j in range(alive) if member[past[j]] == c]
                if not mine or cosines[mine].sum() <= 0:
                    continue
                cosine = cosines[mine].sum() / np.sqrt(square[c])
                capped = min(cosine, 1.0)
                loss = 0.8 * clock.strength * (1 - np.exp(-(clock.tick[i] - clock.tick[last[c]]) / 30))
                if capped * (1 - loss * (1 - capped) ** kappa) > cen[i]:
                    cen[i], near_size = capped * (1 - loss * (1 - capped) ** kappa), size[c]
                score = aged(capped, (clock.day[i] - clock.day[last[c]]) / clock.unit, join_beta, kappa)
                if score > best_score:
                    best, best_score, best_cosine = c, score, cosine
            larger = np.exp(log_size / (1 - keep ** (i + 201))) - 1
            z = larger / (larger + 20 * (1 - keep ** (i + 1)))
            w = 0.67 * (0.75 * np.exp(log_size) / (np.exp(log_size) + 20) + 0.25 * z)
            z, w = z * (1 - top[0]), w * (1 - top[0])
            nn[i] = (1 - z) * top[0] + z * sum(top) / 3
            scores[i] = 1 - (1 - w) * nn[i] - w * cen[i]
            if i >= 20:
                at = int(np.argmax(cosines > cosines.max() - 1e-12))  # of equals the oldest
                clock.learn(alive - at, cosines[at], alive)
        log_size = keep * log_size + (1 - keep) * np.log(near_size)
        if best_score > 0.12:
            square[best] += 1 + 2 * best_cosine * np.sqrt(square[best])
            size[best] += 1
        else:
            best = len(square)
            square.append(1.0)
            size.append(1)
            last.append(i)
        last[best] = i
        member.append(best)
        if i >= window:  # the oldest row leaves its cluster as if it had been an average member
            c = member[i - window]
            m = size[c]
            if m > 1:
                square[c] = m - 1 + (m - 1) * (m - 2) * max(0.0, square[c] - m) / (m * (m - 1))
            size[c] = m - 1
    return scores, np.array(member), nn, cen


def follow(detector, counts, times=None, vectors=None, batch=57):
    """Scores and clusters, batch by batch, the vocabulary growing."""
    scores, labels = [], []
    for begin in range(0, len(counts), batch):
        cut = slice(begin, begin + batch)
        seen = np.flatnonzero(counts[: begin + batch].any(axis=0)).max() + 1
        seen = max(seen, getattr(detector, "n_features_in_", 0))
        scores.append(
            detector.score_then_learn(
                sp.csr_matrix(counts[cut, :seen]),
                times=None if times is None else times[cut],
                vectors=None if vectors is None else vectors[cut],
            )
        )
        labels.append(detector.labels_)
    return np.concatenate(scores), np.concatenate(labels)
