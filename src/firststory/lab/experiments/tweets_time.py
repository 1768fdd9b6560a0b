"""The time of batch against online learning on tweets (Kasiviswanathan et al. 2012, Figure 2b)."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from typing import Any

import numpy as np

from firststory.arrays import Floats
from firststory.datasets.streams import TextStream
from firststory.detectors.batch_l1 import BatchL1Dictionary
from firststory.detectors.online_l1 import OnlineL1Dictionary
from firststory.text import StreamVectorizer

FIRST_SHARE = 34_292 / 127_760
"""The share of its tweets that the paper initialises with."""

STEPS = 14
PUBLISHED_RATIOS = (10.8, 18.2)
NAMES = {"carry": "online l1, default", "inner": "online l1, 10 inner steps", "batch": "batch l1"}


def time_on_tweets(stream: TextStream, *, quick: bool) -> str:
    """A table of CPU seconds per step, and the ratios beside the published ones."""
    order = np.argsort(stream.times, kind="stable")[: 3000 if quick else None]
    texts = [re.sub(r"\bRT\b|@\w+", " ", stream.texts[i]) for i in order]
    first = round(FIRST_SHARE * len(texts))
    bounds = np.linspace(first, len(texts), (2 if quick else STEPS) + 1).astype(int)
    k = 20 if quick else 100
    detectors: dict[str, Any] = {
        "carry": OnlineL1Dictionary(n_atoms=k),
        "inner": OnlineL1Dictionary(n_atoms=k, multiplier="inner", n_inner=10),
        "batch": BatchL1Dictionary(n_atoms=k),
    }
    vectorizer = StreamVectorizer("en", norm="l1", urls="drop")
    rows = vectorizer.partial_fit_transform(texts[:first])
    for detector in detectors.values():
        detector.fit(rows)
    seconds: dict[str, list[float]] = {name: [] for name in detectors}
    for start, stop in pairwise(bounds.tolist()):
        rows = vectorizer.partial_fit_transform(texts[start:stop])
        for name, detector in detectors.items():
            begin = time.process_time()
            detector.score_then_learn(rows)
            seconds[name].append(time.process_time() - begin)
    spent = {name: np.array(values) for name, values in seconds.items()}
    return _text(spent, first, int(bounds[1] - bounds[0]), k)


def _text(spent: dict[str, Floats], first: int, step: int, k: int) -> str:
    n = spent["batch"].size
    lines = [f"| method | {' | '.join(str(t + 1) for t in range(n))} |", "|---|" + "---|" * n]
    lines += [f"| {NAMES[name]} | {' | '.join(f'{v:.2f}' for v in values)} |" for name, values in spent.items()]
    parts = []
    for name in ("carry", "inner"):
        ratio = spent["batch"] / spent[name]
        parts.append(
            f"{ratio[0]:.1f} times as long as *{NAMES[name]}* at the first step and {ratio[-1]:.1f} at the last"
        )
    low, high = PUBLISHED_RATIOS
    return (
        f"CPU seconds per step, one thread: {first:,} tweets initialise (the paper's share), then {n} steps of "
        f"{step:,} in order of time, k = {k}; the batch dictionary grows by ten atoms per step.\n\n"
        + "\n".join(lines)
        + f"\n\nBatch takes {'; '.join(parts)}. The paper, on its own tweets and with its own batch solver: {low}, "
        f"growing to {high}."
    )
