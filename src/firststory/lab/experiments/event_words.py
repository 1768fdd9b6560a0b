"""The words of one event over time: what a topic talks about, from the first day to the aftermath."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from firststory.arrays import Floats
from firststory.datasets import load_timeline17
from firststory.plot.topics import word_curves
from firststory.text.vectorizer import StreamVectorizer
from firststory.topics.online_nmf import OnlineNMF

TITLE = "Words of one event over time (the tsunami figure, on other news)"

TEXT = """\
The paper follows *aids*, *reconstruct* and *debt* in the finance topic of tsunami news, a corpus that is not public. In
its place: the {n} articles on *{event}* (2011) in Timeline17, in the order of time, {steps} steps of {size}
articles, k = {k}, `StreamVectorizer` (vocabulary grows as it goes), default settings otherwise. For each word the
topic is taken in which it weighs most over the whole run; its probability within that topic, step by step:

{table}

![probability of the words within their topic](event-words-curves.png)

{verdict} The date of a step is that of its middle article.
"""

EVENT = "libya"


class Happening(NamedTuple):
    """What a word stands for, and when that began and ended in 2011."""

    what: str
    began: str
    ended: str


WORDS = {
    "protesters": Happening("protests", "2011-02-15", "2011-02-28"),
    "evacuation": Happening("foreigners leave", "2011-02-21", "2011-03-05"),
    "fly": Happening("no-fly zone of the Security Council", "2011-03-17", "2011-03-31"),
    "nato": Happening("NATO in command", "2011-03-31", "2011-10-31"),
    "tripoli": Happening("the capital taken", "2011-08-20", "2011-08-28"),
    "sirte": Happening("battle of Sirte", "2011-09-15", "2011-10-20"),
}
"""Words to follow, in the order in which things began."""


def run(*, quick: bool, out: Path) -> str:
    """The table of peaks and the figure."""
    stream = load_timeline17()
    about = np.flatnonzero(stream.labels == EVENT)
    chosen, seconds = [stream.documents[i] for i in about], stream.times[about]
    k, size = 5, 40
    chosen = chosen[: 5 * size] if quick else chosen
    vectorizer = StreamVectorizer(language="en", norm="l2", stem=False)
    model = OnlineNMF(k, random_state=0)
    times, history = [], []
    for begin in range(0, len(chosen) - size // 2, size):
        batch = chosen[begin : begin + size]
        model.partial_fit(vectorizer.partial_fit_transform([document.text for document in batch]))
        names = {str(name): column for column, name in enumerate(vectorizer.get_feature_names_out())}
        history.append(model.word_probability([names.get(word, len(names)) for word in WORDS]))
        times.append(np.datetime64(int(seconds[begin + len(batch) // 2]), "s"))
    course = np.array(history)  # step, topic, word
    head = "| word | topic | highest on | probability then | at the end | what happened |"
    curves, lines = {}, [head, "|---|---|---|---|---|---|"]
    terms = model.snapshot(vectorizer.get_feature_names_out(), 4)
    named = {topic.id: ", ".join(term for term, _ in topic.terms) for topic in terms}
    for number, (word, happening) in enumerate(WORDS.items()):
        row = int(np.argmax(course[:, :, number].sum(axis=0)))
        curves[word] = course[:, row, number]
        peak = int(np.argmax(curves[word]))
        when = str(times[peak].astype("datetime64[D]"))
        topic = named.get(model.lineage_.ids[row], "")
        lines.append(
            f"| {word} | {topic} | {when} | {curves[word][peak]:.4f} | {curves[word][-1]:.4f} | "
            f"{happening.what}, {happening.began} to {happening.ended} |"
        )
    ax = word_curves(curves, np.array(times), topic="its topic")
    ax.set_title(f"{len(chosen)} articles on {EVENT} in Timeline17", fontsize="medium")
    ax.figure.savefig(out / "event-words-curves.png", dpi=110)
    return TEXT.format(
        n=len(chosen), event=EVENT, steps=len(times), size=size, k=k, table="\n".join(lines),
        verdict=_verdict(curves, times),
    )  # fmt: skip


def _verdict(curves: dict[str, Floats], times: Sequence[np.datetime64]) -> str:
    """Published: the curves show the order of events, and early words give way to later ones."""
    peaks = [times[int(np.argmax(curve))] for curve in curves.values()]
    pairs = list(combinations(range(len(peaks)), 2))
    ordered = sum(bool(peaks[a] <= peaks[b]) for a, b in pairs)
    within = sum(
        bool(np.datetime64(happening.began) <= peak <= np.datetime64(happening.ended) + np.timedelta64(14, "D"))
        for happening, peak in zip(WORDS.values(), peaks, strict=True)
    )
    faded = [word for word, curve in curves.items() if curve[-1] < 0.5 * curve.max()]
    part = "Reproduced in part" if 2 * ordered > len(pairs) else "Not reproduced"
    holds = "Reproduced" if ordered == len(pairs) else part
    return (
        f"Published: the curves show the order of events, and what is urgent first gives way to what comes later. "
        f"**{holds}**: {ordered} of {len(pairs)} pairs of words peak in the order in which things began. {within} of "
        f"{len(peaks)} words peak while it lasted or up to two weeks after. At the end {len(faded)} of {len(peaks)} "
        f"words are below half of their peak ({', '.join(faded) or 'none'})."
    )
