"""What else could alert: the most novel documents, stories that grow, pairs of terms that become frequent.

Each is given its threshold after the fact, so that it raises about as many alerts as the method it is compared with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import combinations
from typing import NamedTuple

import numpy as np

from firststory.datasets.streams import TextStream
from firststory.lab.experiments.event_streams import StreamRun, has_clock
from firststory.records import Alert, Document
from firststory.text.vectorizer import StreamVectorizer
from firststory.units import DAY_SECONDS, HOUR_SECONDS

BACKGROUND_DAYS = 7
QUIET_SECONDS = 3 * DAY_SECONDS
"""A pair of terms whose documents were in an alert this recently raises none."""


def novelty_top(run: StreamRun, n_alerts: int) -> list[Alert]:
    """The documents with the highest novelty, one per alert."""
    by_novelty = sorted(run.verdicts, key=lambda verdict: -verdict.novelty)[:n_alerts]
    chosen = {verdict.document.id for verdict in by_novelty}
    return [_alert([v.document], v.novelty) for v in run.verdicts if v.document.id in chosen]


def story_growth(run: StreamRun, n_alerts: int) -> tuple[list[Alert], int]:
    """Stories that k sources told of within 12 hours (times without a clock: two days), and k."""
    found = {k: _grown(run, k) for k in range(2, 9)}
    k = min(found, key=lambda k: abs(len(found[k]) - n_alerts))
    return found[k], k


def term_pairs(run: StreamRun, n_alerts: int) -> list[Alert]:
    """Two terms that more sources use together within 12 hours (or two days) than in the week before, by z-score."""
    bursts = _bursts(run.stream)
    low, high = 0.0, max((burst.z for burst in bursts), default=0.0)
    best = _raised(bursts, low)
    for _ in range(20):
        middle = (low + high) / 2
        alerts = _raised(bursts, middle)
        # Many pairs have the same score, so that the number can only be reached or exceeded: the least excess counts.
        if len(alerts) >= n_alerts:
            low = middle
            best = min(best, alerts, key=len)
        else:
            high = middle
    return best


def window_seconds(stream: TextStream) -> float:
    """How long several sources may take."""
    return 12 * HOUR_SECONDS if has_clock(stream) else 2 * DAY_SECONDS


def _grown(run: StreamRun, k: int) -> list[Alert]:
    window = window_seconds(run.stream)
    recent: dict[str, list[Document]] = defaultdict(list)
    fired: set[str] = set()
    alerts = []
    for step in run.steps:
        for verdict in step.verdicts:
            name = verdict.story
            if name is None:
                continue
            held = recent[name] = [*_within(recent[name], verdict.document, window), verdict.document]
            if name not in fired and len({one.source or one.id for one in held}) >= k:
                fired.add(name)
                alerts.append(_alert(held, float(k)))
        for story in step.stories:
            if story.merged_into is not None:
                both = [*recent.pop(story.id, []), *recent[story.merged_into]]
                recent[story.merged_into] = sorted(both, key=_seconds)
                if story.id in fired:
                    fired.add(story.merged_into)
    return alerts


class _Burst(NamedTuple):
    z: float
    documents: list[Document]


def _bursts(stream: TextStream) -> list[_Burst]:
    """For each document the pair of its title's terms that stands out most, if two sources share one."""
    window = window_seconds(stream)
    slots = BACKGROUND_DAYS * DAY_SECONDS / window
    reader = StreamVectorizer(language="en", weighting="count", norm=None)
    rows = reader.fit_transform([document.title or document.text for document in stream.documents])
    used: dict[tuple[int, int], list[Document]] = defaultdict(list)
    found = []
    for i, document in enumerate(stream.documents):
        best = _Burst(0.0, [])
        now = _seconds(document)
        for pair in combinations(np.sort(rows.indices[rows.indptr[i] : rows.indptr[i + 1]]).tolist(), 2):
            held = used[pair] = [
                *_within(used[pair], document, BACKGROUND_DAYS * DAY_SECONDS + window),
                document,
            ]
            together = _within(held, document, window)
            sources = {one.source or one.id for one in together}
            if len(sources) < 2:
                continue
            before = {(one.source, (now - _seconds(one)) // window) for one in held[: len(held) - len(together)]}
            expected = len(before) / slots
            z = (len(sources) - expected) / (expected + 0.5) ** 0.5
            if z > best.z:
                best = _Burst(z, together)
        if best.documents:
            found.append(best)
    return found


def _raised(bursts: Iterable[_Burst], threshold: float) -> list[Alert]:
    """Alerts on the bursts above the threshold, but for those whose documents were for the most part alerted lately."""
    told: dict[str, float] = {}
    alerts = []
    for burst in bursts:
        if burst.z < threshold:
            continue
        now = _seconds(burst.documents[-1])
        known = sum(now - told.get(one.id, float("-inf")) <= QUIET_SECONDS for one in burst.documents)
        # The documents of an event that goes on stay known, so that it is not told again by its next pair.
        told.update({one.id: now for one in burst.documents})
        if 2 * known < len(burst.documents):
            alerts.append(_alert(burst.documents, burst.z))
    return alerts


def _within(documents: Sequence[Document], now: Document, seconds: float) -> list[Document]:
    """Those that are younger than so many seconds; days without a clock: today and the days before that fit."""
    return [one for one in documents if _seconds(now) - _seconds(one) < seconds]


def _seconds(document: Document) -> float:
    return 0.0 if document.time is None else document.time.timestamp()


def _alert(documents: Sequence[Document], score: float) -> Alert:
    first, last = documents[0], documents[-1]
    return Alert(
        id="",
        kind="confirmed",
        first=first,
        headline=first,
        fired_at=last.time,
        delay=timedelta(seconds=_seconds(last) - _seconds(first)),
        documents=tuple(one.id for one in documents),
        sources=tuple({one.source: None for one in documents if one.source}),
        terms=(),
        story=None,
        storyline=None,
        score=score,
        sentence="",
    )
