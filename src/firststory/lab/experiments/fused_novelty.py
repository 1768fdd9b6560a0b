"""How good the default detector is and where it loses: beside the plain neighbour and the rule before, on one page."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from firststory.detectors.fused_novelty import FusedNovelty
from firststory.lab.experiments.fused_before import BEFORE
from firststory.lab.experiments.fused_measure import (
    Measured,
    RecordingNovelty,
    Setting,
    Yardstick,
    fused_scores,
    interval,
)
from firststory.lab.experiments.fused_streams import LabelledRows, development_streams, pieces, shuffled

TITLE = "How good the default detector is, and where it loses"

TIMED, UNTIMED, SHUFFLED, BROAD = "with times", "without times", "shuffled", 'horizon="topics"'
SHORT_TIMED, SHORT_UNTIMED = "short, with times", "short, without times"

SETTINGS = [Setting(*values) for values in itertools.product((10.0, 20.0, 40.0), (0.5, 0.67, 1.0), (1, 3))]
"""What is chosen with one corpus left out."""

INTRODUCTION = (
    "Shares of the plain neighbour's topic-weighted minimum TDT cost (C_miss 1, C_FA 0.1, P_target 0.02): below 1 is "
    "better than plain. *Plain*: 1 - cosine to the nearest earlier document, TF-IDF learnt after each document, no "
    "times. *Before*: the rule that this one replaced. In brackets a 95 % interval, paired with plain (bootstrap over "
    "topics, thresholds chosen again in each draw; of a mean: its streams drawn independently), then how far the AUC "
    "lies above plain's. *Dense*: 20 documents per story or more. *Shuffled*: order destroyed, no times. *Short*: "
    "pieces of 600, 2,000 and 6,000 documents, each a stream of its own. *Duplicates*: bug reports declared "
    "duplicates, often years apart. *Broad*: topics that run all year. All these are development streams: the rule was "
    "chosen while looking at them. What it is made of, and what each part is worth: "
    "[details](fused-novelty-details.md). Every score knows the past only; one thread."
)


@dataclass
class Result:
    """All that was measured on one stream, by regime."""

    stream: str
    corpus: str
    kind: str
    n_targets: int
    measured: dict[str, Measured] = field(default_factory=dict)
    settings: dict[str, dict[Setting, float]] = field(default_factory=dict)
    """Of other settings: the share of the plain neighbour's cost."""


def run(*, quick: bool, out: Path) -> str:
    """The page as Markdown; a figure of the shares."""
    draws = 20 if quick else 100
    return page([judge_stream(stream, draws) for stream in development_streams(quick=quick)], out)


def page(results: list[Result], out: Path) -> str:
    """What was measured as Markdown."""
    _figure(results, out)
    return "\n\n".join(
        [
            INTRODUCTION,
            "### In short",
            _verdict(results),
            _means_table(results),
            "### Each stream: share [interval] (AUC above plain); before -> now",
            _stream_table(results),
            "### One corpus left out: from what size and how much clusters count, and what NN is, chosen on the others",
            _left_out_table(results),
            "![Share of the plain neighbour's cost on each stream](fused-novelty-shares.png)",
        ]
    )


def judge_stream(
    stream: LabelledRows, n_bootstrap: int, kind: type[Any] | None = None, horizon: str = "topics"
) -> Result:
    """Every regime of one stream; `kind` is another detector in place of this one, `horizon` its word for topics."""
    detector = FusedNovelty if kind is None else kind
    result = Result(stream.name, stream.corpus, stream.kind, int(stream.first.sum()))
    whole = Yardstick(stream, n_bootstrap)
    for regime, timed in ((TIMED, True), (UNTIMED, False)):
        if timed and stream.times is None:
            continue
        if kind is None:
            recording = RecordingNovelty()
            score = fused_scores(stream, lambda recording=recording: recording, timed=timed)
            result.settings[regime] = {s: whole.share_of(recording.score_with(s)) for s in SETTINGS}
        else:
            score = fused_scores(stream, kind, timed=timed)
        result.measured[regime] = whole.measure(score)
    if stream.kind == "broad":
        result.measured[BROAD] = whole.measure(fused_scores(stream, detector, horizon=horizon))
        return result
    mixed = shuffled(stream)
    result.measured[SHUFFLED] = Yardstick(mixed, n_bootstrap).measure(fused_scores(mixed, detector))
    for regime, timed in ((SHORT_TIMED, True), (SHORT_UNTIMED, False)):
        if not timed or stream.times is not None:
            result.measured[regime] = _measure_pieces(stream, detector, timed=timed)
    return result


def _measure_pieces(stream: LabelledRows, detector: Callable[..., Any], *, timed: bool) -> Measured:
    """Means over the pieces; the draws are of pieces."""
    found = [Yardstick(piece, 0).measure(fused_scores(piece, detector, timed=timed)) for piece in pieces(stream)]
    cost, auc, plain, plain_auc = (
        np.array([getattr(one, name) for one in found]) for name in ("cost", "auc", "plain_cost", "plain_auc")
    )
    drawn = np.random.default_rng(0).integers(len(found), size=(100, len(found)))
    draws = cost[drawn].mean(axis=1) / np.maximum(plain[drawn].mean(axis=1), 1e-9)
    return Measured(float(cost.mean()), float(auc.mean()), float(plain.mean()), float(plain_auc.mean()), draws)


def _groups(results: list[Result]) -> Iterator[tuple[str, str, list[Result]]]:
    """Name of the mean, regime, and the streams that it is over."""
    kinds = ("sparse", "dense")
    for regime in (TIMED, UNTIMED):
        for kind in kinds:
            yield f"{kind}, {regime}", regime, [r for r in results if r.kind == kind and regime in r.measured]
    events = [r for r in results if r.kind in kinds]
    for regime in (SHUFFLED, SHORT_TIMED, SHORT_UNTIMED):
        yield regime, regime, [r for r in events if regime in r.measured]
    for regime in (TIMED, UNTIMED):
        yield f"duplicates, {regime}", regime, [r for r in results if r.kind == "duplicates" and regime in r.measured]
    for regime in (TIMED, BROAD):
        yield f"broad, {regime}", regime, [r for r in results if r.kind == "broad" and regime in r.measured]


def _means_table(results: list[Result]) -> str:
    rows = []
    for name, regime, members in _groups(results):
        if not members:
            continue
        share, gain = _mean(members, regime)
        low, high = interval(np.mean([r.measured[regime].draws[: _fewest(members, regime)] for r in members], axis=0))
        known = [BEFORE[r.stream, regime] for r in members if (r.stream, regime) in BEFORE]
        before = f"{np.mean([k[0] for k in known]):.2f} ({np.mean([k[1] for k in known]):+.3f})" if known else "-"
        worst = max(members, key=lambda r: r.measured[regime].share)
        rows.append(
            [
                name,
                str(len(members)),
                before if len(known) == len(members) else "-",
                f"**{share:.2f}** [{low:.2f}, {high:.2f}] ({gain:+.3f})",
                f"{worst.stream} {worst.measured[regime].share:.2f}",
            ]
        )
    return table(["mean over", "streams", "before", "now", "worst stream"], rows)


def _mean(members: list[Result], regime: str) -> tuple[float, float]:
    measured = [r.measured[regime] for r in members]
    return float(np.mean([m.share for m in measured])), float(np.mean([m.auc_gain for m in measured]))


def _fewest(members: list[Result], regime: str) -> int:
    return min(len(r.measured[regime].draws) for r in members)


def _stream_table(results: list[Result]) -> str:
    rows = []
    for r in results:
        plain = next(iter(r.measured.values()))
        cells = [_cell(r, regime) for regime in (TIMED, UNTIMED, SHUFFLED)]
        rows.append([r.stream, r.kind, str(r.n_targets), f"{plain.plain_auc:.3f} / {plain.plain_cost:.3f}", *cells])
    return table(["stream", "kind", "targets", "plain AUC / cost", TIMED, UNTIMED, SHUFFLED], rows)


def _cell(result: Result, regime: str) -> str:
    if regime not in result.measured:
        return "-"
    measured, before = result.measured[regime], BEFORE.get((result.stream, regime))
    low, high = measured.interval
    was = f"{before[0]:.2f} -> " if before else ""
    return f"{was}**{measured.share:.2f}** [{low:.2f}, {high:.2f}] ({measured.auc_gain:+.3f})"


def _left_out_table(results: list[Result]) -> str:
    """For each corpus the setting that is best on average over all the other corpora, and its share on this one."""
    events = [r for r in results if r.kind != "broad"]
    by_corpus: dict[str, dict[Setting, list[float]]] = defaultdict(lambda: defaultdict(list))
    for r in events:
        for shares in r.settings.values():
            for setting, share in shares.items():
                by_corpus[r.corpus][setting].append(share)
    mean = {corpus: {s: float(np.mean(v)) for s, v in found.items()} for corpus, found in by_corpus.items()}
    rows, chosen_shares = [], []
    for left in mean:
        others = [found for corpus, found in mean.items() if corpus != left]
        if not others:
            continue
        chosen = min(SETTINGS, key=lambda s: float(np.mean([found[s] for found in others])))
        chosen_shares.append(mean[left][chosen])
        rows.append([left, str(chosen), f"{mean[left][chosen]:.3f}", f"{mean[left][Setting()]:.3f}"])
    fixed = float(np.mean([found[Setting()] for found in mean.values()]))
    rows.append(["**mean**", "", f"**{np.mean(chosen_shares) if chosen_shares else np.nan:.3f}**", f"**{fixed:.3f}**"])
    return table(["left out", "chosen on the others", "its share", f"fixed ({Setting()})"], rows)


def _verdict(results: list[Result]) -> str:
    """Computed: where it stands, and where it loses."""
    lines = []
    every = [(r, regime, m) for r in results for regime, m in r.measured.items() if regime in (TIMED, UNTIMED)]
    events = [(r, regime, m) for r, regime, m in every if r.kind in ("sparse", "dense")]
    if events:
        share = np.mean([m.share for _, _, m in events])
        lines.append(
            f"- Streams of events, with and without times: mean share {share:.2f}; better than plain beyond its "
            f"interval on {sum(m.interval[1] < 1 for _, _, m in events)} of {len(events)}, worse beyond it on "
            f"{sum(m.interval[0] > 1 for _, _, m in events)}."
        )
        worst = max(events, key=lambda item: item[2].share)
        lines.append(f"- Worst of these: {worst[0].stream}, {worst[1]}: {worst[2].share:.2f}.")
    lower = _named((r, regime, f"{m.auc_gain:+.3f}") for r, regime, m in every if m.auc_gain < 0 and r.kind != "broad")
    lines.append(f"- AUC below plain: {lower}.")
    loses = _named(
        (r, regime, f"{m.share:.2f}")
        for r in results
        for regime, m in r.measured.items()
        if m.interval[0] > 1.0 and r.kind != "broad"
    )
    lines.append(f"- Costs more than plain, its interval above 1: {loses}.")
    for regime in (SHUFFLED, SHORT_TIMED, SHORT_UNTIMED):
        above = [r for r in results if regime in r.measured and r.measured[regime].share > 1.0]
        of = sum(regime in r.measured for r in results)
        lines.append(f"- {regime.capitalize()}: costs more than plain on {len(above)} of {of} streams.")
    broad = _named((r, regime, f"{r.measured[regime].share:.2f}") for r in results if r.kind == "broad"
                   for regime in (TIMED, BROAD))  # fmt: skip
    lines.append(f"- Broad topics: {broad}.")
    return "\n".join(lines)


def _named(found: Iterable[tuple[Result, str, str]]) -> str:
    return "; ".join(f"{r.stream}, {regime} ({value})" for r, regime, value in found) or "none"


def table(head: list[str], rows: list[list[str]]) -> str:
    """As Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _figure(results: list[Result], out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    marks = {TIMED: ("o", "#1f4e9c"), UNTIMED: ("s", "#5fa8dc"), SHUFFLED: ("x", "#d95f02")}
    figure, axes = plt.subplots(figsize=(8, 0.45 * len(results) + 1.6), layout="constrained")
    for offset, (regime, (mark, colour)) in enumerate(marks.items()):
        at = [(y + 0.2 * (offset - 1), r.measured[regime]) for y, r in enumerate(results) if regime in r.measured]
        if not at:
            continue
        axes.scatter([m.share for _, m in at], [y for y, _ in at], marker=mark, color=colour, label=regime, zorder=3)
        for y, m in at:
            axes.plot(m.interval, [y, y], color=colour, linewidth=1, alpha=0.6)
    axes.axvline(1.0, color="#999999", linewidth=1)
    axes.set_yticks(range(len(results)), [r.stream for r in results])
    axes.invert_yaxis()
    axes.set_xlabel("topic-weighted cost / that of the plain neighbour, with 95 % interval (left is better)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=3, frameon=False)
    figure.savefig(out / "fused-novelty-shares.png", dpi=150)
    plt.close(figure)
