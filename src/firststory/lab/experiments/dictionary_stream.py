"""The papers' protocol for a dictionary on a labelled stream: score a timestep with the past, then learn it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from firststory.arrays import Floats
from firststory.datasets.timesteps import Timesteps
from firststory.evaluate.ranking import StepAuc, roc_auc_by_step

COUNTED_NOVEL = 5
"""Steps with fewer novel documents than this are printed, but not averaged: one document moves them by 0.2."""

# The multiplier was chosen on Reuters-21578, Timeline17 and 20 Newsgroups (groups arriving one after another), never on
# TDT2: `firststory reproduce l1-settings`.
CHOSEN_SETTINGS: dict[str, Any] = {"multiplier": "inner", "n_inner": 10, "init": "words", "init_rounds": 5}


@dataclass(frozen=True)
class Outcome:
    """Scores of every step after the first, and the CPU seconds that each took to score and learn."""

    auc: StepAuc
    scores: tuple[Floats, ...]
    seconds: Floats
    objective: tuple[Floats, ...] = ()
    """l(p, A), the paper's score; empty for a detector without one."""
    objective_auc: StepAuc | None = None

    @property
    def average(self) -> float:
        """Mean AUC over the steps with enough novel documents."""
        return average_auc(self.auc)

    def by_objective(self) -> Outcome:
        """The same run judged by the objective alone, without the detector's order among ties."""
        assert self.objective_auc is not None
        return Outcome(self.objective_auc, self.objective, self.seconds, self.objective, self.objective_auc)


def average_auc(auc: StepAuc) -> float:
    """Mean over the steps with enough novel documents."""
    return float(np.mean(auc.auc[auc.n_novel >= COUNTED_NOVEL]))


def follow(detector: Any, stream: Timesteps, *, once: bool = True, objective: bool = False) -> Outcome:
    """The first step initialises; each later one is scored and learnt. Without `once`, in two calls.

    `objective` asks for the paper's score as well, outside the clock.
    """
    detector.fit(stream.rows[0])
    scores, pure, seconds = [], [], []
    for rows in stream.rows[1:]:
        if objective:
            pure.append(detector.objective(rows))
        start = time.process_time()
        if once:
            scores.append(detector.score_then_learn(rows))
        else:  # a sequential detector would judge a row by its own timestep too
            scores.append(detector.novelty(rows))
            detector.partial_fit(rows)
        seconds.append(time.process_time() - start)
    steps = np.repeat(np.arange(1, len(scores) + 1), [rows.shape[0] for rows in stream.rows[1:]])
    novel = np.concatenate(stream.novel[1:])
    auc = roc_auc_by_step(novel, np.concatenate(scores), steps)
    pure_auc = roc_auc_by_step(novel, np.concatenate(pure), steps) if objective else None
    return Outcome(auc, tuple(scores), np.array(seconds), tuple(pure), pure_auc)


def auc_table(outcomes: dict[str, Outcome], published: dict[str, dict[int, float]]) -> str:
    """Methods down, timesteps across, and the average; published rows have a figure for some of the steps."""
    first = next(iter(outcomes.values())).auc
    shown = [i for i in range(first.step.size) if not np.isnan(first.auc[i])]
    heads = [f"{first.step[i]} ({first.n_novel[i]})" for i in shown]
    lines = [f"| method | {' | '.join(heads)} | average |", "|---|" + "---|" * (len(shown) + 1)]
    for name, outcome in outcomes.items():
        cells = " | ".join(f"{outcome.auc.auc[i]:.3f}" for i in shown)
        lines.append(f"| {name} | {cells} | **{outcome.average:.3f}** |")
    for name, figures in published.items():
        cells = " | ".join(f"{figures[t]:.3f}" if (t := int(first.step[i])) in figures else "" for i in shown)
        lines.append(f"| *{name}* | {cells} | *{np.mean(list(figures.values())):.3f}* |")
    return "\n".join(lines)
