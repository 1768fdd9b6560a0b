"""The mixture written from its definition: dense arrays, no index, no cache, every cluster for every document."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp


def log_likelihood(x, counts, precision, base):
    """(A4), the multinomial coefficient left out."""
    prior = precision * base
    used = x > 0
    words = gammaln(prior + counts + x)[used] - gammaln(prior + counts)[used]
    return gammaln(precision + counts.sum()) - gammaln(precision + counts.sum() + x.sum()) + words.sum()


class Twin:
    def __init__(self, precision, base, gamma, *, soft=False, full=False, pd_eps=1e-6, temper=1.0, length_cap=None,
                 decay=None, window=None, max_age=None):  # fmt: skip
        self.precision, self.base, self.gamma = precision, base, gamma
        self.soft, self.full, self.pd_eps = soft, full, pd_eps
        self.temper, self.length_cap, self.decay = temper, length_cap, decay
        self.window, self.max_age = window, max_age
        self.counts, self.mass, self.identity, self.row, self.time = [], [], [], [], []
        self.opened = self.seen = 0
        self.now = None
        self.margins = []  # by how much each decision was taken

    def posterior(self, x, gamma, now):
        tau = self.temper
        if self.length_cap is not None and x.sum() > self.length_cap:
            tau *= self.length_cap / x.sum()
        known = [tau * log_likelihood(x, s, self.precision, self.base) + np.log(n)
                 for s, n in zip(self.counts, self.mass, strict=True)]  # fmt: skip
        new = tau * log_likelihood(x, np.zeros_like(x), self.precision, self.base) + np.log(gamma)
        return np.array(known), new

    def step(self, x, now=None):
        """Score and learn one document: (log-odds, label)."""
        now = self.seen + 1.0 if now is None else now
        if self.decay is not None and self.now is not None:
            fade = np.exp(-(now - self.now) / self.decay)
            self.counts = [s * fade for s in self.counts]
            self.mass = [n * fade for n in self.mass]
        self.now = now
        keep = [j for j in range(len(self.mass))
                if (self.window is None or self.row[j] >= self.seen + 1 - self.window)
                and (self.max_age is None or self.time[j] >= now - self.max_age)]  # fmt: skip
        for name in ("counts", "mass", "identity", "row", "time"):
            setattr(self, name, [getattr(self, name)[j] for j in keep])
        gamma = self.gamma(self.seen + 1)
        known, new = self.posterior(x, gamma, now)
        if x.sum() == 0:
            return (new - logsumexp(known) if len(known) else 0.0), -1
        everything = logsumexp(np.append(known, new))
        odds = new - logsumexp(known) if len(known) else 1e6
        top = np.sort(np.append(known, new))[-2:]
        self.margins.append(np.ptp(top) if len(top) > 1 else np.inf)
        opens = not len(known) or new >= known.max()
        best = len(known) if opens else int(known.argmax())
        shares = np.exp(known - everything)
        if self.soft:
            for j, share in enumerate(shares):
                if share > self.pd_eps:
                    self.counts[j] = self.counts[j] + share * x
                    self.mass[j] += share
        if opens:
            for name, value in (("counts", np.zeros_like(x)), ("mass", 0.0), ("identity", self.opened),
                                ("row", 0), ("time", 0.0)):  # fmt: skip
                getattr(self, name).append(value)
            self.opened += 1
        if opens or not self.soft:
            share = np.exp(new - everything) if self.soft and not self.full else 1.0
            self.counts[best] = self.counts[best] + share * x
            self.mass[best] += share
        self.seen += 1
        self.row[best], self.time[best] = self.seen, now
        return odds, self.identity[best]
