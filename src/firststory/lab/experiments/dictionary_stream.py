"""The papers' protocol for a dictionary on a labelled stream: score a timestep with the past, then learn it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from firststory.arrays import Floats
from firststory.datasets.timesteps import Timesteps
from firststory.evaluate.ranking import StepAuc, roc_auc_by_step

FEW = 5
"""Steps with fewer novel documents than this are printed, but not averaged: one document moves them by 0.2."""

# Chosen on Reuters-21578, Timeline17 and 20 Newsgroups (groups arriving one after another), never on TDT2:
# `firststory reproduce l1-settings`.
CHOSEN: dict[str, Any] = {"multiplier": "inner", "n_inner": 10, "init": "words", "init_rounds": 5}


@dataclass(frozen=True)
class Outcome:
    """Scores of every step after the first, and the CPU seconds that each took to score and learn."""

    auc: StepAuc
    scores: tuple[Floats, ...]
    seconds: Floats

    @property
    def average(self) -> float:
        """Mean AUC over the steps with enough novel documents."""
        return float(np.mean(self.auc.auc[self.auc.n_novel >= FEW]))


def follow(detector: Any, stream: Timesteps, *, once: bool = True) -> Outcome:
    """The first step initialises; each later one is scored and learnt. Without `once`, in two calls."""
    detector.fit(stream.rows[0])
    scores, seconds = [], []
    for rows in stream.rows[1:]:
        start = time.process_time()
        if once:
            scores.append(detector.score_then_learn(rows))
        else:  # a sequential detector would judge a row by its own timestep too
            scores.append(detector.novelty(rows))
            detector.partial_fit(rows)
        seconds.append(time.process_time() - start)
    steps = np.repeat(np.arange(1, len(scores) + 1), [rows.shape[0] for rows in stream.rows[1:]])
    auc = roc_auc_by_step(np.concatenate(stream.novel[1:]), np.concatenate(scores), steps)
    return Outcome(auc, tuple(scores), np.array(seconds))


def auc_table(outcomes: dict[str, Outcome], published: dict[str, str]) -> str:
    """Methods down, timesteps across, with the averages published and measured."""
    first = next(iter(outcomes.values())).auc
    shown = [i for i in range(first.step.size) if not np.isnan(first.auc[i])]
    heads = [f"{first.step[i]} ({first.n_novel[i]})" for i in shown]
    lines = [
        f"| method | {' | '.join(heads)} | average | published |",
        "|---|" + "---|" * (len(shown) + 2),
    ]
    for name, outcome in outcomes.items():
        cells = " | ".join(f"{outcome.auc.auc[i]:.3f}" for i in shown)
        lines.append(f"| {name} | {cells} | **{outcome.average:.3f}** | {published.get(name, '')} |")
    return "\n".join(lines)
