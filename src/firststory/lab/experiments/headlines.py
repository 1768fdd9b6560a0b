"""Headlines with machine-made labels: articles are grouped by their bodies, then only the first line is kept.

Two articles tell of the same event if their bodies are alike (tf-idf cosine) and lie a few days apart; an article joins
the event with at least half of whose documents it is so linked. A detector sees the headlines alone, so that the words
by which the labels were found are not the words that it is judged on. The labels are not free of errors, but every
detector meets the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from firststory.records import Document

ALIKE = 0.33
"""Cosine of two bodies from which on they are linked."""

MIN_WORDS = 80
"""Of a body: shorter ones say too little."""

MOST_MEMBERS = 20
"""Of an event: half of so many links are enough to join."""

BLOCK_DOCUMENTS = 500


def headlines(documents: Sequence[Document], *, days: float, most: int | None = None) -> list[Document]:
    """The first lines of articles, labelled by event; none twice; `most` of them from the start of the stream."""
    parts = [(document, *document.text.partition("\n")[::2]) for document in documents]
    parts = [part for part in parts if len(part[2].split()) >= MIN_WORDS and part[0].time is not None]
    times = np.array([document.time.timestamp() / 86400 for document, _, _ in parts if document.time is not None])
    events = group([body for _, _, body in parts], times, days)
    found, seen = [], set[str]()
    for (document, line, _), event in zip(parts, events, strict=True):
        if line.lower() not in seen:
            seen.add(line.lower())
            found.append(replace(document, text=line, label=f"event {event}"))
    return found[:most]


def group(bodies: Sequence[str], times: NDArray[Any], days: float) -> list[int]:
    """The number of each body's event, in order of opening."""
    links = _links(bodies, times, days)
    events: list[int] = []
    size: Counter[int] = Counter()
    for i in range(len(bodies)):
        linked = Counter(events[j] for j in links.indices[links.indptr[i] : links.indptr[i + 1]].tolist())
        fits = [event for event, count in linked.most_common() if 2 * count >= min(size[event], MOST_MEMBERS)]
        events.append(fits[0] if fits else len(size))
        size[events[-1]] += 1
    return events


def _links(bodies: Sequence[str], times: NDArray[Any], days: float) -> sp.csr_matrix:
    """Row i: the earlier bodies that are alike and not older than `days`."""
    reader = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2, dtype=np.float32)
    X = sp.csr_matrix(reader.fit_transform(bodies))
    rows, columns = [], []
    for begin in range(0, len(bodies), BLOCK_DOCUMENTS):
        end = min(begin + BLOCK_DOCUMENTS, len(bodies))
        oldest = int(np.searchsorted(times, times[begin] - days))
        alike = sp.coo_matrix(X[begin:end] @ X[oldest:end].T)
        i, j = alike.row + begin, alike.col + oldest
        keep = (alike.data > ALIKE) & (j < i) & (times[i] - times[j] <= days)
        rows.append(i[keep])
        columns.append(j[keep])
    at = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_matrix((np.ones(len(at[0])), at), shape=(len(bodies), len(bodies)))
