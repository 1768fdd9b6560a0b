"""Exact l1 coding on a GPU beside two processor cores, copies to and from the GPU included, on TDT2."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from firststory.datasets.timesteps import tdt2_steps
from firststory.errors import FirststoryError
from firststory.solvers.initial_atoms import heavy_words
from firststory.solvers.l1_coding import TermMajor, code_exactly
from firststory.solvers.l1_coding_gpu import GpuAtoms, code_on_gpu, gpu
from firststory.solvers.l1_dictionary import start_dictionary

TITLE = "Exact l1 coding on a GPU"

TEXT = """\
TDT2 ({m:,} terms, {nnz:.0f} non-zeros per document), dictionary learnt on the first timestep (heavy words, then five
rounds, one above k = 200), lambda = 0.1, float64. Wall clock, best of interleaved repeats in one run. The GPU's time
counts from rows in the processor's memory to codes in the processor's memory; the dictionary is copied once before.
*Difference*: the largest between the two objectives of a document. Weight: what over-coverage costs; below 1 atoms
that survive share terms more often, and the simplex has more to do beside the closed form.

{machine}

| k | weight | documents | survivors | pivots | one core, ms | two cores, ms | GPU, ms | times two cores | difference |
|---|---|---|---|---|---|---|---|---|---|
{rows}

Coding is what the GPU does. Learning stays on the processor, so a learner that scores and learns gains less: the
update costs more than the coding (`firststory bench l1-coding`).
"""


def run(*, quick: bool) -> str:
    """The section."""
    try:
        name = gpu().cuda.runtime.getDeviceProperties(0)["name"].decode()
    except FirststoryError as error:
        return f"Not measured: {error}\n"
    stream = tdt2_steps(quick=quick)
    step, many = stream.rows[1], sp.csr_matrix(sp.vstack(stream.rows[1:]))
    rows = []
    for k, over in ((20, 1.0),) if quick else ((200, 1.0), (1000, 1.0), (10_000, 1.0), (200, 0.2), (1000, 0.2)):
        first = stream.rows[0]
        atoms = start_dictionary(first, heavy_words(first, k), over=over, rounds=5 if k <= 200 else 1)
        rows += [_row(documents, atoms, over) for documents in (step, many)]
    return TEXT.format(
        m=step.shape[1], nnz=step.nnz / step.shape[0], machine=f"{_processor()}; {name}.", rows="\n".join(rows)
    )


def _row(documents: sp.csr_matrix, atoms: sp.csr_matrix, over: float) -> str:
    by = TermMajor.of(atoms)
    held = GpuAtoms.of(by)
    calls: list[Callable[[], Any]] = [
        partial(code_exactly, documents, by, over=over, n_jobs=1),
        partial(code_exactly, documents, by, over=over, n_jobs=2),
        partial(code_on_gpu, documents, held, over=over),
    ]
    exact, _, ours = (call() for call in calls)
    one, two, card = _best(calls)
    return (
        f"| {atoms.shape[0]:,} | {over:g} | {documents.shape[0]:,} | {exact.survivors.mean():.1f} "
        f"| {exact.iterations.mean():.1f} | {one * 1e3:.1f} | {two * 1e3:.1f} | {card * 1e3:.1f} | **{two / card:.1f}** "
        f"| {np.abs(exact.objective - ours.objective).max():.0e} |"
    )


def _best(calls: list[Callable[[], Any]], repeats: int = 7) -> list[float]:
    """The best wall clock of each, the calls taken in turn."""
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        for at, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[at] = min(best[at], time.perf_counter() - start)
    return best


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "a processor without a name"
