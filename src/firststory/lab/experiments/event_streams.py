"""The streams on which alerts are judged, and a run of one through the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

import numpy as np

from firststory import datasets
from firststory.datasets.streams import TextStream
from firststory.pipeline.runner import Runner
from firststory.records import Alert, AlertKind, Position, Step, Verdict
from firststory.settings import Settings
from firststory.units import DAY_SECONDS

HEADLINES_FROM = datetime(2018, 10, 1, tzinfo=UTC)
BUDGET = "20/day"


@dataclass(frozen=True)
class StreamRun:
    """A stream and all that the pipeline said of it."""

    stream: TextStream
    steps: Sequence[Step]

    @cached_property
    def alerts(self) -> list[Alert]:
        """In the order in which they fired."""
        return [alert for step in self.steps for alert in step.alerts]

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """On every document."""
        return [verdict for step in self.steps for verdict in step.verdicts]

    def of_kind(self, *kinds: AlertKind) -> list[Alert]:
        """The alerts of these kinds."""
        return [alert for alert in self.alerts if alert.kind in kinds]


def run_stream(stream: TextStream, budget: str = BUDGET) -> StreamRun:
    """The stream through the pipeline with the default settings, English, without topics."""
    arrivals = ((document, Position(stream.name, {"line": i})) for i, document in enumerate(stream.documents, 1))
    return StreamRun(stream, list(Runner(Settings(budget=budget, language="en", topics="none")).run(arrivals)))


def news17() -> TextStream:
    """News of 2017, dated by day: the stream of the demo."""
    return replace(datasets.load_news2017(), name="news17")


def head() -> TextStream:
    """20,000 headlines from 1 October 2018 on."""
    later = [d for d in datasets.load_headlines().documents if d.time is not None and d.time >= HEADLINES_FROM]
    return TextStream("head", tuple(later[:20_000]))


def articles() -> TextStream:
    """8,000 articles of the winter of 2018."""
    return TextStream("art", datasets.load_articles().documents[:8_000])


def health() -> TextStream:
    """15,000 tweets of health news accounts, from a time when the accounts were busy."""
    return TextStream("healthtweets", datasets.load_healthtweets().documents[36_000:51_000])


COVERED: tuple[Callable[[], TextStream], ...] = (news17, head)
"""Streams with the editor's events."""


def has_clock(stream: TextStream) -> bool:
    """Whether the times tell more than the day."""
    timed = stream.times[np.isfinite(stream.times)]
    return bool((timed % DAY_SECONDS != 0).any())


def shuffled(stream: TextStream, seed: int = 0) -> TextStream:
    """The same texts, with their sources, at times that are not theirs: nothing in it happens twice but by chance."""
    order = np.random.default_rng(seed).permutation(len(stream))
    documents = [
        replace(stream.documents[other], time=document.time)
        for document, other in zip(stream.documents, order.tolist(), strict=True)
    ]
    return replace(stream, documents=tuple(documents))


def without_sources(stream: TextStream) -> TextStream:
    """The stream as if its documents did not say where they come from."""
    return replace(stream, documents=tuple(replace(document, source=None) for document in stream.documents))
