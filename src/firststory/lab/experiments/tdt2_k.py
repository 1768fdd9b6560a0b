"""TDT2: the average AUC against the number of atoms and against the running time (the appendix's Figure 1)."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from firststory.datasets.timesteps import tdt2_steps
from firststory.detectors.batch_l1 import BatchL1Dictionary
from firststory.detectors.online_l1 import OnlineL1Dictionary
from firststory.lab.experiments.dictionary_stream import CHOSEN_SETTINGS, follow

TITLE = "TDT2: AUC against running time and the number of atoms, k = 50 to 200"

PUBLISHED_ONLINE = 0.771
"""The average of the paper's per-step figures at k = 200."""


def run(*, quick: bool, out: Path) -> str:
    """The section; writes tdt2-k.png."""
    stream = tdt2_steps(quick=quick)
    sizes = (10, 20) if quick else (50, 100, 150, 200)
    results: dict[str, list[tuple[int, float, float]]] = {"online l1, 10 inner steps": [], "batch l1": []}
    for k in sizes:
        for name, detector in (
            ("online l1, 10 inner steps", OnlineL1Dictionary(n_atoms=k, **CHOSEN_SETTINGS)),
            ("batch l1", BatchL1Dictionary(n_atoms=k, init_rounds=CHOSEN_SETTINGS["init_rounds"])),
        ):
            outcome = follow(detector, stream)
            results[name].append((k, outcome.average, float(outcome.seconds.sum())))
    draw(results, out / "tdt2-k.png")
    lines = ["| method | k | average AUC | CPU seconds, all steps |", "|---|---|---|---|"]
    for name, points in results.items():
        lines += [f"| {name} | {k} | {auc:.3f} | {seconds:.2f} |" for k, auc, seconds in points]
    online, batch = (max(points, key=lambda point: point[1]) for points in results.values())
    return (
        "Average AUC with the protocol and the settings of `tdt2`, and the CPU seconds to score and learn all steps "
        "after the first, one thread.\n\n" + "\n".join(lines) + f"\n\nBest of each: online {online[1]:.3f} in "
        f"{online[2]:.2f} s (k = {online[0]}), batch {batch[1]:.3f} in {batch[2]:.2f} s (k = {batch[0]}).\n\n"
        "![AUC against running time](tdt2-k.png)\n"
    )


def draw(results: dict[str, list[tuple[int, float, float]]], path: Path) -> None:
    """One line per method over the running time, each point named by its k; and the published average."""
    figure, ax = plt.subplots(figsize=(5.8, 3.8), layout="constrained")
    for (name, points), marker in zip(results.items(), "so", strict=True):
        ax.plot([p[2] for p in points], [p[1] for p in points], marker=marker, label=name)
        for k, auc, seconds in points:
            ax.annotate(f"{k}", (seconds, auc), (0, 6), textcoords="offset points", ha="center", fontsize=8)
    ax.axhline(PUBLISHED_ONLINE, color="0.6", linestyle=":", linewidth=1, label="published, online, k = 200")
    ax.set(xlabel="CPU seconds to score and learn all steps", ylabel="average AUC", xscale="log")
    ax.margins(y=0.15)
    figure.legend(frameon=False, loc="outside upper center", ncols=3, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
