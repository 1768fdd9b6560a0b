"""What the second half of a step found out, beside what it filled in of each document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from firststory.records import Alert, Story, Storyline, Topic, TopicEvent


class PlacedBatch(NamedTuple):
    """A batch whose documents have their stories."""

    like: float
    """The similarity from which on two documents tell of one thing."""
    stories: tuple[Story, ...]
    storylines: tuple[Storyline, ...]
    alerts: tuple[Alert, ...]
    topics: tuple[Topic, ...]
    topic_events: tuple[TopicEvent, ...]
    alerts_status: Mapping[str, Any]
    """Where the alerts stand: JSON values."""
