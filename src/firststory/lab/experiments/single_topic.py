"""The planted problem of the SpectralLeader paper, the learners that are compared, and tables and figures of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.evaluate.regret import word_space_regret
from firststory.evaluate.single_topic import LearningCurves, learning_curves
from firststory.plot.regret import regret as plot_regret
from firststory.topics.spectral_leader import SpectralLeader
from firststory.topics.stepwise_em import StepwiseEM

Learners = Mapping[str, Callable[[int], Any]]
Runs = dict[str, list[LearningCurves]]

WEIGHTS = np.array([0.15, 0.35, 0.5])
BLOCK_TOPICS = np.repeat([0, 1, 2], [15, 35, 50])
"""Topics of every hundred documents of the non-stochastic stream."""

COLOURS = {
    "SpectralLeader": "#0b5fa5",
    "SpectralLeader, reservoir 200": "#6baed6",
    "SpectralLeader + 2 EM steps": "#31a354",
    "EM 0.5": "#fdae6b",
    "EM 0.7": "#e6550d",
    "EM 0.9": "#8c2d04",
}


@dataclass(frozen=True)
class Setting:
    """K = d = L = 3; word j has probability p in topic j; batches of m documents, n steps."""

    p: float
    batch: int
    steps: int
    stochastic: bool = True

    @property
    def name(self) -> str:
        """As the tables say it."""
        return f"p = {self.p:g}, m = {self.batch}, n = {self.steps}"

    @property
    def topics(self) -> Floats:
        """The true word distributions, one a row."""
        return np.full((3, 3), (1.0 - self.p) / 2.0) + np.eye(3) * (self.p - (1.0 - self.p) / 2.0)

    def draw(self, seed: int) -> tuple[NDArray[np.int64], sp.csr_matrix]:
        """Topics and counts of all documents."""
        rng = np.random.default_rng(seed)
        n = self.batch * self.steps
        topic = rng.choice(3, size=n, p=WEIGHTS) if self.stochastic else np.resize(BLOCK_TOPICS, n)
        return topic.astype(np.int64), sp.csr_matrix(rng.multinomial(3, self.topics[topic]).astype(np.float64))

    def batches(self, rows: sp.csr_matrix) -> list[sp.csr_matrix]:
        """The steps."""
        return [rows[at : at + self.batch] for at in range(0, rows.shape[0], self.batch)]


def synthetic_learners() -> Learners:
    """The papers' learners on the planted problem; eps = 1/(n + 1) smooths, as tiny a problem needs."""
    return {
        "SpectralLeader": lambda seed: SpectralLeader(3, smoothing=1.0, random_state=seed),
        "SpectralLeader, reservoir 200": lambda seed: SpectralLeader(
            3, reservoir=200, smoothing=1.0, random_state=seed
        ),
        **{f"EM {alpha}": _em(3, alpha) for alpha in (0.5, 0.7, 0.9)},
    }


def _em(k: int, alpha: float) -> Callable[[int], StepwiseEM]:
    return lambda seed: StepwiseEM(k, decay=alpha, random_state=seed)


def run_setting(setting: Setting, learners: Learners, n_runs: int) -> tuple[Runs, float]:
    """Every learner on the same streams, and the average NLL of the true parameters on them."""
    results: Runs = {name: [] for name in learners}
    oracle = []
    for run in range(n_runs):
        _, rows = setting.draw(1000 + run)
        batches = setting.batches(rows)
        joint = rows @ np.log(setting.topics.T) + np.log(WEIGHTS)
        nll = -np.log(np.exp(joint).sum(axis=1))
        oracle.append(nll[setting.batch :].sum() / rows.shape[0])
        for name, make in learners.items():
            results[name].append(learning_curves(make(run), batches, WEIGHTS, setting.topics))
    return results, float(np.mean(oracle))


def mean_and_error(runs: list[LearningCurves], curve: str) -> tuple[float, float]:
    """Mean of the last value over runs, and its standard error."""
    last = np.array([getattr(one, curve)[-1] for one in runs])
    return float(last.mean()), float(last.std(ddof=1) / np.sqrt(len(last))) if len(last) > 1 else 0.0


def lowest(runs: Runs, curve: str) -> str:
    """The learner with the lowest mean."""
    return min(runs, key=lambda name: mean_and_error(runs[name], curve)[0])


def verdict(runs: Runs, curve: str) -> str:
    """SpectralLeader against the best EM: which is lower, and by how much over the same streams."""
    best = lowest({name: found for name, found in runs.items() if name.startswith("EM")}, curve)
    leader = np.array([getattr(one, curve)[-1] for one in runs["SpectralLeader"]])
    gap = np.array([getattr(one, curve)[-1] for one in runs[best]]) - leader
    error = float(gap.std(ddof=1) / np.sqrt(len(gap)))
    who = "SpectralLeader" if gap.mean() > 0 else best
    clear = "" if abs(gap.mean()) > 2 * error else ", within two standard errors of a tie"
    return f"{who} (the other {abs(gap.mean()):.4f} ± {error:.4f} higher{clear})"


def table(
    results: Mapping[Setting, tuple[Runs, float]], reference: Mapping[tuple[str, str], tuple[float | None, ...]]
) -> str:
    """Measured over all runs with its standard error, the reference figure beside it in brackets."""
    names = list(next(iter(results.values()))[0])
    lines = ["| setting | metric | " + " | ".join(names) + " | true parameters |", "|---" * (len(names) + 3) + "|"]
    for setting, (runs, oracle) in results.items():
        for metric, digits in (("nll", 3), ("recovery", 4)):
            known = reference.get((setting.name, metric), (None,) * len(names))
            cells = []
            for name, old in zip(names, known, strict=True):
                mean, error = mean_and_error(runs[name], metric)
                beside = "" if old is None else f" [{old:.{digits}f}]"
                cells.append(f"{mean:.{digits}f} ± {error:.{digits}f}{beside}")
            label = "NLL" if metric == "nll" else "recovery"
            truth = f"{oracle:.3f}" if metric == "nll" else "0"
            lines.append(f"| {setting.name} | {label} | " + " | ".join(cells) + f" | {truth} |")
    return "\n".join(lines)


def draw_curves(
    results: Mapping[Any, tuple[Runs, float]], names: list[str], path: Path, distance: bool = False, skip: float = 0.05
) -> None:
    """Average NLL above (its axis fits the curves after the first `skip` of the steps), recovery error below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.1 * len(names), 6.4), layout="constrained")
    axes = figure.subplots(2, len(names), squeeze=False, sharex="col")
    for column, (name, (runs, oracle)) in enumerate(zip(names, results.values(), strict=True)):
        top, bottom = axes[:, column]
        for learner, curves in runs.items():
            t = np.arange(2, len(curves[0].nll) + 1)
            colour = COLOURS.get(learner)
            # (1/n) counts the unplayed first step as 0: rescaled here, so that curves start at their own level.
            scale = t / (t - 1)
            nll = np.mean([one.nll for one in curves], axis=0)[1:] * scale
            error = np.mean([one.distance if distance else one.recovery for one in curves], axis=0)[1:] * scale
            width = 2.2 if learner == "SpectralLeader" else 1.4
            top.plot(t, nll, label=learner, color=colour, linewidth=width)
            bottom.plot(t, error, label=learner, color=colour, linewidth=width)
        late = [line.get_ydata()[int(skip * len(t)) :] for line in top.get_lines()]
        low, high = min(map(np.min, late)), max(map(np.max, late))
        if np.isfinite(oracle):
            top.axhline(oracle * (len(t) + 1) / len(t), color="0.4", linestyle=":", label="true parameters")
        top.set(title=name, ylim=(low - 0.05 * (high - low), high + 0.1 * (high - low)))
        bottom.set(yscale="log", xlabel="step")
        for ax in (top, bottom):
            ax.grid(alpha=0.25)
    axes[0, 0].set_ylabel("average NLL so far")
    axes[1, 0].set_ylabel("average recovery error so far")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=130)


def measure_regret(stochastic: bool, n: int, n_runs: int) -> dict[str, Floats]:
    """R(1..n) of SpectralLeader for p = 0.9 and 0.7, one row a run."""
    curves = {}
    for p in (0.9, 0.7):
        setting = Setting(p, 1, n, stochastic)
        runs = []
        for run in range(n_runs):
            topic, rows = setting.draw(run)
            model = SpectralLeader(3, smoothing=1.0, random_state=run)
            played = [(np.full(3, 1 / 3), np.full((3, 3), 1 / 3))]
            for t in range(n - 1):
                model.partial_fit(rows[t])
                played.append((model.weights_, model.topic_word_))
            runs.append(word_space_regret(topic, setting.topics, played))
        curves[f"p = {p}"] = np.array(runs)
    return curves


def regret_table(curves: Mapping[str, Floats], reference: Mapping[str, tuple[float, ...]]) -> str:
    """R at three lengths, the reference beside it, and how it grows against log n and sqrt n."""
    lines = ["| | R(125) | R(500) | R(2000) | R/log n at 500, 2000 | R/√n at 500, 2000 |", "|---|---|---|---|---|---|"]
    for name, runs in curves.items():
        mean = runs.mean(axis=0)
        at = [min(n, len(mean)) for n in (125, 500, 2000)]
        cells = [f"{mean[n - 1]:.2f} [{old:.2f}]" for n, old in zip(at, reference[name], strict=True)]
        log = ", ".join(f"{mean[n - 1] / np.log(n):.3f}" for n in at[1:])
        root = ", ".join(f"{mean[n - 1] / np.sqrt(n):.3f}" for n in at[1:])
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {log} | {root} |")
    return "\n".join(lines)


def draw_regret(curves: Mapping[str, Floats], path: Path) -> None:
    """The figure of one experiment."""
    ax = plot_regret(curves)
    ax.set_title("Regret of SpectralLeader in word space (band: all runs)", fontsize="medium")
    ax.figure.savefig(path, dpi=130)
