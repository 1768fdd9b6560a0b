"""Three threads of 20 Newsgroups that change their subject: do the topics show it?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.datasets import load_newsgroups20
from firststory.topics.online_nmf import OnlineNMF

TITLE = "Newsgroup threads: a change of subject seen as a drop of similarity"


THREADS = {
    "autos": ("rec.autos",),
    "comp": ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    "talk": ("talk.politics.mideast", "talk.politics.misc", "talk.religion.misc"),
}
BATCHES = 12
CHANGES = {"autos": (), "comp": (6,), "talk": (4, 8)}
"""The batches in which a thread begins something new."""
DROP_COSINE = 0.15
"""How far below its median a similarity must lie to count as a drop: the same as in `lineage_`."""

TEXT = """\
Three threads of {length} documents, interleaved, {batches} batches, unit tf-idf rows, {seeds} seeds: rec.autos
throughout; comp.sys.ibm.pc.hardware, then comp.sys.mac.hardware from batch 6; talk.politics.mideast, then
talk.politics.misc from batch 4, then talk.religion.misc from batch 8. `[Lambda H; U]` with multiplicative updates.
Each topic is given to the thread whose documents weigh most in it over the whole run. Similarity of a thread's topic
with itself one batch earlier, at the batches where its subject changes and (median, lowest) elsewhere:

{table}

An independent implementation ({reference}) saw the drops, false ones of the same size, and none with twice the weight
of the past.

{flags}

![similarity of the topics over the batches](newsgroup-threads-similarity.png)

{verdict}
"""
REFERENCE = "talk 0.86 to 0.12 and 0.39, comp 0.80 to 0.55; autos 0.78-0.82 but 0.53 and 0.42 when talk changes"

Curves = list[dict[str, Floats]]
"""For each seed the similarities of each thread's topic over the batches."""
Flags = list[set[tuple[str, int]]]
"""For each seed the threads and batches that `lineage_` flagged."""


def run(*, quick: bool, out: Path) -> str:
    """The table over settings, the flags, and the figure."""
    seeds, length = (1, 120) if quick else (3, 540)
    settings = [(3, 1.0), (3, 2.0), (9, 1.0)]
    lines = ["| topics | memory | thread | at its changes | elsewhere: median, lowest |", "|---|---|---|---|---|"]
    curves: dict[tuple[int, float], Curves] = {}
    flags: dict[tuple[int, float], Flags] = {}
    for k, memory in settings[:1] if quick else settings:
        runs = [_similarities(seed, k, length, memory) for seed in range(seeds)]
        curves[k, memory] = [found for found, _ in runs]
        flags[k, memory] = [flagged for _, flagged in runs]
        for thread in THREADS:
            at, elsewhere = _split(curves[k, memory], thread)
            said = f"{np.nanmedian(elsewhere):.2f}, {np.nanmin(elsewhere):.2f}"
            lines.append(f"| {k} | {memory:g} | {thread} | {', '.join(f'{x:.2f}' for x in at) or 'never'} | {said} |")
    _draw(curves, out)
    return TEXT.format(
        length=length,
        batches=BATCHES,
        seeds=seeds,
        table="\n".join(lines),
        reference=REFERENCE,
        flags="\n".join(_say_flags(k, memory, found) for (k, memory), found in flags.items()),
        verdict=_verdict(curves),
    )


def _split(runs: Curves, thread: str) -> tuple[list[float], Floats]:
    """The mean similarity at each change of the thread, and all similarities elsewhere (one row per seed)."""
    stacked = np.array([found[thread] for found in runs])
    at = [float(np.nanmean(stacked[:, batch])) for batch in CHANGES[thread]]
    return at, np.delete(stacked, [0, *CHANGES[thread]], axis=1)


def _verdict(curves: dict[tuple[int, float], Curves]) -> str:
    """Published: similarity drops where the subject changes, and nowhere else."""
    lines = []
    for (k, memory), runs in curves.items():
        splits = {thread: _split(runs, thread) for thread in THREADS}
        changes = sum(len(at) for at, _ in splits.values())
        drops = sum(x < np.nanmedian(elsewhere) - DROP_COSINE for at, elsewhere in splits.values() for x in at)
        highest = max(x for at, _ in splits.values() for x in at)
        lowest = min(float(np.nanmin(elsewhere)) for _, elsewhere in splits.values())
        autos = np.array([found["autos"] for found in runs])
        dragged = float(np.nanmean(autos[:, list(CHANGES["talk"])]))
        usual = float(np.nanmedian(np.delete(autos, [0, *CHANGES["talk"]], axis=1)))
        seen = "reproduced" if drops == changes else "reproduced in part" if drops else "not reproduced"
        clean = "reproduced" if lowest > highest else "not reproduced"
        separates = "a fixed threshold separates" if lowest > highest else "no fixed threshold separates"
        lines.append(
            f"- {k} topics, memory {memory:g}. Drops where a subject changes: **{seen}** ({drops} of {changes} changes "
            f"lie more than {DROP_COSINE} below the thread's median). Changes apart from the rest: **{clean}** (lowest "
            f"there {lowest:.2f}, highest at a change {highest:.2f}: {separates} them). autos, which never changes, is "
            f"at {dragged:.2f} when talk changes and at {usual:.2f} otherwise."
        )
    return "\n".join(lines)


def _batches(seed: int, length: int) -> tuple[list[sp.csr_matrix], list[NDArray[Any]]]:
    """The rows of every batch, and the thread of each row."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    stream = load_newsgroups20()
    rng = np.random.default_rng(seed)
    texts, threads = [], []
    for name, groups in THREADS.items():
        share = length // len(groups)
        for group in groups:
            members = rng.permutation(np.flatnonzero(stream.labels == group))[:share]
            texts += [stream.texts[i] for i in members]
            threads += [name] * len(members)
    vectorizer = TfidfVectorizer(stop_words="english", min_df=5, max_df=0.3, token_pattern=r"[a-zA-Z]{3,}")
    rows, names = vectorizer.fit_transform(texts).tocsr(), np.array(threads)
    pieces = [np.array_split(np.flatnonzero(names == name), BATCHES) for name in THREADS]
    chosen = [np.concatenate([piece[t] for piece in pieces]) for t in range(BATCHES)]
    return [rows[index] for index in chosen], [names[index] for index in chosen]


def _similarities(seed: int, k: int, length: int, memory: float) -> tuple[dict[str, Floats], set[tuple[str, int]]]:
    """For each thread the similarity of its topic over the batches, and the batches in which `lineage_` flagged it."""
    batches, threads = _batches(seed, length)
    model = OnlineNMF(k, solver="multiplicative", memory=memory, sweeps=150, random_state=seed)
    weights = np.zeros((k, len(THREADS)))
    similarity = np.full((BATCHES, k), np.nan)
    flagged = np.zeros((BATCHES, k), dtype=bool)
    before = np.zeros((0, 0))
    for t, (rows, names) in enumerate(zip(batches, threads, strict=True)):
        model.partial_fit(rows)
        codes = model.transform(rows)
        for column, thread in enumerate(THREADS):
            weights[:, column] += codes[names == thread].sum(axis=0)
        if t:
            similarity[t] = np.sum(model.components_ * before, axis=1)
            # Flagged: far below its running median, or so unlike the last batch that the row got a new name.
            flagged[t] = model.lineage_.changed | (np.array(model.lineage_.born) == t)
        before = model.components_.copy()
    # The topic in which the thread weighs most against the others.
    part = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12) * np.sqrt(weights)
    best = {thread: int(np.argmax(part[:, column])) for column, thread in enumerate(THREADS)}
    flags = {(thread, t) for thread, row in best.items() for t in range(BATCHES) if flagged[t, row]}
    return {thread: similarity[:, row] for thread, row in best.items()}, flags


def _count_flags(runs: Flags) -> tuple[int, int, int, int]:
    """Changes that were flagged, false flags, all changes, and all places without a change."""
    true = {(thread, batch) for thread, changes in CHANGES.items() for batch in changes}
    hits = sum(len(flags & true) for flags in runs)
    false = sum(len(flags - true) for flags in runs)
    everywhere = len(THREADS) * (BATCHES - 1) * len(runs)
    return hits, false, len(true) * len(runs), everywhere - len(true) * len(runs)


def _say_flags(k: int, memory: float, runs: Flags) -> str:
    hits, false, true, places = _count_flags(runs)
    return (
        f"- k = {k}, memory {memory:g}: `lineage_` flags (running median, or a new name) hit {hits} of {true} changes, "
        f"with {false} false ones in {places} places without a change."
    )


def _draw(curves: dict[tuple[int, float], Curves], out: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(4.4 * len(curves), 4.3), layout="constrained")
    grid = np.atleast_1d(figure.subplots(1, len(curves), sharey=True))
    for ax, ((k, memory), runs) in zip(grid, curves.items(), strict=True):
        for number, thread in enumerate(THREADS):
            values = np.array([found[thread][1:] for found in runs])
            batches, colour = range(1, BATCHES), f"C{number}"
            low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
            ax.fill_between(batches, low, high, color=colour, alpha=0.12, linewidth=0)
            ax.plot(batches, np.nanmean(values, axis=0), marker="o", markersize=4, color=colour, label=thread)
            for batch in CHANGES[thread]:
                ax.axvline(batch, color=colour, linestyle=":", linewidth=1.5, zorder=0)
        ax.set(title=f"{k} topics, memory {memory:g}", xlabel="batch", ylim=(0, 1.02))
        ax.grid(alpha=0.25)
    grid[0].set_ylabel("cosine with the batch before")
    handles, labels = grid[0].get_legend_handles_labels()
    handles.append(Line2D([], [], color="0.3", linestyle=":"))
    labels.append("the thread of this colour changes its subject")
    figure.suptitle("Mean of the runs; band: all of them", fontsize="medium")
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(out / "newsgroup-threads-similarity.png", dpi=110)
