"""Emerging topics day by day, a table like the paper's Table 2, on tweets and on headlines; and the time on tweets."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from firststory.datasets.corpora import load_headlines, load_healthtweets
from firststory.datasets.streams import TextStream
from firststory.detectors.emerging import emerging_topics
from firststory.detectors.online_l1 import OnlineL1Dictionary
from firststory.lab.experiments.tweets_time import time_on_tweets
from firststory.text import StreamVectorizer
from firststory.units import DAY_SECONDS

TITLE = "Emerging topics in tweets and headlines (the paper's Twitter experiment)"


def run(*, quick: bool, out: Path) -> str:
    """The section: for each stream the clusters of largest support, then the time of batch and online learning."""
    tweets = load_healthtweets()
    parts = []
    for stream, first, last, days, support in (
        (tweets, "2014-09-01", "2014-10-25", 20, 2),
        (load_headlines(), "2018-12-01", "2019-01-05", 15, 3),
    ):
        start, stop = (float(np.datetime64(day, "s").astype(np.int64)) for day in (first, last))
        parts.append(
            f"### {stream.name}, {first} to {last}\n\n" + _table(stream, start, stop, 3 if quick else days, support)
        )
    parts.append("### Time of batch and online learning on the tweets\n\n" + time_on_tweets(tweets, quick=quick))
    return (
        "The first days initialise a dictionary of k = 100 atoms; then, day by day, the tenth of documents that it "
        "explains worst is clustered by a small dictionary of its own. Shown are the clusters of largest support over "
        "all days, with the words of the atom and the id of the document that it explains best; texts are not "
        "reprinted. A cluster needs three documents (two among the few tweets of a day).\n\n"
        + "\n\n".join(parts)
        + "\n"
    )


def _table(stream: TextStream, start: float, stop: float, days: int, min_support: int) -> str:
    times = stream.times
    vectorizer = StreamVectorizer("en", norm="l1", urls="drop")
    inside = np.flatnonzero((times >= start) & (times < stop))
    texts = [re.sub(r"\bRT\b|@\w+", " ", text) for text in stream.texts]
    # The days before the last `days` initialise the dictionary.
    split = stop - days * DAY_SECONDS
    first = [texts[i] for i in inside if times[i] < split]
    detector = OnlineL1Dictionary(n_atoms=100, multiplier="inner", n_inner=10)
    detector.fit(vectorizer.partial_fit_transform(first))
    found = []
    for day in np.arange(split, stop, DAY_SECONDS):
        now = [i for i in inside if day <= times[i] < day + DAY_SECONDS]
        if len(now) < 20:
            continue
        rows = vectorizer.partial_fit_transform([texts[i] for i in now])
        novelty = detector.score_then_learn(rows)
        names = vectorizer.get_feature_names_out()
        for topic in emerging_topics(rows, novelty, fraction=0.1, min_support=min_support):
            words = ", ".join(str(names[v]) for v in topic.terms[:6])
            best = stream.documents[now[topic.representative]].id
            found.append((topic.support, str(np.datetime64(int(day), "s"))[:10], len(now), words, best))
    found.sort(key=lambda row: -row[0])
    lines = ["| day | documents | support | words of the cluster | representative |", "|---|---|---|---|---|"]
    lines += [f"| {day} | {n} | {support} | {words} | {best} |" for support, day, n, words, best in found[:15]]
    return "\n".join(lines)
