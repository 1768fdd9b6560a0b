"""Bars: when NMF mixes the factors, and what orthogonality does about it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats
from firststory.datasets.bars import SIDE, make_bars, mix_bars
from firststory.evaluate.topics import factor_divergence, match_topics
from firststory.solvers.gram_nmf import Statistics, stream_step
from firststory.solvers.orthogonal_nmf import Factors, Stack, code_step, from_documents, multiplicative

TITLE = "Bars: NMF against orthogonal NMF where no sample is pure"


# crossing, lowest coefficient, samples; then the reference: mean cosine, KL, all recovered, of NMF and orthogonal NMF
REFERENCE = [
    (False, 0.0, 500, "0.999, 0.08, 1.00", "1.000, 0.01, 1.00"),
    (False, 0.3, 40, "0.937, 0.62, 0.00", "1.000, 0.01, 1.00"),
    (False, 0.3, 500, "0.955, 0.55, 0.00", "1.000, 0.01, 1.00"),
    (False, 0.5, 100, "0.873, 0.83, 0.00", "1.000, 0.01, 1.00"),
    (True, 0.0, 500, "0.999, 0.07, 1.00", "0.910, 2.34, 0.00"),
    (True, 0.5, 100, "0.882, 0.72, 0.00", "0.904, 2.34, 0.00"),
]
CAPS = [(False, 0.3, 40), (False, 0.5, 100), (True, 0.3, 40), (True, 0.5, 100)]
CAP_REFERENCE = {
    ("multiplicative", 0.03): "1.0, 1.0, 1.0, 1.0",
    ("multiplicative", 0.1): "1.0, 1.0, 0, 0",
    ("multiplicative", 10.0): "1.0, 1.0, 0, 0",
    ("HALS", 0.03): "0.6, 0.6, 0.2, 0.3",
    ("HALS", 0.1): "0.7, 0.8, 0.3, 0.2",
    ("HALS", 0.3): "0.9, 1.0, 0, 0",
}


@dataclass(frozen=True)
class Case:
    """One data set: its samples, and where random numbers for a start come from."""

    rows: sp.csr_matrix
    factors: Floats
    seed: int

    @classmethod
    def make(cls, crossing: bool, lowest: float, n: int, seed: int) -> Case:
        factors = make_bars(crossing=crossing)
        return cls(sp.csr_matrix(mix_bars(factors, n, lowest, np.random.default_rng(seed))), factors, seed)

    def random_start(self, *, leaking: bool = False) -> tuple[Floats, Floats]:
        """Uniform numbers. `leaking` draws them from the seed of the data: the first of them are the true codes."""
        rng = np.random.default_rng(self.seed if leaking else [self.seed, 1])
        k = self.factors.shape[0]
        return rng.random((self.rows.shape[0], k)) + 0.1, (rng.random((k, self.rows.shape[1])) + 0.1).T.copy()

    def best_of_five(self, solve: Callable[[Floats, Floats], Factors]) -> Factors:
        rng = np.random.default_rng([self.seed, 1])
        found = [solve(*from_documents(self.rows, self.factors.shape[0], rng)) for _ in range(5)]
        return min(found, key=lambda factors: factors.objective)

    def plain(self, codes: Floats, topics: Floats, sweeps: int = 1000) -> Factors:
        return multiplicative(Stack.of(self.rows), codes, topics, orthogonality=0.0, sweeps=sweeps, normalise=False)

    def unlimited(self, codes: Floats, topics: Floats) -> Factors:
        """The paper's schedule: alpha = 0.01 * 1.05^n, without a limit."""
        return multiplicative(
            Stack.of(self.rows), codes, topics, orthogonality=np.inf, start=0.01, sweeps=500, relative=False
        )

    def capped(self, codes: Floats, topics: Floats, cap: float = 0.03) -> Factors:
        """alpha relative to the data's energy, annealed slowly up to a cap."""
        return multiplicative(Stack.of(self.rows), codes, topics, orthogonality=cap, growth=1.02, sweeps=500)

    def judge(self, topics: Floats) -> tuple[float, float, float]:
        cosines = match_topics(topics.T, self.factors)[1]
        return float(cosines.mean()), factor_divergence(topics.T, self.factors), float((cosines > 0.95).all())


TEXT = """\
Six bars on 12 x 12 pixels; samples mix all of them with coefficients uniform on [lowest, 1] and noise 0.01
(`firststory.datasets.bars`). Mean cosine of matched factors, mean KL(true || found), part of {seeds} runs in which
every factor is found (cosine > 0.95).

{table}

**The claim holds**: NMF mixes the factors when no sample is nearly pure, and orthogonality repairs it. The paper does
not state one condition: an unlimited penalty destroys factors that overlap, so it must be capped.

**The reference figures were too good**: they were measured with starts drawn from the random seed of the data, whose
first numbers are the true coefficients; the column *reference's seed* repeats that. From an independent start one run
often ends in a local optimum. We start near documents, anneal slower (2 % a sweep) and keep the best of five by the
objective, which never looks at the truth.

![true factors, NMF and orthogonal NMF](bars-factors.png)

![KL over iterations](bars-divergence.png)

### How high may the penalty go?

Part of {few} runs with all factors found, on {places}. One uniform start, independent of the data; last column: best
of five starts near documents.

{caps}
"""


def run(*, quick: bool, out: Path) -> str:
    """The two tables and the two figures."""
    seeds, few = (1, 1) if quick else (20, 10)
    _draw_factors(out)
    _draw_divergence(out, seeds=1 if quick else 5)
    places = ", ".join(f"{'crossing' if crossing else 'apart'} {lowest}/{n}" for crossing, lowest, n in CAPS)
    table = _table(REFERENCE[1:2] if quick else REFERENCE, seeds)
    caps = _cap_table(dict(list(CAP_REFERENCE.items())[:1]) if quick else CAP_REFERENCE, few)
    return TEXT.format(seeds=seeds, few=few, places=places, table="\n".join(table), caps="\n".join(caps))


def _table(reference: list[tuple[bool, float, int, str, str]], seeds: int) -> list[str]:
    head = ["factors", "lowest, samples", "NMF: reference", "NMF", "unlimited: reference"]
    head += ["unlimited, reference's seed", "unlimited, one start", "**capped 0.03, best of five**"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    ways = ("plain", "leaking", "unlimited", "best")
    for crossing, lowest, n, nmf, orthogonal in reference:
        said = [_say(_judge_all((crossing, lowest, n), seeds, way, 0.03)) for way in ways]
        name = "crossing" if crossing else "apart"
        cells = [name, f"{lowest}, {n}", nmf, said[0], orthogonal, said[1], said[2], said[3]]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _cap_table(reference: dict[tuple[str, float], str], seeds: int) -> list[str]:
    lines = ["| solver | cap | reference | one start | best of five |", "|---|---|---|---|---|"]
    for (solver, cap), said in reference.items():
        ways = ("hals", "best hals") if solver == "HALS" else ("capped", "best")
        cells = [[_judge_all(place, seeds, way, cap)[:, 2].mean() for place in CAPS] for way in ways]
        columns = [", ".join(f"{value:.1f}" for value in column) for column in cells]
        lines.append(f"| {solver} | {cap:g} | {said} | {columns[0]} | {columns[1]} |")
    return lines


def _judge_all(place: tuple[bool, float, int], seeds: int, way: str, cap: float) -> Floats:
    """One row a seed: mean cosine, KL, whether all factors were found. Runs are independent: every core takes some."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return np.array(list(pool.map(partial(_judge, place, way=way, cap=cap), range(seeds))))


def _judge(place: tuple[bool, float, int], seed: int, way: str, cap: float) -> tuple[float, float, float]:
    case = Case.make(*place, seed)
    solve = partial(_hals if "hals" in way else Case.capped, case, cap=cap)
    if way == "plain":
        found = case.plain(*case.random_start())
    elif way in ("leaking", "unlimited"):
        found = case.unlimited(*case.random_start(leaking=way == "leaking"))
    elif way.startswith("best"):
        found = case.best_of_five(solve)
    else:
        found = solve(*case.random_start())
    return case.judge(found.topics)


def _say(results: Floats) -> str:
    return "{:.3f}, {:.2f}, {:.2f}".format(*results.mean(axis=0))


def _hals(case: Case, codes: Floats, topics: Floats, cap: float) -> Factors:
    """HALS alone: twenty plain sweeps, then the penalty annealed by 5 % a sweep."""
    rows, level, found = case.rows, 1e-3, topics / np.linalg.norm(topics, axis=0)
    for sweep in range(120):
        penalty = 0.0 if sweep < 20 else level
        start = code_step(rows, found, sweeps=3).codes
        nothing = Statistics.empty(*found.shape)
        codes, found, _ = stream_step(rows, found, nothing, start, orthogonality=penalty, rounds=1)
        level = min(level * 1.05, cap) if sweep >= 20 else level
    return multiplicative(Stack.of(rows), codes + 1e-9, found + 1e-9, orthogonality=cap, start=cap, sweeps=1)


def _draw_factors(out: Path) -> None:
    from matplotlib.figure import Figure

    case = Case.make(False, 0.3, 40, 0)
    sets = [
        ("truth", case.factors),
        ("NMF", case.best_of_five(case.plain).topics.T),
        ("orthogonal", case.best_of_five(case.capped).topics.T),
    ]
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    grid = figure.subplots(3, 6)
    for row, (name, found) in zip(grid, sets, strict=True):
        order, cosines = match_topics(found, case.factors)
        for axes, index, cosine in zip(row, order, cosines, strict=True):
            axes.imshow(found[index].reshape(SIDE, SIDE), cmap="Greys", vmin=0.0)
            axes.set(xticks=[], yticks=[])
            if name != "truth":
                axes.set_xlabel(f"cosine {cosine:.2f}", fontsize="small")
        row[0].set_ylabel(name, fontsize="large")
    figure.suptitle("40 samples, none nearly pure (coefficients on [0.3, 1])")
    figure.savefig(out / "bars-factors.png", dpi=110)


def _draw_divergence(out: Path, seeds: int) -> None:
    """KL over iterations, as in the paper: NMF stays where it is, orthogonal NMF goes on down."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.add_subplot()
    settings = {
        "NMF": {"orthogonality": 0.0, "normalise": False},
        "orthogonal, unlimited": {"orthogonality": np.inf, "start": 0.01, "relative": False},
        "orthogonal, capped at 0.03": {"orthogonality": 0.03, "growth": 1.02},
    }
    for number, (name, options) in enumerate(settings.items()):
        for seed in range(seeds):
            case = Case.make(False, 0.3, 40, seed)
            trace: list[float] = []
            multiplicative(
                Stack.of(case.rows),
                *from_documents(case.rows, 6, np.random.default_rng([seed, 1])),
                sweeps=500,
                watch=lambda topics, c=case, t=trace: t.append(factor_divergence(topics.T, c.factors)),  # type: ignore[misc]
                **options,  # type: ignore[arg-type]
            )
            ax.plot(trace, color=f"C{number}", alpha=0.75, linewidth=1.3, label=name if seed == 0 else None)
    ax.set(xlabel="sweep", ylabel="KL(true || found)", yscale="log")
    ax.set_title(f"bars apart, coefficients on [0.3, 1], 40 samples; {seeds} runs, one start each", fontsize="medium")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    figure.savefig(out / "bars-divergence.png", dpi=110)
