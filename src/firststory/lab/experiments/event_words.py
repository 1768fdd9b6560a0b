"""The words of one event over time: what a topic talks of, from the first day to the aftermath."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from firststory.datasets import load_timeline17
from firststory.plot.topics import word_curves
from firststory.text.vectorizer import StreamVectorizer
from firststory.topics.online_nmf import OnlineNMF

TITLE = "Words of one event over time (the tsunami figure, on other news)"

TEXT = """\
The paper follows *aids*, *reconstruct* and *debt* in the finance topic of tsunami news, which are not to be had. In
their place: the {n} articles on *{event}* (2011) in Timeline17, in the order of time, {steps} steps of {size}
articles, k = {k}, `StreamVectorizer` (vocabulary grows as it goes), default settings otherwise. For each word the
topic is taken in which it weighs most over the whole run; its probability within that topic, step by step:

{table}

![probability of the words within their topic](event-words-curves.png)

As in the paper, the curves tell the order of things: what is urgent first comes first and fades, what comes later
takes its place. The dates are the middle of each step.
"""

EVENT = "libya"
WORDS = {
    "protesters": "protests from 15 February",
    "evacuation": "foreigners leave, end of February",
    "fly": "no-fly zone of the Security Council, 17 March",
    "nato": "NATO in command from 31 March to 31 October",
    "tripoli": "the capital taken, 20 to 28 August",
    "sirte": "battle of Sirte, 15 September to 20 October",
}
"""Words to follow, and what happened in 2011."""


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
    curves, lines = {}, ["| word | topic | highest on | probability then | what happened |", "|---|---|---|---|---|"]
    terms = model.snapshot(vectorizer.get_feature_names_out(), 4)
    named = {topic.id: ", ".join(term for term, _ in topic.terms) for topic in terms}
    for number, word in enumerate(WORDS):
        row = int(np.argmax(course[:, :, number].sum(axis=0)))
        curves[word] = course[:, row, number]
        peak = int(np.argmax(curves[word]))
        when = str(times[peak].astype("datetime64[D]"))
        topic = named.get(model.lineage_.ids[row], "")
        lines.append(f"| {word} | {topic} | {when} | {curves[word][peak]:.4f} | {WORDS[word]} |")
    ax = word_curves(curves, np.array(times), topic="its topic")
    ax.set_title(f"{len(chosen)} articles on {EVENT} in Timeline17", fontsize="medium")
    ax.figure.savefig(out / "event-words-curves.png", dpi=110)
    return TEXT.format(n=len(chosen), event=EVENT, steps=len(times), size=size, k=k, table="\n".join(lines))
