"""TDT2: the average AUC against the number of atoms."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from firststory.datasets.timesteps import tdt2_steps
from firststory.detectors.batch_l1 import BatchL1Dictionary
from firststory.detectors.online_l1 import OnlineL1Dictionary
from firststory.lab.experiments.dictionary_stream import CHOSEN, follow

TITLE = "TDT2: AUC against the number of atoms, k = 50 to 200"


def run(*, quick: bool, out: Path) -> str:
    """The section; writes tdt2-k.png."""
    stream = tdt2_steps(quick=quick)
    sizes = (10, 20) if quick else (50, 100, 150, 200)
    online = [follow(OnlineL1Dictionary(n_atoms=k, **CHOSEN), stream).average for k in sizes]
    batch = [follow(BatchL1Dictionary(n_atoms=k, init_rounds=CHOSEN["init_rounds"]), stream).average for k in sizes]
    draw({"online l1": online, "batch l1": batch}, sizes, out / "tdt2-k.png")
    table = {"online l1": online, "batch l1": batch}
    lines = [f"| method | {' | '.join(f'k = {k}' for k in sizes)} |", "|---|" + "---|" * len(sizes)]
    lines += [f"| {name} | {' | '.join(f'{value:.3f}' for value in row)} |" for name, row in table.items()]
    return (
        "Average AUC with the protocol and the settings of `tdt2`; the paper has 0.771 online and 0.788 batch at "
        "k = 200.\n\n" + "\n".join(lines) + "\n\n![AUC against k](tdt2-k.png)\n"
    )


def draw(averages: dict[str, list[float]], sizes: tuple[int, ...], path: Path) -> None:
    """One line a method, and the published average."""
    figure, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    for (name, values), marker in zip(averages.items(), "so", strict=True):
        ax.plot(sizes, values, marker=marker, label=name)
    ax.axhline(0.771, color="0.6", linestyle=":", linewidth=1)
    ax.text(sizes[0], 0.773, "published, online, k = 200", fontsize=8, color="0.4")
    ax.set(xlabel="atoms at the beginning, k", ylabel="average AUC", xticks=sizes)
    ax.legend(frameon=False, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
