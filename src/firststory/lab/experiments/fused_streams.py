"""Labelled development streams for `FusedNovelty`, rebuilt from eight corpora: whole texts, tweet-sized, lower-cased.

What is tweet-sized: the first 20 words of a text; for TDT2, which has no words to be had, 12 words drawn from the
counts. Headlines are labelled by what stands below them (`headlines.py`), tweets by the links that they share
(`linked_tweets.py`). Times are kept as they are (days for most corpora); documents without a label are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.datasets import (
    load_articles,
    load_healthtweets,
    load_localnews,
    load_news2017,
    load_newsgroups20,
    load_reuters21578,
    load_tdt2,
    load_timeline17,
)
from firststory.datasets.streams import first_of_label
from firststory.lab.experiments.headlines import headlines
from firststory.lab.experiments.linked_tweets import linked_tweets
from firststory.records import Document
from firststory.text import StreamVectorizer
from firststory.text.meaning import ShortTextVectors


@dataclass(frozen=True)
class LabelledRows:
    """One stream: effective counts, plain ones, effective ones by the rules for long texts, seconds, labels."""

    name: str
    corpus: str
    effective: sp.csr_matrix
    plain: sp.csr_matrix
    same: sp.csr_matrix
    times: Floats
    labels: NDArray[Any]
    texts: list[str] | None = None
    vectors: NDArray[np.float32] | None = None
    """What the short texts are about, zeros for the others."""

    @property
    def first(self) -> NDArray[np.bool_]:
        """The targets."""
        return first_of_label(self.labels)


def development_streams(*, quick: bool = False) -> Iterator[LabelledRows]:
    """All of them, one after the other; `quick` takes the first 400 documents of two."""
    local = [d for d in load_localnews().documents if d.label is not None]
    size = Counter(d.label for d in local)
    several = [d for d in local if size[d.label] >= 2]
    if quick:
        yield _from_texts("incidents", "localnews", local[:400])
        yield _from_texts("timeline", "timeline17", list(load_timeline17().documents)[:400])
        return
    yield _from_texts("incidents", "localnews", local)
    yield _from_texts("incidents, 20 words", "localnews", local, _first_words)
    yield _from_texts("incidents told twice or more", "localnews", several)
    yield _from_texts("the same, lower-cased", "localnews", several, str.lower)
    yield _from_texts("timeline", "timeline17", list(load_timeline17().documents))
    yield _from_texts("timeline, 20 words", "timeline17", list(load_timeline17().documents), _first_words)
    yield from _tdt2()
    yield _from_texts("headlines", "thisisallabout", headlines(load_articles().documents, days=5.0, most=9000))
    yield _from_texts("headlines", "news2017", headlines(load_news2017().documents, days=7.0))
    tweets = load_healthtweets().documents
    yield _from_texts("and as many alone (checked)", "tweets", linked_tweets(tweets, alone=True))
    yield _from_texts("that share a link (checked)", "tweets", linked_tweets(tweets, alone=False))
    reuters = [d for d in load_reuters21578().documents if isinstance(d.label, (list, tuple)) and len(d.label) == 1]
    yield _from_texts("topics (themes)", "reuters21578", reuters[::2])
    yield _from_texts("groups (themes)", "newsgroups20", list(load_newsgroups20().documents)[::4])


def _first_words(text: str) -> str:
    return " ".join(text.split()[:20])


def _from_texts(
    name: str, corpus: str, documents: list[Document], change: Callable[[str], str] | None = None
) -> LabelledRows:
    texts = [d.text if change is None else change(d.text) for d in documents]
    labels = np.empty(len(documents), dtype=object)
    labels[:] = [d.label[0] if isinstance(d.label, (list, tuple)) else d.label for d in documents]
    times = np.array([d.time.timestamp() if d.time else 0.0 for d in documents])
    rows = [
        StreamVectorizer("en", weighting="count", norm=None, surface_weight=weight, short=short).partial_fit_transform(
            texts
        )
        for weight, short in ((2.0, 30), (1.0, 0), (2.0, 0))
    ]
    vectors = ShortTextVectors().transform(texts)
    return LabelledRows(f"{corpus}: {name}", corpus, rows[0], rows[1], rows[2], times, labels, texts, vectors)


def _tdt2() -> Iterator[LabelledRows]:
    stream = load_tdt2()
    assert stream.times is not None and stream.labels is not None
    labels = np.empty(len(stream), dtype=object)
    labels[:] = stream.labels.tolist()
    X = sp.csr_matrix(stream.X)
    yield LabelledRows("tdt2: topics", "tdt2", X, X, X, stream.times, labels)
    rng = np.random.default_rng(0)
    drawn = []
    for i in range(X.shape[0]):
        row = X[i]
        words = np.repeat(row.indices, row.data.astype(np.int64))
        drawn.append(np.bincount(rng.permutation(words)[:12], minlength=0))
    lengths = [np.flatnonzero(counts) for counts in drawn]
    short = sp.csr_matrix(
        (
            np.concatenate([counts[at] for counts, at in zip(drawn, lengths, strict=True)]).astype(np.float64),
            np.concatenate(lengths),
            np.concatenate([[0], np.cumsum([len(at) for at in lengths])]),
        ),
        shape=X.shape,
    )
    yield LabelledRows("tdt2: topics, 12 words", "tdt2", short, short, short, stream.times, labels)
