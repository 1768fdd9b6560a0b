"""How idf is weighed and when it is learnt: choices, and what they come to in the first hours of a stream."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from firststory.arrays import Floats
from firststory.detectors.fused_novelty import FusedNovelty
from firststory.evaluate.tdt import tdt_cost
from firststory.kernels.fused.tally import EARLY, IDF_PLUS, IDF_POWER
from firststory.lab.experiments.fused_streams import LabelledRows
from firststory.lab.experiments.plain_neighbour import plain_neighbour

IDF = {
    "log + 0.5": (0.5, 1.25, 0.1),
    "log + 1": (1.0, 1.25, 0.1),
    "log + 0.2": (0.2, 1.25, 0.1),
    "log": (0.0, 1.25, 0.1),
    "(log + 1)^1.5": (1.0, 1.5, 0.1),
    "log + 1, every 100": (1.0, 1.25, 0.0),
}
"""What is added to the logarithm, the power, and after what part of the documents so far idf is learnt anew. The first
is the default; the last is the reference recipe's, which knows no idf in the first hundred documents."""

LENGTH, PIECES = 600, 8

ABOUT = (
    "Share of the plain neighbour's mean cost, with times / without. Names say what idf is: *log* is ln((1 + N) / (1 + "
    "df)), to the power 1.25 unless another is given; learnt anew after a tenth of the documents so far and at least "
    "every 100, or (*every 100*) after each hundred only."
)


def weighed(plus: float, power: float, early: float) -> type[FusedNovelty]:
    """The detector with another idf."""

    class Weighed(FusedNovelty):
        def _knobs(self) -> Floats:
            knobs = super()._knobs().copy()
            knobs[[IDF_PLUS, IDF_POWER, EARLY]] = plus, power, early
            return knobs

    return Weighed


def pieces(stream: LabelledRows) -> list[LabelledRows]:
    """Pieces of a stream, each a stream of its own: what was told before it began is not known."""
    rng = np.random.default_rng(0)
    found = []
    for begin in rng.integers(0, max(1, len(stream.times) - LENGTH), size=PIECES).tolist():
        cut = slice(begin, begin + LENGTH)
        piece = replace(
            stream,
            effective=stream.effective[cut],
            plain=stream.plain[cut],
            same=stream.same[cut],
            times=stream.times[cut],
            labels=stream.labels[cut],
            vectors=None if stream.vectors is None else stream.vectors[cut],
        )
        if 1 < piece.first.sum() < len(piece.labels):
            found.append(piece)
    return found


def pieces_row(stream: LabelledRows) -> list[str]:
    """Of one stream: the mean cost of the plain neighbour, and the share of it that each choice has."""
    plain: list[float] = []
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in IDF}
    for piece in pieces(stream):
        plain.append(_cost(piece, plain_neighbour(piece.plain)))
        for name, choice in IDF.items():
            kind = weighed(*choice)
            timed, untimed = (
                kind().score_then_learn(piece.effective, times=times, vectors=piece.vectors)
                for times in (piece.times, None)
            )
            costs[name].append((_cost(piece, timed), _cost(piece, untimed)))
    shares = [np.mean(both, axis=0) / max(float(np.mean(plain)), 1e-9) for both in costs.values()]
    return [stream.name, f"{np.mean(plain):.2f}", *(f"{timed:.2f} / {untimed:.2f}" for timed, untimed in shares)]


def pieces_text(rows: list[list[str]]) -> str:
    """The table, with the means over the streams."""
    means = []
    for column in range(2, 2 + len(IDF)):
        both = np.array([[float(share) for share in row[column].split(" / ")] for row in rows])
        means.append("**{:.2f} / {:.2f}**".format(*both.mean(axis=0)))
    head = ["stream", "plain, mean cost", *IDF]
    lines = [head, ["---"] * len(head), *rows, ["**mean**", "", *means]]
    return "\n".join(
        [
            f"### The beginning of a stream: {PIECES} pieces of {LENGTH} documents each, every one a stream of its own",
            "",
            ABOUT,
            "",
            *("| " + " | ".join(line) + " |" for line in lines),
        ]
    )


def _cost(piece: LabelledRows, score: Floats) -> float:
    return tdt_cost(piece.first, score, piece.labels, n_bootstrap=0).topic_weighted
