"""What really happened in a stream, for judging alerts: its events, their documents and their first reports."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from firststory.datasets.streams import TextStream, label_names
from firststory.evaluate.budget_kept import counted_days
from firststory.records import Document
from firststory.units import DAY_SECONDS

FOLLOWED_DAYS = 2.0


class KnownEvent(NamedTuple):
    """An event that several documents tell of."""

    name: Any
    documents: frozenset[str]
    """The ids of all that tell of it."""
    firsts: frozenset[str]
    """The first report. Where several have the same time, any of them: their order carries nothing."""
    seconds: float
    """When it was first told; NaN without times."""
    is_followed: bool
    """Whether another source tells of it within two days (without sources: another document; without times: ever)."""


@dataclass(frozen=True)
class KnownEvents:
    """The events of a stream, and what else is known of its documents."""

    events: tuple[KnownEvent, ...]
    is_first: Mapping[str, bool]
    """Document id -> whether it is the first report of something; a document that is not in here was not judged."""
    labelled: Collection[str]
    """Documents of which it is known to which event they belong, if to any: alerts on others have no precision."""
    place: Mapping[str, int]
    """Where each document stands in the stream."""
    n_days: float
    unit: str
    """What `n_days` counts, in words: "per day with documents"."""
    one_source: tuple[KnownEvent, ...] = ()
    """What a single source tells again and again: an alert on it is no mistake, but it finds no event either."""
    by_document: Mapping[str, tuple[KnownEvent, ...]] = field(init=False, repr=False)
    """Document id -> the events that it tells of."""

    def __post_init__(self) -> None:
        found: dict[str, tuple[KnownEvent, ...]] = {}
        for event in (*self.events, *self.one_source):
            for name in event.documents:
                found[name] = (*found.get(name, ()), event)
        object.__setattr__(self, "by_document", found)


def known_event(name: Any, documents: Sequence[Document], first: Document | None = None) -> KnownEvent:
    """An event from its documents, in any order; `first` is its first report where that is known.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> noon, evening = datetime(2026, 1, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 18, tzinfo=UTC)
    >>> told = [Document("a", "Bridge shut", noon, source="Post"), Document("b", "Shut", evening, source="Herald")]
    >>> event = known_event("bridge", told)
    >>> sorted(event.firsts), event.is_followed
    (['a'], True)
    """
    begin = min(_seconds(document) for document in documents) if first is None else _seconds(first)
    if first is not None:
        firsts = [first]
    elif math.isnan(begin):
        firsts = [documents[0]]
    else:
        firsts = [document for document in documents if _seconds(document) == begin]
    within = [one for one in documents if not _seconds(one) - begin > FOLLOWED_DAYS * DAY_SECONDS]
    sources = {one.source for one in within if one.source is not None}
    has_sources = any(one.source is not None for one in documents)
    return KnownEvent(
        name=name,
        documents=frozenset(document.id for document in documents),
        firsts=frozenset(document.id for document in firsts),
        seconds=begin,
        is_followed=(len(sources) if has_sources else len(within)) > 1,
    )


def events_of_labels(stream: TextStream) -> KnownEvents:
    """The events that the labels of a stream name: at least two documents, from two sources where there are sources.

    Examples
    --------
    >>> labels = ["fire", "flood", "fire", None]
    >>> stream = TextStream("made", tuple(Document(str(i), "", label=label) for i, label in enumerate(labels)))
    >>> known = events_of_labels(stream)
    >>> [(event.name, sorted(event.documents)) for event in known.events], known.is_first
    ([('fire', ['0', '2'])], {'0': True, '1': True, '2': False})
    """
    members: dict[Any, list[Document]] = {}
    place: dict[str, int] = {}
    for i, document in enumerate(stream.documents):
        if place.setdefault(document.id, i) == i:
            for name in label_names(document.label):
                members.setdefault(name, []).append(document)
    told = [known_event(name, documents) for name, documents in members.items()]
    is_first: dict[str, bool] = {}
    for event in told:
        for one in event.documents:
            is_first[one] = is_first.get(one, False) or one in event.firsts
    repeated = [event for event in told if len(event.documents) > 1]
    alone = {event.name for event in repeated if len({one.source for one in members[event.name]} - {None}) == 1}
    days, unit = counted_days(stream.times)
    return KnownEvents(
        events=tuple(event for event in repeated if event.name not in alone),
        one_source=tuple(event for event in repeated if event.name in alone),
        is_first=dict(sorted(is_first.items(), key=lambda item: place[item[0]])),
        labelled=is_first.keys(),
        place=place,
        n_days=days,
        unit=unit,
    )


def _seconds(document: Document) -> float:
    return np.nan if document.time is None else document.time.timestamp()
