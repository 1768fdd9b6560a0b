"""Topics over time: what rose, what faded, and when; which topic came from which; which words a topic took up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from firststory.arrays import Floats
from firststory.plot.figure import axes_or_new
from firststory.records import Topic, TopicEvent

PALETTE = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377",
    "#ee7733", "#009988", "#882255", "#999933", "#332288", "#dd77aa",
)  # fmt: skip
MARKS = {
    "born": ("o", "born"),
    "grown": ("P", "grown"),
    "split": ("^", "split off"),
    "merged": ("v", "merged"),
    "faded": ("X", "faded"),
    "changed": ("D", "changed"),
}


def topic_river(
    steps: Sequence[Sequence[Topic]],
    times: ArrayLike | None = None,
    *,
    n_topics: int = 10,
    n_terms: int = 3,
    ax: Any = None,
) -> Any:
    """Shares of the topics as a river: each band a topic, named where it is widest; the topics that moved most.

    Parameters
    ----------
    steps : for each timestep its topics (`model.snapshot(...)`, or what the store returns)
    times : the time of each step (numbers or datetimes); the number of the step where it is left out
    n_topics : how many bands are drawn, those whose share changed most

    Examples
    --------
    >>> from firststory.records import Topic
    >>> rise = [[Topic("t1", (("flood", 0.5),), 1 - s), Topic("t2", (("vote", 0.5),), s)] for s in (0.1, 0.5, 0.8)]
    >>> import firststory as fs
    >>> [text.get_text() for text in fs.plot.topic_river(rise).texts]
    ['vote', 'flood', '10% of the stream']
    """
    ax = axes_or_new(ax, (11, 6))
    x = _times(times, len(steps))
    shares, names = _shares(steps), _names(steps, n_terms)
    colours = topic_colours(shares)
    # The topics that moved most: what was always there at the same strength is not news.
    chosen = sorted(shares, key=lambda topic: -np.ptp(_smooth(shares[topic])))[:n_topics]
    # Bands in the order of their peaks in time: a river that reads from top left to bottom right.
    chosen.sort(key=lambda topic: (-int(np.argmax(_smooth(shares[topic]))), topic))
    bands = np.array([_smooth(shares[topic]) for topic in chosen]) if chosen else np.zeros((0, len(steps)))
    fine, height = _finer(x, bands)
    level = -height.sum(axis=0) / 2.0
    taken: list[tuple[float, float, float]] = []
    line = 0.05 * float(height.sum(axis=0).max(initial=0.0))
    for topic, band in zip(chosen, height, strict=True):
        ax.fill_between(fine, level, level + band, color=colours[topic], alpha=0.8, linewidth=0.5, edgecolor="white")
        _name_band(ax, fine, level, band, names[topic], taken, line)
        level = level + band
    ax.set_yticks([])
    ax.margins(x=0, y=0.02)
    if chosen:
        _scale_bar(ax, fine)
    ax.set_xlabel("timestep" if times is None else "")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    return ax


def lineage(
    steps: Sequence[Sequence[Topic]],
    events: Sequence[TopicEvent] = (),
    times: ArrayLike | None = None,
    *,
    n_topics: int = 24,
    n_terms: int = 4,
    ax: Any = None,
) -> Any:
    """Each topic as a line from birth to end, as thick as its share; marks say what happened, arcs with which topic."""
    shares, names = _shares(steps), _names(steps, n_terms)
    colours = topic_colours(shares)
    chosen = sorted(shares, key=lambda topic: -shares[topic].max())[:n_topics]
    chosen.sort(key=lambda topic: (int(np.argmax(shares[topic] > 0)), topic.zfill(8)))
    place = {topic: row for row, topic in enumerate(chosen)}
    ax = axes_or_new(ax, (11, 1.2 + 0.32 * max(len(chosen), 4)))
    x = _times(times, len(steps))
    peak = max((shares[topic].max() for topic in chosen), default=1.0) or 1.0
    for topic, row in place.items():
        alive = np.flatnonzero(shares[topic] > 0)
        span = slice(alive[0], alive[-1] + 1)
        half = np.maximum(0.45 * (_smooth(shares[topic])[span] / peak) ** 0.7, 0.02)
        colour = colours[topic]
        if half.size == 1:
            ax.plot([x[alive[0]]], [row], marker="s", color=colour, markersize=5, alpha=0.6)
        ax.fill_between(x[span], row - half, row + half, color=colour, alpha=0.55, linewidth=0)
    drawn = set()
    for event in events:
        if event.topic not in place or not 0 <= event.step < len(steps) or (event.step == 0 and event.kind == "born"):
            continue
        shape, label = MARKS[event.kind]
        row, when = place[event.topic], x[event.step]
        ax.plot(
            [when], [row], marker=shape, color="black", markersize=5, markeredgecolor="white", markeredgewidth=0.6,
            linestyle="none", zorder=3, label=label if event.kind not in drawn else None,
        )  # fmt: skip
        drawn.add(event.kind)
        for other in event.others:
            if other in place:
                ax.plot([when, when], [place[other], row], color="0.35", linewidth=0.9, zorder=2)
    ax.set_yticks(range(len(chosen)), [names[topic] for topic in chosen], fontsize="small")
    ax.set(ylim=(len(chosen) - 0.4, -0.6), xlabel="timestep" if times is None else None)
    ax.margins(x=0)
    ax.grid(axis="x", alpha=0.25)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if drawn:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), frameon=False, fontsize="small", ncols=5)
    return ax


def word_curves(
    curves: Mapping[str, ArrayLike], times: ArrayLike | None = None, *, topic: str = "", ax: Any = None
) -> Any:
    """The probability of chosen words within a topic, step by step (`model.word_probability`); a dot marks each peak.

    Examples
    --------
    >>> import firststory as fs
    >>> ax = fs.plot.word_curves({"rescue": [0.3, 0.1, 0.0], "aid": [0.0, 0.1, 0.3]}, topic="the flood")
    >>> [text.get_text() for text in ax.get_legend().get_texts()], ax.get_ylabel()
    (['rescue', 'aid'], 'probability within the flood')
    """
    ax = axes_or_new(ax, (9, 4.5))
    for number, (word, values) in enumerate(curves.items()):
        y = np.asarray(values, dtype=np.float64)
        x = _times(times, y.size)
        colour = PALETTE[number % len(PALETTE)]
        ax.plot(x, y, color=colour, linewidth=1.8, label=word)
        if np.isfinite(y).any():
            top = int(np.nanargmax(y))
            ax.plot(x[top : top + 1], y[top : top + 1], color=colour, marker="o", markersize=6)
    ax.set(ylabel=f"probability within {topic or 'the topic'}", xlabel="timestep" if times is None else None)
    ax.set_ylim(bottom=0.0)
    ax.grid(alpha=0.25)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    # Beside the axes: curves of one event cross, and a name on one of them lies on another.
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    return ax


# -- shared ------------------------------------------------------------------------------------------------


def _shares(steps: Sequence[Sequence[Topic]]) -> dict[str, Floats]:
    """For each topic its share in every step, 0 where it is not there."""
    shares: dict[str, Floats] = {}
    for number, topics in enumerate(steps):
        for topic in topics:
            shares.setdefault(topic.id, np.zeros(len(steps)))[number] = topic.share
    return shares


def topic_colours(shares: Mapping[str, Floats]) -> dict[str, str]:
    """A colour for each topic, the same in every figure of the same steps: the largest have colours of their own."""
    ranked = sorted(shares, key=lambda topic: (-float(shares[topic].max()), topic))
    return {topic: PALETTE[rank % len(PALETTE)] for rank, topic in enumerate(ranked)}


def _names(steps: Sequence[Sequence[Topic]], n_terms: int) -> dict[str, str]:
    """The label of each topic, or its terms, in the step in which its share was highest: when it was most itself."""
    best: dict[str, Topic] = {}
    for topics in steps:
        for topic in topics:
            if topic.id not in best or topic.share > best[topic.id].share:
                best[topic.id] = topic
    return {
        name: ", ".join(topic.label[:n_terms] or [term for term, _ in topic.terms[:n_terms]])
        for name, topic in best.items()
    }


def _smooth(values: Floats) -> Floats:
    """A running mean of three steps: rivers show courses, not ripples. Where a topic is absent it stays absent."""
    if values.size < 5:
        return values
    padded = np.pad(values, 1, mode="edge")
    mean = (padded[:-2] + padded[1:-1] + padded[2:]) / 3.0
    return np.where(values > 0.0, mean, 0.0)


def _finer(x: Any, bands: Floats) -> tuple[Any, Floats]:
    """Cosine interpolation between the steps, so that bands bend instead of break."""
    n = len(x)
    if n < 2:
        return x, bands
    parts = 12
    at = np.linspace(0, n - 1, (n - 1) * parts + 1)
    left = np.minimum(at.astype(int), n - 2)
    weight = (1.0 - np.cos(np.pi * (at - left))) / 2.0
    gaps = x[left + 1] - x[left]
    if np.issubdtype(gaps.dtype, np.timedelta64):
        where = x[left] + (gaps.astype(np.float64) * (at - left)).astype(gaps.dtype)
    else:
        where = x[left] + gaps * (at - left)
    return where, bands[:, left] * (1.0 - weight) + bands[:, left + 1] * weight


def _name_band(
    ax: Any, x: Any, level: Floats, band: Floats, name: str, taken: list[tuple[float, float, float]], line: float
) -> None:
    """Write the name where the band is widest, or nearly so where another name stands there; edges lean inwards.

    `line` is how much of the river's height a line of text takes.
    """
    if band.size == 0 or band.max() <= 0:
        return
    middle = level + band / 2
    size = float(np.clip(110 * band.max(), 8.0, 11.0))
    # Half the width of the name in widths of the axes, if a letter is 0.6 of its size and axes are 0.8 of the figure.
    half = 0.3 * len(name) * size / (0.8 * 72 * ax.figure.get_figwidth())
    # A river that lasts a moment (all steps at one time) has no length to go along.
    along = (x - x[0]) / (x[-1] - x[0]) if x[-1] != x[0] else np.full(len(x), 0.5)
    wide = np.flatnonzero(band >= 0.6 * band.max())
    # Names stand apart if they differ by their widths along the river, or by a line across it.
    places = wide[np.argsort(-band[wide], kind="stable")]
    for place in places:
        at = min(max(along[place], half), 1.0 - half)
        if all(abs(at - other) > half + width or abs(middle[place] - y) > line for other, y, width in taken):
            peak = int(place)
            break
    else:
        return  # rather no name than one upon another; the lineage has them all
    at = min(max(along[peak], half), 1.0 - half)
    taken.append((at, float(middle[peak]), half))
    side = "left" if along[peak] < half else "right" if along[peak] > 1.0 - half else "center"
    box = {"facecolor": "white", "alpha": 0.55, "linewidth": 0, "pad": 0.8}
    ax.text(x[peak], middle[peak], name, ha=side, va="center", fontsize=size, color="black", bbox=box)


def _scale_bar(ax: Any, x: Any) -> None:
    """A river has no axis to read heights from: a bar says how much a tenth, or a hundredth, of the stream is."""
    low, high = ax.get_ylim()
    share = 0.1 if high - low > 0.25 else 0.01
    ax.plot([x[0], x[0]], [low, low + share], color="black", linewidth=3, solid_capstyle="butt", clip_on=False)
    ax.annotate(
        f"{share:.0%} of the stream", (x[0], low + share / 2), xytext=(6, 0), textcoords="offset points", va="center"
    )
    ax.set_ylim(low, high)


def _times(times: ArrayLike | None, n: int) -> Any:
    if times is None:
        return np.arange(n, dtype=np.float64)
    array = np.asarray(times)
    if np.issubdtype(array.dtype, np.number):
        return array.astype(np.float64)
    # datetime64 can be interpolated and drawn alike.
    return array.astype("datetime64[s]") if array.dtype != object else np.array([_plain(t) for t in array])


def _plain(time: Any) -> np.datetime64:
    """A datetime as NumPy knows it: UTC, without saying so."""
    if time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(time, "s")
