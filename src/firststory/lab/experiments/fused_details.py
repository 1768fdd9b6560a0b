"""What each part of the default detector is worth: one thing changed at a time, on every development stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from firststory.arrays import Floats
from firststory.detectors.dirichlet_mixture import DirichletMixture
from firststory.detectors.fused_novelty import RULE, FusedNovelty
from firststory.detectors.online_l1 import OnlineL1Dictionary
from firststory.kernels.fused.rule import Ageing, Rule
from firststory.lab.experiments.fused_measure import RecordingNovelty, Setting, Yardstick, fused_scores
from firststory.lab.experiments.fused_novelty import table
from firststory.lab.experiments.fused_streams import LabelledRows, count_rows, development_streams
from firststory.lab.experiments.plain_neighbour import tfidf_steps
from firststory.units import DAY_SECONDS

TITLE = "What each part of the default detector is worth"

MEANINGS = (0.0, 0.15, 0.5)
"""Weights of the vectors of short texts beside the 0.3 that was chosen."""

RULES = {
    "idf + 0": RULE._replace(idf_plus=0.0),
    "idf + 1": RULE._replace(idf_plus=1.0),
    "idf ^ 1.5": RULE._replace(idf_power=1.5),
    "short rows age as before": RULE._replace(short=Ageing(0.4, 0.3, 1.0)),
    "long rows age evenly": RULE._replace(long=RULE.short),
    "half-life 500": RULE._replace(half_life=500.0),
    "one term counts in full": RULE._replace(single_term=0.0),
    "ages in full": RULE._replace(full_share=1e-9),
    "ages in days": RULE._replace(unit_part=1e9),
}

PARTS = {
    "neighbour alone": Setting(max_weight=0.0),
    "nearest one, no clusters": Setting(max_weight=0.0, best=1),
    "nearest one": Setting(best=1),
    "clusters from any size": Setting(large_size=0.0),
}

MOST_DOCUMENTS, LONGEST_FOR_DICTIONARY = 10_000, 3000

INTRODUCTION = (
    "Share of the plain neighbour's topic-weighted cost, one thing changed at a time, on the first "
    f"{MOST_DOCUMENTS:,} documents of each stream; the page before: [how good it is](fused-novelty.md). *Now*: the default. *Neighbour alone*: w = 0. *Nearest one*: NN is the best "
    "neighbour, not the mean of three. *Clusters from any size*: z = 1. *One term counts in full*: a match that rests on "
    "one term loses nothing. *Ages in full*: s = 1 whatever chance explains. *Ages in days*: u = 1 day. *Ten a day*: documents without times are ten "
    "to a day. *Uniform clock*: times replaced by equal gaps over the same span, so that no silence before an event "
    "can betray it. *Capitals once*: capitalised words count like others. *Short like long*: without the vectorizer's "
    "rules for short texts. *Meaning*: the weight of short texts' vectors (0.3 is the default). *Mixture*: "
    "`DirichletMixture()` on counts. *Dictionary*: `OnlineL1Dictionary(n_atoms=50)` in steps of 200 documents, on "
    f"streams of up to {LONGEST_FOR_DICTIONARY:,} documents."
)


def run(*, quick: bool, out: Path) -> str:
    """The tables as Markdown."""
    timed: dict[str, dict[str, float]] = {}
    untimed: dict[str, dict[str, float]] = {}
    for whole in development_streams(quick=quick):
        stream = whole if len(whole.labels) <= MOST_DOCUMENTS else whole.beginning(MOST_DOCUMENTS)
        yardstick = Yardstick(stream, 0)
        if stream.times is not None:
            timed[stream.name] = _shares(yardstick, timed=True)
        untimed[stream.name] = _shares(yardstick, timed=False)
    return "\n\n".join([INTRODUCTION, "### With times", _table(timed), "### Without times", _table(untimed)])


def _shares(yardstick: Yardstick, *, timed: bool) -> dict[str, float]:
    stream, about = yardstick.stream, yardstick.stream.vectors
    times = stream.times if timed else None
    recording = RecordingNovelty()
    found = {"now": recording.score_then_learn(stream.effective, times=times, vectors=about)}
    found |= {name: recording.score_with(setting) for name, setting in PARTS.items()}
    found |= {
        name: ruled(rule)().score_then_learn(stream.effective, times=times, vectors=about)
        for name, rule in RULES.items()
    }
    n = len(stream.labels)
    if timed and stream.times is not None:
        found["uniform clock"] = FusedNovelty().score_then_learn(
            stream.effective, times=np.linspace(stream.times[0], stream.times[-1], n), vectors=about
        )
        found["mixture"] = DirichletMixture().score_then_learn(stream.plain, times=times)
        if n <= LONGEST_FOR_DICTIONARY:
            found["dictionary"] = _dictionary(stream)
    else:
        ten_a_day = np.arange(n) * DAY_SECONDS / 10
        found["ten a day"] = FusedNovelty().score_then_learn(stream.effective, times=ten_a_day, vectors=about)
    found["capitals once"] = FusedNovelty().score_then_learn(stream.plain, times=times, vectors=about)
    if stream.texts is not None:
        found["short like long"] = FusedNovelty().score_then_learn(
            count_rows(stream.texts, short=0), times=times, vectors=about
        )
    if about is not None and about.any():
        for weight in MEANINGS:
            found[f"meaning {weight:g}"] = fused_scores(stream, timed=timed, meaning=weight)
    return {name: yardstick.share_of(score) for name, score in found.items()}


def ruled(rule: Rule) -> type[FusedNovelty]:
    """The detector with other constants."""

    class Ruled(FusedNovelty):
        def _rule(self) -> Rule:
            return rule

    return Ruled


def _dictionary(stream: LabelledRows) -> Floats:
    detector: Any = OnlineL1Dictionary(n_atoms=50, random_state=0)
    steps = (normalize(rows, norm="l1") for rows in tfidf_steps(stream.plain, 200))
    return np.concatenate([detector.score_then_learn(rows) for rows in steps])


def _table(found: dict[str, dict[str, float]]) -> str:
    names = list(dict.fromkeys(name for shares in found.values() for name in shares))
    rows = [[stream, *(f"{shares[n]:.2f}" if n in shares else "-" for n in names)] for stream, shares in found.items()]
    events = [shares for stream, shares in found.items() if "(broad)" not in stream]
    means = []
    for name in names:
        both = [(shares[name], shares["now"]) for shares in events if name in shares]
        means.append("**{:.3f}** / {:.3f}".format(*np.mean(both, axis=0)) if both else "-")
    return table(["stream", *names], [*rows, ["**mean without broad ones** / now on the same", *means]])
