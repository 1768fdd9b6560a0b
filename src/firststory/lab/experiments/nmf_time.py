"""The time of one online update against factorising everything again, and how much of the past to remember."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats
from firststory.datasets import load_reuters21578
from firststory.evaluate.topics import reconstruction_error
from firststory.topics.lineage import match_topics
from firststory.topics.online_nmf import OnlineNMF

TITLE = "Online NMF: the time of a step does not depend on the past"

K = 20
LEVEL_RATIO = 1.5
"""Last third over first third of the stream: up to here the time of a step counts as level."""

TEXT = """\
Reuters-21578 in the order of time, unit tf-idf rows ({n} x {width}), k = {k}, steps of {size} documents, plain NMF
(orthogonality 0), NNDSVD start. CPU seconds of one step: online with the Gram statistics of HALS, online with
`[Lambda H; U]`, everything so far factorised again, and the step alone factorised by itself (independent NMF), the last
two with HALS to ten rounds as in the first step. One thread, other load on the machine: read the ratios.

{seconds}

Relative error with the best codes for each set of topics, over everything so far and over the step alone; and how much
of the topics is kept: mean cosine with the topics of the step before, matched one to one (independent NMF starts from
nothing at every step).

{errors}

![CPU seconds per step](nmf-time-steps.png)

{verdict}

### How much to remember

The same stream in the same steps, `solver="hals"`. *Next step*: mean of ||u - wH|| / ||u|| over the documents of a
step before they are learnt, averaged over the second half of the stream; *everything*: relative error over all
documents with the topics at the end. CPU seconds: best of {repeats} passes.

{memories}

{choice}
"""


class Step(NamedTuple):
    """What one step cost, how well the topics fit after it (only where it is shown) and how much of them was kept.

    Methods in the order of `METHODS`.
    """

    end: int
    seconds: tuple[float, ...]
    error_so_far: tuple[float, ...]
    error_step: tuple[float, ...]
    kept: tuple[float, ...]


METHODS = ("online, HALS", "online, [Λ H; U]", "everything again", "the step alone")


def run(*, quick: bool, out: Path) -> str:
    """The tables at a few steps, the figure over all, and the table over memories."""
    rows = _rows(2000 if quick else None)
    size, repeats = (500, 1) if quick else (1000, 3)
    for model in (OnlineNMF(K, solver=solver, orthogonality=0.0, sweeps=2) for solver in ("hals", "multiplicative")):
        model.partial_fit(rows[:200]).partial_fit(rows[200:400])  # compile outside the clock
    ends = list(range(size, rows.shape[0] + 1, size))
    shown = {ends[1], ends[len(ends) // 2], ends[-1]}
    steps = _steps(rows, size, ends, shown)
    head = "| documents so far | " + " | ".join(METHODS)
    seconds = [head + " | everything again / HALS |", "|---" * 6 + "|"]
    errors = [head + " |", "|---" * 5 + "|"]
    for step in (step for step in steps if step.end in shown):
        ratio = step.seconds[2] / step.seconds[0]
        seconds.append(f"| {step.end} | " + " | ".join(f"{x:.3f}" for x in step.seconds) + f" | {ratio:.1f} |")
        cells = [
            f"{a:.4f} / {b:.4f}, {c:.2f}" for a, b, c in zip(step.error_so_far, step.error_step, step.kept, strict=True)
        ]
        errors.append(f"| {step.end} | " + " | ".join(cells) + " |")
    _draw(steps, out)
    table, choice = _memories(rows, size, repeats)
    return TEXT.format(
        n=rows.shape[0], width=rows.shape[1], k=K, size=size, repeats=repeats, seconds="\n".join(seconds),
        errors="\n".join(errors), verdict=_verdict(steps), memories=table, choice=choice,
    )  # fmt: skip


def _steps(rows: sp.csr_matrix, size: int, ends: list[int], shown: set[int]) -> list[Step]:
    """Every method over the stream."""
    online = OnlineNMF(K, orthogonality=0.0, random_state=0)
    short = OnlineNMF(K, orthogonality=0.0, solver="multiplicative", sweeps=30, random_state=0)
    before: list[Floats] = []
    steps = []
    for end in ends:
        batch, past = rows[end - size : end], rows[:end]
        again, alone = (OnlineNMF(K, orthogonality=0.0, random_state=0) for _ in range(2))
        spent = (
            _cpu(lambda batch=batch: online.partial_fit(batch)),  # type: ignore[misc]
            _cpu(lambda batch=batch: short.partial_fit(batch)),  # type: ignore[misc]
            _cpu(lambda past=past, model=again: model.fit(past)),  # type: ignore[misc]
            _cpu(lambda batch=batch, model=alone: model.fit(batch)),  # type: ignore[misc]
        )
        topics = [model.components_.copy() for model in (online, short, again, alone)]
        kept = [float(match_topics(a, b)[1].mean()) for a, b in zip(topics, before or topics, strict=True)]
        steps.append(
            Step(
                end,
                spent,
                tuple(reconstruction_error(found, past)[0] for found in topics) if end in shown else (),
                tuple(reconstruction_error(found, batch)[0] for found in topics) if end in shown else (),
                tuple(kept),
            )
        )
        before = topics
    return steps


def _verdict(steps: list[Step]) -> str:
    """Published: an update costs the same however long the stream is; factorising everything does not."""
    later = np.array([step.seconds for step in steps[1:]])  # the first step is the cold start, the same for all
    third = max(len(later) // 3, 1)
    growth = np.median(later[-third:], axis=0) / np.median(later[:third], axis=0)
    holds = growth[0] < LEVEL_RATIO and growth[1] < LEVEL_RATIO and growth[2] > LEVEL_RATIO
    last = steps[-1]
    ratio = float(np.median(later[:, 3] / later[:, 0]))
    own = "better" if last.error_step[3] < last.error_step[0] else "worse"
    all_ = "better" if last.error_so_far[3] < last.error_so_far[0] else "worse"
    kept = np.mean([step.kept for step in steps[1:]], axis=0)
    word = "Reproduced" if holds else "Not reproduced"
    return (
        f"Published: the time of an update does not depend on the past. **{word}**: from the first third of the stream "
        f"to the last, the median time of a step changes by a factor of {growth[0]:.2f} (HALS) and {growth[1]:.2f} "
        f"(`[Lambda H; U]`), of everything again by {growth[2]:.2f}. The price is the error over everything so far: "
        f"{last.error_so_far[0]:.4f} online against {last.error_so_far[2]:.4f}. Factorising each step alone costs "
        f"{ratio:.1f} times as much as an online step. At the end it fits its own step {own} ({last.error_step[3]:.4f} "
        f"against {last.error_step[0]:.4f}) and everything so far {all_} ({last.error_so_far[3]:.4f} against "
        f"{last.error_so_far[0]:.4f}), and its topics have a mean cosine of {kept[3]:.2f} with those of the step "
        f"before, against {kept[0]:.2f} online."
    )


def _memories(rows: sp.csr_matrix, size: int, repeats: int) -> tuple[str, str]:
    """The table over `memory`, and which value fits best."""
    memories = (0.0, 0.3, 1.0, 3.0, 10.0, np.inf)
    lines = ["| memory | next step | everything | CPU s |", "|---|---|---|---|"]
    following, whole = {}, {}
    spent: dict[float, list[float]] = {memory: [] for memory in memories}
    for _ in range(repeats):
        for memory in memories:
            model = OnlineNMF(K, orthogonality=0.0, memory=memory, random_state=0)
            residuals, total = [], 0.0
            for begin in range(0, rows.shape[0] - size + 1, size):
                batch = rows[begin : begin + size]
                total += _cpu(lambda model=model, batch=batch: model.partial_fit(batch))  # type: ignore[misc]
                residuals.append(model.residual_)
            spent[memory].append(total)
            following[memory] = float(np.mean(residuals[len(residuals) // 2 :]))
            whole[memory] = reconstruction_error(model.components_, rows)[0]
    lines += [f"| {m:g} | {following[m]:.4f} | {whole[m]:.4f} | {min(spent[m]):.2f} |" for m in memories]
    best, best_whole = min(following, key=following.__getitem__), min(whole, key=whole.__getitem__)
    choice = (
        f"The lowest error on the next step is at memory {best:g}, over everything at {best_whole:g}. The default, 3, "
        f"is {following[3.0] - following[best]:.4f} and {whole[3.0] - whole[best_whole]:.4f} above them; memory 1 is "
        f"{following[1.0] - following[best]:.4f} and {whole[1.0] - whole[best_whole]:.4f} above."
    )
    return "\n".join(lines), choice


def _rows(limit: int | None) -> sp.csr_matrix:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = load_reuters21578().texts[:limit]
    vectorizer = TfidfVectorizer(stop_words="english", min_df=5, max_df=0.3, token_pattern=r"[a-zA-Z]{3,}")
    return vectorizer.fit_transform(texts).tocsr()


def _cpu(act: Callable[[], object]) -> float:
    begin = time.process_time()
    act()
    return time.process_time() - begin


def _draw(steps: list[Step], out: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.3), layout="constrained")
    ax = figure.add_subplot()
    ends, seconds = [step.end for step in steps[1:]], np.array([step.seconds for step in steps[1:]])
    for column, name in enumerate(METHODS):
        ax.plot(ends, seconds[:, column], marker="o", markersize=3, label=name)
    ax.set(xlabel="documents so far", ylabel="CPU seconds for the next step", yscale="log")
    ax.grid(alpha=0.25)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    figure.savefig(out / "nmf-time-steps.png", dpi=110)
