"""Labelled development streams for `FusedNovelty`, rebuilt from thirteen corpora: whole, cut short, lower-cased.

What is cut short: the first 20 words of a text; for TDT2, which has no words to be had, 12 words drawn from the
counts. Headlines are labelled by what stands below them (`headlines.py`), tweets on health by the links that they
share (`linked_tweets.py`). Times are kept as they are (days for most corpora). `shuffled` takes the order away,
`pieces` cuts short streams out of a long one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.datasets import (
    load_articles,
    load_crisislex,
    load_gitbugs_hadoop,
    load_healthtweets,
    load_localnews,
    load_mstream_tweets,
    load_news2017,
    load_newsgroups20,
    load_openoffice_duplicates,
    load_reuters21578,
    load_tdt2,
    load_timeline17,
    load_wcep,
)
from firststory.datasets.streams import first_of_label
from firststory.lab.experiments.headlines import headlines
from firststory.lab.experiments.linked_tweets import linked_tweets
from firststory.records import Document
from firststory.text import StreamVectorizer
from firststory.text.meaning import ShortTextVectors

DENSE_DOCUMENTS = 20
"""A stream is dense when its stories have this many documents or more on average."""

PIECES = {600: 4, 2000: 2, 6000: 1}
"""How many pieces are cut out of a stream, by their length."""


@dataclass(frozen=True)
class LabelledRows:
    """One stream: effective counts, plain ones, seconds (None: no times), labels (None: streamed but not judged)."""

    name: str
    corpus: str
    effective: sp.csr_matrix
    plain: sp.csr_matrix
    times: Floats | None
    labels: NDArray[Any]
    texts: list[str] | None = None
    vectors: NDArray[np.float32] | None = None
    """What the short texts are about, zeros for the others."""

    @property
    def first(self) -> NDArray[np.bool_]:
        """The targets."""
        return first_of_label(self.labels)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """The documents with a label."""
        return np.array([label is not None for label in self.labels])

    @property
    def kind(self) -> str:
        """ "broad" (topics, not events), "duplicates" (of reports, years apart), "dense" or "sparse"."""
        if "(broad)" in self.name:
            return "broad"
        if "(duplicates)" in self.name:
            return "duplicates"
        return "dense" if self.judged.sum() >= DENSE_DOCUMENTS * self.first.sum() else "sparse"

    def beginning(self, n: int) -> LabelledRows:
        """Its first n documents."""
        return self.take(slice(n), times=None if self.times is None else self.times[:n])

    def take(self, at: Any, *, times: Floats | None) -> LabelledRows:
        """Some of its documents in some order, as a stream of its own with these times."""
        return replace(
            self,
            effective=self.effective[at],
            plain=self.plain[at],
            times=times,
            labels=self.labels[at],
            texts=None,
            vectors=None if self.vectors is None else self.vectors[at],
        )


def shuffled(stream: LabelledRows) -> LabelledRows:
    """The same documents in an order that says nothing, without times."""
    return stream.take(np.random.default_rng(0).permutation(len(stream.labels)), times=None)


def pieces(stream: LabelledRows) -> Iterator[LabelledRows]:
    """Pieces of a stream, each a stream of its own: what was told before it began is not known."""
    rng = np.random.default_rng(0)
    for length, count in PIECES.items():
        if len(stream.labels) < 1.5 * length:
            continue
        for begin in rng.integers(0, len(stream.labels) - length, size=count).tolist():
            cut = slice(begin, begin + length)
            piece = stream.take(cut, times=None if stream.times is None else stream.times[cut])
            if 1 < piece.first.sum() < piece.judged.sum():
                yield piece


def development_streams(*, quick: bool = False) -> Iterator[LabelledRows]:
    """All of them, one after the other; `quick` takes the first 400 documents of two."""
    local = [d for d in load_localnews().documents if d.label is not None]
    size = Counter(d.label for d in local)
    several = [d for d in local if size[d.label] >= 2]
    timeline = list(load_timeline17().documents)
    if quick:
        yield from_texts("incidents", "localnews", local[:400])
        yield from_texts("timeline", "timeline17", timeline[:400])
        return
    yield from_texts("incidents", "localnews", local)
    yield from_texts("incidents, 20 words", "localnews", local, _first_words)
    yield from_texts("incidents told twice or more", "localnews", several)
    yield from_texts("the same, lower-cased", "localnews", several, str.lower)
    yield from_texts("headlines", "thisisallabout", headlines(load_articles().documents, days=5.0, most=9000))
    yield from_texts("headlines", "news2017", headlines(load_news2017().documents, days=7.0))
    tweets = load_healthtweets().documents
    yield from_texts("and as many alone", "tweets", linked_tweets(tweets, alone=True))
    yield from_texts("that share a link", "tweets", linked_tweets(tweets, alone=False))
    yield from_texts("events", "wcep", list(load_wcep(events=True).documents))
    yield from_texts("timeline", "timeline17", timeline)
    yield from_texts("timeline, 20 words", "timeline17", timeline, _first_words)
    yield from _tdt2()
    yield from_texts("tweets", "crisislex", list(load_crisislex().documents))
    yield from_texts("tweets", "mstream", list(load_mstream_tweets().documents))
    yield from_texts("hadoop (duplicates)", "gitbugs", list(load_gitbugs_hadoop().documents))
    yield from_texts("reports (duplicates)", "openoffice", list(load_openoffice_duplicates().documents))
    reuters = [d for d in load_reuters21578().documents if isinstance(d.label, (list, tuple)) and len(d.label) == 1]
    yield from_texts("topics (broad)", "reuters21578", reuters[::2])
    yield from_texts("groups (broad)", "newsgroups20", list(load_newsgroups20().documents)[::4])


def _first_words(text: str) -> str:
    return " ".join(text.split()[:20])


def count_rows(texts: list[str], surface_weight: float = 2.0, short: int = 30) -> sp.csr_matrix:
    """Effective counts, as the pipeline makes them unless told otherwise."""
    vectorizer = StreamVectorizer("en", weighting="count", norm=None, surface_weight=surface_weight, short=short)
    return vectorizer.partial_fit_transform(texts)


def from_texts(
    name: str, corpus: str, documents: list[Document], change: Callable[[str], str] | None = None
) -> LabelledRows:
    """A stream of these documents, each text changed on the way."""
    texts = [d.text if change is None else change(d.text) for d in documents]
    labels = np.empty(len(documents), dtype=object)
    labels[:] = [d.label[0] if isinstance(d.label, (list, tuple)) else d.label for d in documents]
    moments = [d.time for d in documents]
    times = None if None in moments else np.array([m.timestamp() for m in moments if m is not None])
    return LabelledRows(
        f"{corpus}: {name}",
        corpus,
        count_rows(texts),
        count_rows(texts, surface_weight=1.0, short=0),
        times,
        labels,
        texts,
        ShortTextVectors().transform(texts),
    )


def _tdt2() -> Iterator[LabelledRows]:
    stream = load_tdt2()
    assert stream.times is not None and stream.labels is not None
    labels = np.empty(len(stream), dtype=object)
    labels[:] = stream.labels.tolist()
    X = sp.csr_matrix(stream.X)
    yield LabelledRows("tdt2: topics", "tdt2", X, X, stream.times, labels)
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
    yield LabelledRows("tdt2: topics, 12 words", "tdt2", short, short, stream.times, labels)
