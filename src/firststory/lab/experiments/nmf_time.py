"""The time of one online update against factorising everything again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from firststory.datasets import load_reuters21578
from firststory.evaluate.topics import reconstruction_error
from firststory.topics.online_nmf import OnlineNMF

TITLE = "Online NMF: the time of a step does not depend on the past"

TEXT = """\
Reuters-21578 in the order of time, unit tf-idf rows ({n} x {width}), k = 20, steps of {size} documents. CPU seconds
of one online update against factorising everything so far again with the same solver (plain NMF, NNDSVD start, HALS
to ten rounds, as the first step does). Relative error over everything so far, with the best codes for each set of
topics. One thread, 2 cores, other load on the machine: read the ratios.

{table}

![CPU seconds a step](nmf-time-steps.png)

**Reproduced**: an update costs the same at the end of the stream as at its beginning, refactorising grows with the
past. The price is the error in the last two columns.
"""


def run(*, quick: bool, out: Path) -> str:
    """The table at a few steps and the figure over all."""
    rows = _rows(2000 if quick else None)
    size = 500 if quick else 1000
    online = OnlineNMF(20, orthogonality=0.0, memory=3.0, random_state=0)
    short = OnlineNMF(20, orthogonality=0.0, solver="multiplicative", sweeps=30, random_state=0)
    for model in (OnlineNMF(20, solver=solver, sweeps=2) for solver in ("hals", "multiplicative")):
        model.partial_fit(rows[:200]).partial_fit(rows[200:400])  # compile outside the clock
    head = [
        "documents so far",
        "online, HALS (s)",
        "online, [Lambda H; U] (s)",
        "everything again (s)",
        "ratio to HALS",
    ]
    head += ["error online", "error again"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    seconds = []
    ends = list(range(size, rows.shape[0] + 1, size))
    shown = {ends[1], ends[len(ends) // 2], ends[-1]}
    for end in ends:
        batch, past = rows[end - size : end], rows[:end]
        again = OnlineNMF(20, orthogonality=0.0, random_state=0)
        spent = [
            _cpu(lambda model=online, batch=batch: model.partial_fit(batch)),  # type: ignore[misc]
            _cpu(lambda model=short, batch=batch: model.partial_fit(batch)),  # type: ignore[misc]
            _cpu(lambda model=again, past=past: model.fit(past)),  # type: ignore[misc]
        ]
        seconds.append((end, *spent))
        if end in shown:
            errors = [reconstruction_error(model.components_, past)[0] for model in (online, again)]
            told = f"| {end} | {spent[0]:.3f} | {spent[1]:.3f} | {spent[2]:.3f} | {spent[2] / spent[0]:.1f} |"
            lines.append(told + f" {errors[0]:.4f} | {errors[1]:.4f} |")
    _draw(np.array(seconds), out)
    return TEXT.format(n=rows.shape[0], width=rows.shape[1], size=size, table="\n".join(lines))


def _rows(limit: int | None) -> sp.csr_matrix:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = load_reuters21578().texts[:limit]
    vectorizer = TfidfVectorizer(stop_words="english", min_df=5, max_df=0.3, token_pattern=r"[a-zA-Z]{3,}")
    return vectorizer.fit_transform(texts).tocsr()


def _cpu(act: Callable[[], object]) -> float:
    begin = time.process_time()
    act()
    return time.process_time() - begin


def _draw(seconds: np.ndarray, out: Path) -> None:  # type: ignore[type-arg]
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.add_subplot()
    # The first step is the cold start, the same for all.
    for column, name in enumerate(("online, HALS", "online, [Λ H; U]", "everything again"), start=1):
        ax.plot(seconds[1:, 0], seconds[1:, column], marker="o", markersize=3, label=name)
    ax.set(xlabel="documents so far", ylabel="CPU seconds for the next step", yscale="log")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    figure.savefig(out / "nmf-time-steps.png", dpi=110)
