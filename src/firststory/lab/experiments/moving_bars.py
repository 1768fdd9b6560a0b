"""Moving bars: are factors followed in their row while they move?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from firststory.arrays import Floats
from firststory.datasets.bars import SIDE, make_moving_bars, mix_bars
from firststory.topics.lineage import match_topics
from firststory.topics.online_nmf import OnlineNMF

TITLE = "Moving bars: topics that keep their row while they move"


STEPS = 8
FOLLOWED_COSINE = 0.95
"""Mean cosine with the true bar from which a moving bar counts as followed."""
FROZEN_COSINE = 0.5
"""Mean cosine below which it counts as lost."""
REFERENCE = {0.0: "1.00", 0.3: "1.00", 1.0: "0.998", 3.0: "0.24", 10.0: "0.20"}
MEMORIES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
SOLVERS = {"multiplicative": "`[Lambda H; U]`", "hals": "HALS"}

Scores = dict[tuple[str, float, float], tuple[float, float, float]]
"""(solver, lowest, memory) -> mean over seeds of: movers, still, rows kept."""

TEXT = """\
Two short bars move one pixel per step for {steps} steps, one to the right and one upwards; four stand still. 60
samples per step, {seeds} seeds. Cosine of each factor with the true bar in the row where step 0 put it, averaged over
steps 1 to {steps}; *rows kept*: share of the steps and factors in which a new matching gives the same row. The
reference is an independent implementation whose upward bar stopped after step 5.

{table}

{verdict}

![the factors in their rows over the steps](moving-bars-factors.png)

![similarity of each topic with itself one step earlier](moving-bars-similarity.png)
"""


def run(*, quick: bool, out: Path) -> str:
    """The table over memories and solvers, and the figures."""
    seeds = 1 if quick else 5
    scores: Scores = {}
    lines = [
        "| lowest | memory | reference: movers | multiplicative: movers, still, rows kept | HALS, 5 rounds: the same |",
        "|---|---|---|---|---|",
    ]
    for lowest in (0.0,) if quick else (0.0, 0.3):
        for memory in (1.0,) if quick else MEMORIES:
            cells = []
            for solver in SOLVERS:
                runs = [_follow(seed, lowest, solver=solver, memory=memory)[0] for seed in range(seeds)]
                movers, still, kept = np.mean(runs, axis=0).tolist()
                scores[solver, lowest, memory] = (movers, still, kept)
                cells.append(f"{movers:.3f}, {still:.3f}, {kept:.2f}")
            said = REFERENCE.get(memory, "") if lowest == 0.0 else ""
            lines.append(f"| {lowest} | {memory:g} | {said} | {cells[0]} | {cells[1]} |")
    _draw(out, seeds)
    return TEXT.format(steps=STEPS, seeds=seeds, table="\n".join(lines), verdict=_verdict(scores))


def _verdict(scores: Scores) -> str:
    """Up to which memory each solver follows the bars, and whether that is the paper's claim."""
    lines = []
    for solver, name in SOLVERS.items():
        parts = []
        for lowest in sorted({lowest for _, lowest, _ in scores}):
            movers = {memory: score[0] for (s, low, memory), score in scores.items() if (s, low) == (solver, lowest)}
            followed = [memory for memory, cosine in movers.items() if cosine >= FOLLOWED_COSINE]
            frozen = [memory for memory, cosine in movers.items() if cosine < FROZEN_COSINE]
            until = f"up to memory {max(followed):g}" if followed else "with no memory that was tried"
            lost = f", and loses them from {min(frozen):g} on" if frozen else ""
            parts.append(f"with lowest {lowest:g} {until}{lost}")
        lines.append(f"- {name} follows the moving bars (mean cosine at least {FOLLOWED_COSINE}) " + "; ".join(parts))
    kept = min(score[2] for (solver, _, memory), score in scores.items() if solver == "multiplicative" and memory <= 1)
    low = min(score[0] for (solver, _, memory), score in scores.items() if solver == "multiplicative" and memory <= 1)
    holds = "Reproduced" if low >= FOLLOWED_COSINE else "Not reproduced"
    lines.append(
        f"- Published: each moving bar is followed in one row. **{holds}** with the paper's `[Lambda H; U]` and past "
        f"topics that weigh at most one average document: the movers' mean cosine is at least {low:.3f}, and "
        f"at least {kept:.0%} of the rows are kept."
    )
    return "\n".join(lines) + (
        "\n\nThe statistics of HALS hold documents instead of topics, so that a memory of 1 already weighs as much as "
        "the step itself. HALS is for streams that move slowly over many documents, where it is much faster "
        "(`firststory reproduce nmf-time`)."
    )


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


def _draw(out: Path, seeds: int) -> None:
    from matplotlib.figure import Figure

    runs = [_follow(seed, 0.0, solver="multiplicative", memory=1.0) for seed in range(seeds)]
    figure = Figure(figsize=(11, 7.6), layout="constrained")
    names = ["moves right", "moves up", "still", "still", "still", "still"]
    for bar, row in enumerate(figure.subplots(6, STEPS + 1)):
        for step, axes in enumerate(row):
            axes.imshow(runs[0][1][step][bar].reshape(SIDE, SIDE), cmap="Greys", vmin=0.0)
            axes.set(xticks=[], yticks=[])
            if bar == 0:
                axes.set_title(f"step {step}", fontsize="medium")
        row[0].set_ylabel(names[bar])
    figure.savefig(out / "moving-bars-factors.png", dpi=100)
    similarity = np.array([run[2] for run in runs])  # seed, step, bar
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.add_subplot()
    steps = range(1, STEPS + 1)
    for name, colour, bars in (
        ("moves right", "C0", [0]),
        ("moves up", "C1", [1]),
        ("the four still ones", "0.5", [2, 3, 4, 5]),
    ):
        values = similarity[:, :, bars].transpose(0, 2, 1).reshape(-1, STEPS)
        ax.fill_between(steps, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.2, linewidth=0)
        ax.plot(steps, values.mean(axis=0), marker="o", color=colour, label=name)
    ax.axhline(0.75, color="0.3", linestyle=":", linewidth=1, label="three of four pixels shared")
    ax.set(xlabel="step", ylabel="cosine with the step before", ylim=(0.6, 1.03))
    ax.set_title(f"[Λ H; U], memory 1: mean of {seeds} seeds, band: all of them", fontsize="medium")
    ax.grid(alpha=0.25)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    figure.savefig(out / "moving-bars-similarity.png", dpi=110)
