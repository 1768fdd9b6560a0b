"""TDT2 with the paper's protocol: AUC per timestep, ROC, and the time of online against batch learning."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from firststory.arrays import Floats
from firststory.datasets.timesteps import Timesteps, tdt2_steps
from firststory.detectors.batch_l1 import BatchL1Dictionary
from firststory.detectors.batch_l2 import BatchL2Dictionary
from firststory.detectors.nearest_neighbour import NearestNeighbour
from firststory.detectors.online_l1 import OnlineL1Dictionary
from firststory.evaluate.ranking import roc_curve
from firststory.lab.experiments.dictionary_stream import CHOSEN, FEW, Outcome, auc_table, follow

TITLE = "Novel documents in TDT2: online and batch l1-dictionaries (Kasiviswanathan et al. 2012)"

ONLINE, CARRY = "online l1 (chosen: inner, 10)", "online l1 (carry, to the letter)"
BATCH, BATCH_L2, NEIGHBOUR = "batch l1", "batch l2 (squared)", "nearest neighbour"
PUBLISHED = {ONLINE: "0.771", CARRY: "0.771", BATCH: "0.788"}
RATIO = "The paper: batch takes 5.4 times as long at the first step, growing to 11.5 at the last."


def run(*, quick: bool, out: Path) -> str:
    """The section; writes tdt2-roc.png and tdt2-time.png."""
    stream = tdt2_steps(quick=quick)
    k, growth = (40, 4) if quick else (200, 10)
    detectors = {
        ONLINE: OnlineL1Dictionary(n_atoms=k, **CHOSEN),
        CARRY: OnlineL1Dictionary(n_atoms=k, init_rounds=CHOSEN["init_rounds"]),
        BATCH: BatchL1Dictionary(n_atoms=k, growth=growth, init_rounds=CHOSEN["init_rounds"]),
        BATCH_L2: BatchL2Dictionary(n_atoms=k, growth=growth, max_rounds=3),
        NEIGHBOUR: NearestNeighbour(),
    }
    outcomes = {name: follow(detector, stream, once=name != NEIGHBOUR) for name, detector in detectors.items()}
    _roc(outcomes, stream, out / "tdt2-roc.png")
    ratio = outcomes[BATCH].seconds / outcomes[ONLINE].seconds
    letter = outcomes[BATCH].seconds / outcomes[CARRY].seconds
    draw_time({name: outcome.seconds for name, outcome in outcomes.items()}, out / "tdt2-time.png")
    online, grown = outcomes[ONLINE].seconds, outcomes[BATCH].seconds[-1] / outcomes[BATCH].seconds[0]
    return f"""{stream.rows[0].shape[0]} documents initialise, then {len(stream.rows) - 1} steps of as many, \
{stream.rows[0].shape[1]:,} terms, k = {k}, lambda = 0.1.
In brackets: novel documents of the step. Averages are over the steps with at least {FEW}. TF-IDF uses document
frequencies up to the step, never later. Settings were chosen on other corpora (`l1-settings`), though about 25 had been
looked at here before; differences below 0.02 mean nothing. Nearest neighbour is the honest bar for a detector.

{auc_table(outcomes, PUBLISHED)}

![ROC](tdt2-roc.png)

CPU seconds a timestep, one thread:

{_seconds(outcomes)}

Batch takes {ratio[0]:.1f} times as long as online (chosen) at the first step and {ratio[-1]:.1f} at the last;
{letter[0]:.1f} and {letter[-1]:.1f} times as long as the single step of the paper (carry). {RATIO}
The last online step took {online[-1] / online[0]:.2f} times as long as the first, batch {grown:.2f} times.

![Time](tdt2-time.png)
"""


def _seconds(outcomes: dict[str, Outcome]) -> str:
    shown = [name for name in outcomes if name != NEIGHBOUR]
    steps = range(outcomes[ONLINE].seconds.size)
    lines = [f"| method | {' | '.join(str(t + 1) for t in steps)} |", "|---|" + "---|" * len(steps)]
    lines += [f"| {name} | {' | '.join(f'{outcomes[name].seconds[t]:.2f}' for t in steps)} |" for name in shown]
    return "\n".join(lines)


def _roc(outcomes: dict[str, Outcome], stream: Timesteps, path: Path) -> None:
    figure, ax = plt.subplots(figsize=(6.2, 5.2), layout="constrained")
    # Ranks within a step, so that steps of different level can share one curve.
    enough = [t for t, novel in enumerate(stream.novel[1:]) if novel.sum() >= FEW and not novel.all()]
    for name, outcome in outcomes.items():
        if not enough:
            continue
        ranks = np.concatenate([np.argsort(np.argsort(outcome.scores[t])) for t in enough])
        false, true = roc_curve(np.concatenate([stream.novel[t + 1] for t in enough]), ranks)
        ax.plot(false, true, label=f"{name}: {outcome.average:.3f}", linewidth=1.6)
    ax.plot([0, 1], [0, 1], color="0.75", linestyle=":", linewidth=1)
    ax.set(xlabel="known documents reported as novel", ylabel="novel documents found", xlim=(0, 1), ylim=(0, 1.01))
    ax.set_title("TDT2, steps with novel topics, ranked within a step")
    ax.legend(loc="lower right", fontsize=8, frameon=False, title="method: average AUC", title_fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_time(seconds: dict[str, Floats], path: Path) -> None:
    """CPU seconds a timestep; the numbers: how many times as long batch learning takes as the paper's online step."""
    figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    steps = np.arange(1, seconds[BATCH].size + 1)
    for name, marker in ((BATCH, "o"), (ONLINE, "s"), (CARRY, "^")):
        ax.plot(steps, seconds[name], marker=marker, label=name)
    for t, batch, online in zip(steps, seconds[BATCH], seconds[CARRY], strict=True):
        ax.annotate(f"{batch / online:.1f}×", (t, batch), (0, 7), textcoords="offset points", ha="center", fontsize=8)
    ax.set(xlabel="timestep", ylabel="CPU seconds to score and learn", yscale="log", xticks=steps)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("")
    ax.margins(y=0.15)
    figure.legend(frameon=False, loc="outside upper center", ncols=3, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
