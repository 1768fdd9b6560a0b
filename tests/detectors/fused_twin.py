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


class Clock:
    """Days and capped days; without days of its own, 1 / tau of one per document, tau the median lag of matches."""

    def __init__(self, days, half_life):
        self.days, self.keep, self.tau = days, 0.5 ** (1 / half_life), 10.0
        self.day, self.tick, self.seen, self.lags = [], [], 0, []

    def advance(self):
        before, i = (self.day[-1] if self.day else 0.0), self.seen
        now = self.days[i] if self.days is not None else before + (1 / self.tau if i else 0.0)
        gap = now - before if i else 0.0
        if self.days is not None and i > 20:
            gap = min(gap, max(50 * self.tick[-1] / i, 1.0))
        self.day.append(now)
        self.tick.append((self.tick[-1] if self.tick else 0.0) + gap)
        self.seen += 1

    def learn(self, lag, cosine):
        self.lags = [(b, w * self.keep) for b, w in self.lags]
        self.lags.append((int(np.clip(2 * (np.log2(lag / 10) + 16), 0, 63)), cosine**4))
        mass = np.bincount([b for b, _ in self.lags], [w for _, w in self.lags], 64) + np.eye(64)[32]
        total = np.cumsum(mass)
        b = int(np.argmax(total >= total[-1] / 2))
        self.tau = 10 * 2 ** ((b + (total[-1] / 2 - total[b] + mass[b]) / mass[b]) / 2 - 16)


def twin(counts, days=None, vectors=None, *, half_life=2000, window=None):
    """Scores, clusters, NN and CEN; `days` None: without times."""
    n = len(counts)
    window = n if window is None else window
    tf = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)
    vectors = np.zeros((n, 1)) if vectors is None else vectors
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-30)[:, None]
    clock, keep, log_size = Clock(days, half_life), 0.5 ** (1 / half_life), 0.0
    member, square, size, last, refreshed = [], [], [], [], 0
    scores, nn, cen = np.ones(n), np.zeros(n), np.zeros(n)
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
        beta, join_beta, kappa = (0.3, 0.2, 0) if (counts[i] > 0).sum() <= 30 else (0.6, 0.4, 3)
        best, best_score, near_size = -1, 0.0, 1
        if alive and cosines.max() > 0:
            ages = np.array(clock.day)[i] - np.array(clock.day)[past]
            by_words = aged(cosines, ages, beta, kappa)
            top = []
            for j in sorted(np.flatnonzero(by_words), key=lambda j: -by_words[j])[:4]:
                c = cosines[j]
                if vectors[i].any() and vectors[past[j]].any():
                    c = 0.7 * c + 0.3 * np.clip(unit[i] @ unit[past[j]], 0, 1)
                top.append(aged(c, ages[j], beta, kappa))
            top = sorted(top, reverse=True)[:3]
            for c in range(len(square)):
                mine = [j for j in range(alive) if member[past[j]] == c]
                if not mine or cosines[mine].sum() <= 0:
                    continue
                cosine = cosines[mine].sum() / np.sqrt(square[c])
                capped = min(cosine, 1.0)
                loss = 0.8 * (1 - np.exp(-(clock.tick[i] - clock.tick[last[c]]) / 30))
                if capped * (1 - loss * (1 - capped) ** kappa) > cen[i]:
                    cen[i], near_size = capped * (1 - loss * (1 - capped) ** kappa), size[c]
                score = aged(capped, clock.day[i] - clock.day[last[c]], join_beta, kappa)
                if score > best_score:
                    best, best_score, best_cosine = c, score, cosine
            z = np.exp(log_size) / (np.exp(log_size) + 20)
            nn[i] = (1 - z) * top[0] + z * sum(top) / 3
            scores[i] = 1 - (1 - 0.67 * z) * nn[i] - 0.67 * z * cen[i]
            if i >= 20:
                at = int(np.argmax(cosines > cosines.max() - 1e-12))  # of equals the oldest
                clock.learn(alive - at, cosines[at])
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
