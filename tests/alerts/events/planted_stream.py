"""A stream of random texts with planted events, as the alerts see it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from firststory.alerts.events.document import EventDocument
from firststory.alerts.events.engine import EventAlerts
from firststory.records import Document

BEGIN = datetime(2024, 3, 1, tzinfo=UTC)
VOCABULARY = 4000
TERMS = 8


def document(name, time, columns, source, story, *, duplicate_of=None, weights=None):
    """One document with equal weights; `time` in hours since the beginning, None for none."""
    columns = np.sort(np.asarray(columns, dtype=np.int32))
    if weights is None:
        weights = np.full(len(columns), 1 / np.sqrt(max(1, len(columns))))
    when = None if time is None else BEGIN + timedelta(hours=time)
    return EventDocument(
        document=Document(str(name), " ".join(f"w{c}" for c in columns), when, source=source),
        seconds=None if when is None else when.timestamp(),
        columns=columns,
        weights=weights,
        title_columns=np.empty(0, np.int32),
        story=story,
        duplicate_of=duplicate_of,
        surfaces=lambda: {int(c): f"w{c}" for c in columns},
    )


def background(n, *, seed=0, begin=0.0, hours=48.0, sources=10, timed=True):
    """Texts that have nothing to do with each other, each a story of its own; without sources where there are none."""
    rng = np.random.default_rng(seed)
    return [
        document(
            f"b{seed}-{i}",
            begin + hours * i / n if timed else None,
            rng.choice(VOCABULARY, TERMS, replace=False),
            f"source {rng.integers(sources)}" if sources else None,
            f"b{seed}-{i}",
        )
        for i in range(n)
    ]


def event(n, *, seed=1000, at=50.0, gap=0.0, story="event", sources=None, prefix="e"):
    """n texts that share six of eight terms, each from a source of its own."""
    rng = np.random.default_rng(seed)
    core = rng.choice(VOCABULARY, TERMS - 2, replace=False)
    rest = np.setdiff1d(np.arange(VOCABULARY), core)
    return [
        document(
            f"{prefix}{i}",
            None if at is None else at + gap * i,
            np.concatenate([core, rng.choice(rest, 2, replace=False)]),
            f"voice {i}" if sources is None else sources[i],
            story,
        )
        for i in range(n)
    ]


def fired(alerts: EventAlerts, documents, step=20, kind="confirmed", merges=None):
    """The alerts of a kind that a stream fires, with the document that was the last of each step."""
    found = []
    for begin in range(0, len(documents), step):
        found += alerts.observe(documents[begin : begin + step])
        alerts.end_step((merges or {}).get(begin // step, {}))
    return [one for one in found if one.kind == kind or kind is None]
