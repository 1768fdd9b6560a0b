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

STANDARD_ERROR_RUNS = 5
"""Fewer runs than this are shown as they are."""

COLOURS = {
    "SpectralLeader": "#0b5fa5",
    "SpectralLeader, reservoir 200": "#6baed6",
    "SpectralLeader + 2 EM steps": "#31a354",
    "SpectralLeader, whole stream": "#74c476",
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
        """The true word distributions, one per row."""
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
    """Average NLL above, recovery error below, with a band for the runs.

    The axis of the NLL fits the curves after the first `skip` of the steps; the title says what is cut off.
    `distance` shows the norm itself instead of its square.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.1 * max(len(names), 2), 6.6), layout="constrained")
    axes = figure.subplots(2, len(names), squeeze=False, sharex="col")
    n_runs = 0
    for column, (name, (runs, oracle)) in enumerate(zip(names, results.values(), strict=True)):
        top, bottom = axes[:, column]
        for learner, curves in runs.items():
            n_runs = len(curves)
            t = np.arange(2, len(curves[0].nll) + 1)
            colour, width = COLOURS.get(learner), 2.2 if learner == "SpectralLeader" else 1.4
            for ax, curve in ((top, "nll"), (bottom, "distance" if distance else "recovery")):
                # (1/n) counts the unplayed first step as 0: rescaled here, so that curves start at their own level.
                values = np.array([getattr(one, curve) for one in curves])[:, 1:] * (t / (t - 1))
                low, high = _band(values)
                ax.plot(t, values.mean(axis=0), label=learner, color=colour, linewidth=width)
                ax.fill_between(t, low, high, color=colour, alpha=0.15, linewidth=0)
        top.set_title(name + _cut_beginning(top, int(skip * len(t))), fontsize="medium")
        if np.isfinite(oracle):
            top.axhline(oracle * (len(t) + 1) / len(t), color="0.4", linestyle=":", label="true parameters")
        bottom.set(yscale="log", xlabel="step")
        for ax in (top, bottom):
            ax.grid(alpha=0.25)
    axes[0, 0].set_ylabel("average NLL so far")
    axes[1, 0].set_ylabel(r"average $\|M_2 - M_2^*\|_F" + ("$ so far (not squared)" if distance else "^2$ so far"))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    band = "± 2 standard errors" if n_runs >= STANDARD_ERROR_RUNS else "all runs"
    figure.suptitle(f"Mean of {n_runs} runs; band: {band}", fontsize="medium")
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=130)


def _cut_beginning(ax: Any, first: int) -> str:
    """Fit the axis to the curves from step `first` on, and say what is cut off."""
    curves = [np.asarray(line.get_ydata()) for line in ax.get_lines()]
    low, high = min(curve[first:].min() for curve in curves), max(curve[first:].max() for curve in curves)
    margin = 0.1 * (high - low) or 0.1  # level curves have no height of their own
    floor, ceiling = low - 2 * margin, high + margin
    ax.set_ylim(floor, ceiling)
    above, below = (max(map(_last_step, np.array(curves) > ceiling)), max(map(_last_step, np.array(curves) < floor)))
    said = [f"higher until step {above}"] * (above > 0) + [f"lower until step {below}"] * (below > 0)
    limits = f"{ceiling:.2f}" if not below else f"{floor:.2f} and {ceiling:.2f}" if above else f"{floor:.2f}"
    return f"\nNLL cut at {limits}: {', '.join(said)}" if said else ""


def _last_step(where: Any) -> int:
    """The last step at which it holds, 0 for never; curves begin at step 2."""
    steps = np.flatnonzero(where)
    return int(steps[-1]) + 2 if steps.size else 0


def _band(values: Floats) -> tuple[Floats, Floats]:
    """Two standard errors around the mean over runs (rows); of a few runs, all of them."""
    if len(values) < STANDARD_ERROR_RUNS:
        return values.min(axis=0), values.max(axis=0)
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return np.maximum(mean - 2 * error, values.min(axis=0)), mean + 2 * error


def measure_regret(stochastic: bool, n: int, n_runs: int) -> dict[str, Floats]:
    """R(1..n) of SpectralLeader for p = 0.9 and 0.7, one row per run."""
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
    """R at three lengths, the reference beside it, and how fast it grows."""
    lines = ["| | R(125) | R(500) | R(2000) | exponent | R(2000)/log n | R(2000)/√n |", "|---|---|---|---|---|---|---|"]
    for name, runs in curves.items():
        longest = runs.shape[1]
        at = [min(n, longest) for n in (125, 500, 2000)]
        cells = [f"{_spread(runs[:, n - 1])} [{old:.2f}]" for n, old in zip(at, reference[name], strict=True)]
        first = min(at[0], longest // 4)
        exponent = np.log(runs[:, -1].mean() / runs[:, first - 1].mean()) / np.log(longest / first)
        cells += [f"{exponent:.2f}", _spread(runs[:, -1] / np.log(longest), 3)]
        cells += [_spread(runs[:, -1] / np.sqrt(longest), 3)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _spread(values: Floats, digits: int = 2) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.{digits}f} ± {error:.{digits}f}"


def draw_regret(curves: Mapping[str, Floats], path: Path) -> None:
    """The figure of one experiment."""
    ax = plot_regret(curves)
    ax.set_title("Regret of SpectralLeader in word space", fontsize="medium")
    ax.figure.savefig(path, dpi=130)
