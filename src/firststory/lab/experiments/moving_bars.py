"""Moving bars: are factors followed in their row while they move?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from firststory.arrays import Floats
from firststory.datasets.bars import SIDE, make_moving_bars, mix_bars
from firststory.evaluate.topics import match_topics
from firststory.topics.online_nmf import OnlineNMF

TITLE = "Moving bars: topics that keep their row while they move"


STEPS = 8
REFERENCE = {0.0: "1.00", 0.3: "1.00", 1.0: "0.998", 3.0: "0.24", 10.0: "0.20"}

TEXT = """\
Two short bars move one pixel a step, one to the right and one upwards, four stand still; 60 samples a step, {steps}
steps, {seeds} seeds. Cosine of each factor with the true bar in the row where step 0 put it, averaged over steps 1 to
{steps}; *rows kept*: part of the steps and factors in which a fresh matching gives the same row.

{table}

**Reproduced**: with the paper's short factorisation of `[Lambda H; U]` (`solver="multiplicative"`) topics of weight
up to one average document follow the bars; heavier ones freeze. The Gram statistics of `solver="hals"` hold documents
instead of topics, so a past of one step already weighs as much as the present: where topics move within a step, they
need a `memory` well below 1 and several rounds, and where no sample is nearly pure (lowest 0.3) they follow only
without any memory. They are for streams that move slowly, where they are many times faster.

![the factors in their rows over the steps](moving-bars-factors.png)

![similarity of each topic with itself one step earlier](moving-bars-similarity.png)
"""


def run(*, quick: bool, out: Path) -> str:
    """The table over memories and solvers, and the figures."""
    seeds = 1 if quick else 5
    head = [
        "lowest",
        "memory",
        "reference: movers",
        "multiplicative: movers, still, rows kept",
        "HALS, 5 rounds: the same",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for lowest in (0.0,) if quick else (0.0, 0.3):
        for memory in (1.0,) if quick else (0.0, 0.1, 0.3, 1.0, 3.0, 10.0):
            cells = [
                _say([_follow(seed, lowest, solver=solver, memory=memory)[0] for seed in range(seeds)])
                for solver in ("multiplicative", "hals")
            ]
            said = REFERENCE.get(memory, "") if lowest == 0.0 else ""
            lines.append(f"| {lowest} | {memory:g} | {said} | {cells[0]} | {cells[1]} |")
    _draw(out)
    return TEXT.format(steps=STEPS, seeds=seeds, table="\n".join(lines))


def _follow(seed: int, lowest: float, **options: Any) -> tuple[tuple[float, float, float], list[Floats], list[Floats]]:
    """(movers, still, rows kept), the topics of every step in the order of the true bars, and their similarities."""
    rng = np.random.default_rng(seed)
    model = OnlineNMF(
        6, init="documents", growth=1.02, sweeps=500, rounds=5, random_state=int(rng.integers(2**31)), **options
    )
    rows = np.arange(6)
    cosines, kept, topics, similarities = [], [], [], []
    for step in range(STEPS + 1):
        bars = make_moving_bars(step)
        model.partial_fit(mix_bars(bars, 60, lowest, rng))
        matched, _ = match_topics(model.components_, bars)
        rows = matched if step == 0 else rows
        topics.append(model.components_[rows])
        if step:
            cosines.append(np.sum(topics[-1] * bars, axis=1) / np.linalg.norm(bars, axis=1))
            kept.append(float(np.mean(matched == rows)))
            similarities.append(np.sum(topics[-1] * topics[-2], axis=1))
    table = np.array(cosines)
    return (float(table[:, :2].mean()), float(table[:, 2:].mean()), float(np.mean(kept))), topics, similarities


def _say(results: list[tuple[float, float, float]]) -> str:
    return "{:.3f}, {:.3f}, {:.2f}".format(*np.mean(results, axis=0))


def _draw(out: Path) -> None:
    from matplotlib.figure import Figure

    _, topics, similarities = _follow(0, 0.0, solver="multiplicative", memory=1.0)
    figure = Figure(figsize=(11, 7.6), layout="constrained")
    names = ["moves right", "moves up", "still", "still", "still", "still"]
    for bar, row in enumerate(figure.subplots(6, STEPS + 1)):
        for step, axes in enumerate(row):
            axes.imshow(topics[step][bar].reshape(SIDE, SIDE), cmap="Greys", vmin=0.0)
            axes.set(xticks=[], yticks=[])
            if bar == 0:
                axes.set_title(f"step {step}", fontsize="medium")
        row[0].set_ylabel(names[bar])
    figure.savefig(out / "moving-bars-factors.png", dpi=100)
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    ax = figure.add_subplot()
    for bar, curve in enumerate(np.array(similarities).T):
        moves = bar < 2
        ax.plot(
            range(1, STEPS + 1),
            curve,
            marker="o",
            color=f"C{bar}" if moves else "0.6",
            label=names[bar] if bar < 3 else None,
        )
    ax.axhline(0.75, color="0.4", linestyle=":", linewidth=1)
    ax.text(1, 0.757, "three of four pixels shared", fontsize="small", color="0.3", va="bottom")
    ax.set(xlabel="step", ylabel="cosine with the step before", ylim=(0.6, 1.03))
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, loc="center right")
    figure.savefig(out / "moving-bars-similarity.png", dpi=110)
