"""Tweets with machine-made labels: those with the same link tell of the same thing; the link itself is not shown.

A link that is posted again, in other words and within two months, is a story told again. Links posted more than ten
times (home pages, subscriptions) are left out, and so are tweets with no link or several, and copies. Labels are not
free of errors: two accounts that tell of one thing by their own links count as two stories. Every detector meets the
same ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np

from firststory.records import Document

MAX_PER_LINK = 10
"""Tweets that share a link."""
WITHIN = timedelta(days=60)

_LINK = re.compile(r"https?://\S+|www\.\S+")
_NO_WORD = re.compile(r"\W+")


def linked_tweets(documents: Sequence[Document], *, alone: bool) -> list[Document]:
    """Tweets that share their link with others, labelled by it; `alone` adds as many whose link is unique.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> noon = datetime(2015, 1, 1, 12, tzinfo=UTC)
    >>> texts = ["Flu season starts http://a.b/1", "Is it the flu? http://a.b/1", "Eat more greens http://a.b/2"]
    >>> tweets = [Document(id=str(i), text=text, time=noon) for i, text in enumerate(texts)]
    >>> [(tweet.text, tweet.label) for tweet in linked_tweets(tweets, alone=False)]
    [('Flu season starts ', 'http://a.b/1'), ('Is it the flu? ', 'http://a.b/1')]
    """
    by_link: dict[str, dict[str, Document]] = defaultdict(dict)
    posted: dict[str, int] = defaultdict(int)
    for document in documents:
        links = _LINK.findall(document.text)
        if len(links) == 1 and document.time is not None:
            shown = replace(document, text=_LINK.sub("", document.text), label=links[0])
            by_link[links[0]].setdefault(_NO_WORD.sub(" ", shown.text).lower().strip(), shown)
            posted[links[0]] += 1
    several, single = [], []
    for link, texts in by_link.items():
        told = list(texts.values())
        if 2 <= len(told) <= MAX_PER_LINK and told[-1].time - told[0].time <= WITHIN:  # type: ignore[operator]
            several += told
        elif posted[link] == 1:
            single += told
    if alone:
        drawn = np.random.default_rng(0).choice(len(single), min(len(several), len(single)), replace=False)
        several += [single[i] for i in drawn]
    return sorted(several, key=lambda tweet: (tweet.time, tweet.id))
