"""The documents of an event as an alert tells them: the core, the first report, the headline."""

from __future__ import annotations

from typing import NamedTuple

from firststory.alerts.events.document import SlimDocument
from firststory.alerts.events.links import LinkIndex
from firststory.alerts.events.memory import EventMemory
from firststory.arrays import Ints
from firststory.headlines import format_weight

FIRST_SHARE, NEAR_FIRST_SHARE, NEAR_WATCH_SHARE = 0.4, 0.3, 0.25
"""An earlier document is the first report if its mean link to the core is 0.4 of the core's median, or 0.3 of it and
it came within a quarter of the watch before the next."""
TOLD_WATCHES = 2
"""Watches before now in which the first report is looked for."""
MAX_LOOKED_BACK = 300
"""Documents of the story, the latest, among which the first report is looked for."""


UNTITLED_WEIGHT = 0.7
HEADLINE_CHARACTERS = 200
"""A text up to this length is a headline itself."""


class EventEvidence(NamedTuple):
    """By ordinals."""

    core: list[int]
    """In the order of arrival."""
    first: int
    headline: int
    """The member of the core that reports: with the most links to the others, weighed by what its title is like."""


def gather(index: LinkIndex, memory: EventMemory, ordinal: int, watch_seconds: float, core: Ints) -> EventEvidence:
    """The evidence of a story as it stood when this document came; `core` is that of its latest members."""
    capacity = len(index.born)
    now = index.born[ordinal % capacity]
    members = index.story_members(ordinal, now - TOLD_WATCHES * watch_seconds, MAX_LOOKED_BACK)
    means = index.mean_links(members, core)
    mean_of = dict(zip(members.tolist(), means.tolist(), strict=True))
    inside = core.tolist()
    typical = sorted(mean_of[j] for j in inside)[len(inside) // 2]
    first, next_born = ordinal, now
    for j, came in zip(members.tolist(), index.born[members % capacity].tolist(), strict=True):
        share = mean_of[j] / max(typical, 1e-9)
        is_near = next_born - came <= NEAR_WATCH_SHARE * watch_seconds
        if share >= FIRST_SHARE or (share >= NEAR_FIRST_SHARE and is_near):
            first, next_born = j, came
    headline = max(reversed(inside), key=lambda j: mean_of[j] * _headline_weight(memory.documents[j]))
    return EventEvidence(inside[::-1], first, headline)


def _headline_weight(document: SlimDocument) -> float:
    """The beginning of a text names an event no better than a format does."""
    if document.title or len(document.text) <= HEADLINE_CHARACTERS:
        return format_weight(document.title or document.text)
    return UNTITLED_WEIGHT
