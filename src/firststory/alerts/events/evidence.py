"""The documents of an event as an alert tells them: the core, the first report, the headline."""

from __future__ import annotations

from typing import NamedTuple

from firststory.alerts.events.document import SlimDocument
from firststory.alerts.events.links import LinkIndex, Proof
from firststory.alerts.events.memory import EventMemory
from firststory.headlines import format_weight

FIRST_SHARE, NEAR_FIRST_SHARE, NEAR_WATCH_SHARE = 0.4, 0.3, 0.25
"""An earlier document is the first report if its mean link to the core is 0.4 of the core's median, or 0.3 of it and
it came within a quarter of the watch before the next."""
TOLD_WATCHES = 2
"""Watches before now in which the first report is looked for."""

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


def gather(index: LinkIndex, memory: EventMemory, ordinal: int, watch_seconds: float, proof: Proof) -> EventEvidence:
    """The evidence of a story as it stood when this document came."""
    inside, members = proof.core, proof.members.tolist()
    mean_of = dict(zip(members, proof.means, strict=True))
    typical = max(sorted([mean_of[j] for j in inside])[len(inside) // 2], 1e-9)
    # The latest of the members is the document itself.
    came_at = index.born[proof.members % len(index.born)].tolist()
    first, next_born = ordinal, came_at[0]
    for j, mean, came in zip(members, proof.means, came_at, strict=True):
        share = mean / typical
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
