"""Where the settings of the dictionary experiments come from: corpora that they are not reported on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from firststory.datasets.corpora import load_newsgroups20, load_reuters21578, load_timeline17
from firststory.datasets.streams import TextStream
from firststory.datasets.timesteps import Timesteps, timesteps
from firststory.detectors.online_l1 import OnlineL1Dictionary
from firststory.lab.experiments.dictionary_stream import CHOSEN_SETTINGS, follow

TITLE = "Settings of the online l1-dictionary, chosen on Reuters, Timeline17 and 20 Newsgroups"

MULTIPLIERS: dict[str, dict[str, Any]] = {
    "carry": {"multiplier": "carry"},
    "inner, 5": {"multiplier": "inner", "n_inner": 5},
    "inner, 10": {"multiplier": "inner", "n_inner": 10},
    "dual": {"multiplier": "dual"},
}

STARTS = ("words", "documents", "kmeans")
REPLACEMENT = {"after 5 steps": 5, "never": None}


def run(*, quick: bool, out: Path) -> str:
    """The section: average AUC over the timesteps with a new topic, k = 200."""
    corpora = {"Reuters": _reuters(), "Timeline17": _timeline()}
    if not quick:
        corpora["20 Newsgroups"] = _newsgroups()
    k = 20 if quick else 200
    multipliers = dict(list(MULTIPLIERS.items())[: 1 if quick else None])
    by_multiplier = {
        (n, name): [_averages(stream, n_atoms=k, init_rounds=n, **options)[0] for stream in corpora.values()]
        for n in ((1,) if quick else (0, 5, 10))
        for name, options in multipliers.items()
    }
    by_start = {
        (name, start, after): [
            _averages(
                stream, n_atoms=k, init=start, recycle_after=REPLACEMENT[after], random_state=0, **MULTIPLIERS[name]
            )
            for stream in corpora.values()
        ]
        for name in (("carry",) if quick else ("carry", "inner, 10"))
        for start in STARTS
        for after in REPLACEMENT
    }
    return f"""Average AUC over the timesteps that bring a new label. 20 Newsgroups is a planted stream: eight groups
at first, two more per step.

### Multiplier and rounds of the start

{_table(("init_rounds", "multiplier"), by_multiplier, tuple(corpora))}

{_multiplier_sentence(by_multiplier)}

### Start, replacement of unused atoms, and score

Five rounds. *novelty* is what the detector returns: the paper's objective l(p, A), with the documents that no atom
helps ordered by the nearest atom; *objective* is l(p, A) alone. One seed for the random starts.

{_start_table(by_start, tuple(corpora))}

{_start_sentence(by_start)}
"""


def _averages(stream: Timesteps, **options: Any) -> tuple[float, float]:
    """By novelty and by the objective."""
    outcome = follow(OnlineL1Dictionary(**options), stream, objective=True)
    assert outcome.objective_auc is not None
    return outcome.auc.average, outcome.objective_auc.average


def _table(heads: tuple[str, ...], rows: dict[Any, list[float]], corpora: tuple[str, ...]) -> str:
    lines = [f"| {' | '.join((*heads, *corpora, 'mean'))} |", "|---" * (len(heads) + len(corpora) + 1) + "|"]
    for key, values in rows.items():
        cells = [*(str(part) for part in key), *(f"{v:.3f}" for v in values), f"{np.mean(values):.3f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _multiplier_sentence(rows: dict[tuple[int, str], list[float]]) -> str:
    mean = {name: np.mean([np.mean(v) for (_, m), v in rows.items() if m == name]) for _, name in rows}
    best = max(mean, key=lambda name: mean[name])
    used = CHOSEN_SETTINGS["init_rounds"]
    top = max(rows, key=lambda key: float(np.mean(rows[key])))
    text = f"Best multiplier over all rounds: {best} ({mean[best]:.3f}). Best row: {top[1]} with {top[0]} rounds "
    text += f"({np.mean(rows[top]):.3f}). The experiments on TDT2 use `inner, 10` with {used} rounds"
    chosen = (used, "inner, 10")
    return f"{text}, {np.mean(rows[chosen]):.3f} here." if chosen in rows else f"{text}."


def _start_table(rows: dict[tuple[str, str, str], list[tuple[float, float]]], corpora: tuple[str, ...]) -> str:
    flat = {
        (*key, score): [value[place] for value in values]
        for key, values in rows.items()
        for place, score in enumerate(("novelty", "objective"))
    }
    return _table(("multiplier", "start", "replaced", "score"), flat, corpora)


def _start_sentence(rows: dict[tuple[str, str, str], list[tuple[float, float]]]) -> str:
    lines = []
    for place, score in enumerate(("novelty", "objective")):
        mean = {
            start: np.mean([v[place] for (_, s, _), values in rows.items() if s == start for v in values])
            for start in STARTS
        }
        order = sorted(mean, key=lambda start: -mean[start])
        spread = mean[order[0]] - mean[order[-1]]
        lines.append(
            f"By {score}: " + ", ".join(f"{start} {mean[start]:.3f}" for start in order) + f" (spread {spread:.3f})."
        )
    gain = np.mean(
        [
            np.mean([v[0] for v in values]) - np.mean([v[0] for v in rows[m, s, "never"]])
            for (m, s, after), values in rows.items()
            if after != "never"
        ]
    )
    return "\n".join([*lines, f"Replacing unused atoms changes the mean AUC by {gain:+.3f} (by novelty)."])


def _steps(texts: list[str], labels: NDArray[Any], step: int) -> Timesteps:
    counts = CountVectorizer(stop_words="english", min_df=3, token_pattern=r"[A-Za-z]{3,}").fit_transform(texts)
    return timesteps(sp.csr_matrix(counts, dtype=np.float64), labels, step)


def _reuters() -> Timesteps:
    stream = load_reuters21578()
    single = [i for i, label in enumerate(stream.labels) if isinstance(label, str)]
    return _steps([stream.texts[i] for i in single], np.array([stream.labels[i] for i in single]), 900)


def _timeline() -> Timesteps:
    stream = load_timeline17()
    return _steps(list(stream.texts), np.array([str(label) for label in stream.labels]), 286)


def _newsgroups(step: int = 900) -> Timesteps:
    stream: TextStream = load_newsgroups20()
    labels = np.array([str(label) for label in stream.labels])
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.unique(labels))
    left = {group: list(np.flatnonzero(labels == group)) for group in groups}
    order: list[int] = []
    for t in range(7):
        present = groups[: 8 + 2 * t]
        drawn = [left[g].pop(0) for g in present for _ in range(step // len(present) + 1)][:step]
        order += [int(i) for i in rng.permutation(drawn)]
    return _steps([stream.texts[i] for i in order], labels[order], step)
