"""Exact l1 coding and the sparse online update beside the paper's ADMM, HiGHS, scikit-learn and SPAMS, on TDT2."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from firststory.datasets.timesteps import tdt2_steps
from firststory.solvers.initial_atoms import cluster_centres, heavy_words, random_documents
from firststory.solvers.l1_coding import TermMajor, code_by_admm, code_exactly
from firststory.solvers.l1_dictionary import start_dictionary
from firststory.solvers.online_admm import inner_steps, online_step, online_step_dense, step_size, subgradient_step

TITLE = "l1 sparse coding and the online update on TDT2"

TEXT = """\
One timestep of TDT2 ({n} documents, {m:,} terms, {nnz:.0f} non-zeros per document), dictionary learnt on the step
before (heavy words, then five rounds, one at k = 1000), lambda = 0.1. CPU milliseconds per 1000 documents, best of
interleaved repeats in one run, one thread; slow rivals on fewer documents, scaled. Machine: 2 cores, shared with other
work. scikit-learn and SPAMS solve the squared loss, another problem: there is no other package for the l1 loss.

### Coding

{coding}

{threads}

### Update of the dictionary, per 1000 documents

{update}

### Other dictionaries, ours

Cost follows the survivors of the screening (and, in the update, the codes): what a dictionary of whole documents or of
k-means centres costs beside single heavy words. CPU milliseconds per 1000 documents.

{others}

### Memory

{memory}

First use compiles the kernels; later processes load them from the disk cache.
"""


def run(*, quick: bool) -> str:
    """The section."""
    stream = tdt2_steps(quick=quick)
    P = stream.rows[1]
    sizes = (20,) if quick else (200, 1000)
    columns, updates, thread_lines = [], [], []
    for k in sizes:
        atoms = start_dictionary(stream.rows[0], heavy_words(stream.rows[0], k), rounds=1 if quick or k > 200 else 5)
        columns.append(_coding(P, atoms, quick))
        updates.append(_update(P, atoms, quick))
        many = sp.csr_matrix(sp.vstack(stream.rows[1:]))
        calls: list[Callable[[], Any]] = [partial(code_exactly, many, atoms, n_jobs=n_jobs) for n_jobs in (1, 2)]
        one, two = _best(calls, 8, time.perf_counter)
        thread_lines.append(
            f"k = {k}: {many.shape[0]:,} documents take {one * 1e3:.1f} ms on one thread and {two * 1e3:.1f} ms on two "
            f"(wall clock, {one / two:.2f} times as fast)."
        )
    return TEXT.format(
        n=P.shape[0],
        m=P.shape[1],
        nnz=P.nnz / P.shape[0],
        coding=_table("method", sizes, columns),
        threads="\n".join(thread_lines),
        update=_table("step", sizes, updates),
        others=_others(stream.rows[0], P, sizes[0]),
        memory=_memory(quick),
    )


def _coding(P: sp.csr_matrix, atoms: sp.csr_matrix, quick: bool) -> dict[str, str]:
    by = TermMajor.of(atoms)
    exact = code_exactly(P, by)
    scale = 1000.0 / P.shape[0]
    ours, screening = _best([lambda: code_exactly(P, by), lambda: code_exactly(P, by, 1.5)], 20)
    cells = {
        "ours, exact": f"{ours * 1e3 * scale:.1f} ({P.shape[0] / ours:,.0f} documents/s, "
        f"{exact.survivors.mean():.1f} survivors)",
        "ours, screening alone": f"{screening * 1e3 * scale:.1f} ({P.shape[0] / screening:,.0f}/s)",
    }
    few = sp.csr_matrix(P[: 20 if quick else 200])
    best = float(code_exactly(few, by).objective.sum())
    for gap in (1e-2, 1e-3):
        limit = 30 if quick else 1500
        start = time.process_time()
        solved = code_by_admm(few, atoms, tolerance=0.0, max_iterations=limit, target=(1 + gap) * best)
        spent = time.process_time() - start
        reached = solved.objective.sum() / best - 1
        note = "" if reached <= gap else f", stopped at {reached:.0e}"
        cells[f"paper's ADMM, scipy.sparse, to {gap:.0e}"] = (
            f"{spent * 1e6 / few.shape[0]:,.0f} ({spent / few.shape[0] / (ours / P.shape[0]):,.0f}x ours{note})"
        )
    highs = sp.csr_matrix(P[:3] if quick else P[:10])
    spent = _once(lambda: [_full_programme(p, atoms) for p in highs])
    cells["HiGHS, full programme"] = _times(spent, highs.shape[0], ours, P.shape[0])
    for name, solve in _squared_peers(few, atoms).items():
        if isinstance(solve, str):
            cells[name] = solve
        else:
            cells[name] = _times(min(_once(solve) for _ in range(3)), few.shape[0], ours, P.shape[0])
    return cells


def _others(before: sp.csr_matrix, P: sp.csr_matrix, k: int) -> str:
    """Coding and update with atoms that are not words."""
    lines = ["| k | atoms | survivors | coding | update, reset | update, carry |", "|---|---|---|---|---|---|"]
    scale = 1e6 / P.shape[0]
    kinds = {
        "heavy words, not yet learnt": heavy_words(before, k),
        "random documents": random_documents(before, k, np.random.default_rng(0)),
        "k-means centres": cluster_centres(before, k, np.random.default_rng(0)),
    }
    for name, atoms in kinds.items():
        coding = code_exactly(P, atoms)
        codes, tau, by = coding.codes, step_size(coding.codes), TermMajor.of(atoms)
        calls: list[Callable[[], Any]] = [
            partial(code_exactly, P, by),
            partial(online_step, P, atoms, codes, tau=tau, want_multipliers=False),
            partial(online_step, P, atoms, codes, tau=tau),
        ]
        code, reset, carry = (spent * scale for spent in _best(calls, 10))
        lines.append(f"| {k} | {name} | {coding.survivors.mean():.1f} | {code:.1f} | {reset:.1f} | {carry:.1f} |")
    return "\n".join(lines)


def _squared_peers(P: sp.csr_matrix, atoms: sp.csr_matrix) -> dict[str, Callable[[], Any] | str]:
    """scikit-learn and SPAMS, naive and expert; unit l2 rows, so that lambda means something to them."""
    from sklearn.decomposition import sparse_encode
    from sklearn.preprocessing import normalize

    rows, D = normalize(P), normalize(atoms)
    dense, dictionary = rows.toarray(), D.toarray()
    peers: dict[str, Callable[[], Any] | str] = {
        "scikit-learn sparse_encode(lasso_cd)": lambda: sparse_encode(
            dense, dictionary, algorithm="lasso_cd", alpha=0.05, positive=True
        )
    }
    try:
        import spams
    except ImportError as error:
        peers["SPAMS lasso"] = f"skipped: {error}"
        return peers
    columns, basis = np.asfortranarray(dense.T), np.asfortranarray(dictionary.T)
    options = {"lambda1": 0.05, "mode": 2, "pos": True, "numThreads": 1}
    peers["SPAMS lasso, stock"] = lambda: spams.lasso(columns, D=basis, **options)

    def expert() -> Any:
        gram = np.asfortranarray((D @ D.T).toarray())
        return spams.lasso(columns, Q=gram, q=np.asfortranarray((D @ rows.T).toarray()), **options)

    peers["SPAMS lasso, sparse correlations given"] = expert
    return peers


def _update(P: sp.csr_matrix, atoms: sp.csr_matrix, quick: bool) -> dict[str, str]:
    coding = code_exactly(P, atoms, duals=True)
    codes, duals = coding.codes, coding.duals
    delta = online_step(P, atoms, codes, most=256).multipliers
    tau = step_size(codes)
    scale = 1e6 / P.shape[0]
    reset, carry, dual, inner = _best(
        [
            lambda: online_step(P, atoms, codes, tau=tau, want_multipliers=False),
            lambda: online_step(P, atoms, codes, delta, tau=tau, most=256),
            lambda: subgradient_step(P, atoms, codes, duals, step=tau / 5.0),
            lambda: inner_steps(P, atoms, codes, 10, tau=tau),
        ],
        10,
    )
    cells = {
        "ours, reset": f"{reset * scale:.1f}",
        "ours, carry (256 terms)": f"{carry * scale:.1f}",
        "ours, dual": f"{dual * scale:.1f}",
        "ours, inner, 10 steps (as in the table of `tdt2`)": f"{inner * scale:.1f}",
    }
    few = sp.csr_matrix(P[:20] if quick else P[:100])
    X = codes[: few.shape[0]].toarray()
    dense = (few.toarray(), atoms.toarray(), X, np.zeros(few.shape))
    spent = _once(lambda: online_step_dense(*dense, tau=tau))
    cells["Algorithm 2 as printed, dense numpy"] = f"{spent * 1e6 / few.shape[0]:,.0f}"
    if atoms.shape[0] <= 200:
        from sklearn.decomposition import MiniBatchDictionaryLearning
        from sklearn.preprocessing import normalize

        rows = normalize(sp.csr_matrix(P[: 20 if quick else 200])).toarray()
        model = MiniBatchDictionaryLearning(
            atoms.shape[0],
            alpha=0.05,
            fit_algorithm="cd",
            positive_code=True,
            positive_dict=True,
            dict_init=normalize(atoms).toarray() + 1e-6,
            batch_size=rows.shape[0],
        )
        model.partial_fit(rows)
        spent = _once(lambda: model.partial_fit(rows))
        cells["scikit-learn MiniBatchDictionaryLearning, codes too"] = f"{spent * 1e6 / rows.shape[0]:,.0f}"
    return cells


MEMORY_SCRIPT = """
import sys, threading
from pathlib import Path
import firststory as fs
from firststory.datasets.timesteps import tdt2_steps

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

rows = tdt2_steps(quick=False).rows[:4]
fs.OnlineL1Dictionary(n_atoms=5, multiplier=sys.argv[1], init_rounds=1).fit(rows[0][:50])  # kernels loaded
before, peak, done = resident(), [0.0], threading.Event()

def watch():
    while not done.wait(0.002):
        peak[0] = max(peak[0], resident())

watcher = threading.Thread(target=watch)
watcher.start()
model = fs.OnlineL1Dictionary(n_atoms=1000, multiplier=sys.argv[1], init_rounds=1).fit(rows[0])
for step in rows[1:]:
    model.score_then_learn(step)
done.set()
watcher.join()
print(peak[0] - before, model.atoms_.nnz)
"""


def _memory(quick: bool) -> str:
    if quick:
        return "Not measured in the quick version."
    lines = ["| online learner, 19,528 terms, k = 1000, steps of 1000 | peak MB above imports and data |", "|---|---|"]
    for multiplier in ("carry", "inner"):
        command = [sys.executable, "-c", MEMORY_SCRIPT, multiplier]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peak, stored = done.stdout.split()
        lines.append(f"| {multiplier} | {float(peak):.0f} ({int(stored):,} non-zeros in the atoms) |")
    return "\n".join(lines)


def _full_programme(p: sp.csr_matrix, atoms: sp.csr_matrix) -> float:
    k, m = atoms.shape
    equal = sp.hstack([atoms.T, sp.eye(m), -sp.eye(m)]).tocsr()
    cost = np.concatenate([np.full(k, 0.1), np.ones(2 * m)])
    return float(linprog(cost, A_eq=equal, b_eq=p.toarray().ravel(), method="highs").fun)


def _times(spent: float, n: int, ours: float, n_ours: int) -> str:
    return f"{spent * 1e6 / n:,.0f} ({spent / n / (ours / n_ours):,.0f}x ours)"


def _once(function: Callable[[], Any]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def _best(
    functions: list[Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.process_time
) -> list[float]:
    best = [np.inf] * len(functions)
    for function in functions:
        function()
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = clock()
            function()
            best[i] = min(best[i], clock() - start)
    return [float(value) for value in best]


def _table(head: str, sizes: tuple[int, ...], columns: list[dict[str, str]]) -> str:
    names = list(dict.fromkeys(name for column in columns for name in column))
    lines = [f"| {head} | {' | '.join(f'k = {k}' for k in sizes)} |", "|---|" + "---|" * len(sizes)]
    lines += [f"| {name} | {' | '.join(column.get(name, 'not run') for column in columns)} |" for name in names]
    return "\n".join(lines)
