"""What a digest is made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from firststory.records import Alert, Document, Story


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened: the alert that tells it, and what else fired in the same story."""

    alert: Alert
    others: tuple[Alert, ...] = ()
    """In the order in which they fired."""


@dataclass(frozen=True, slots=True)
class GrowingStory:
    """A story that brought more documents in this period than in the one before."""

    story: Story
    headline: Document
    """The most central document, whose title the story bears."""
    first: Document
    """The first report."""
    latest: Document
    documents: int
    """Distinct texts of this period."""
    documents_before: int | None
    """Distinct texts of the period before, which is as long; None where the period has no beginning."""
    sources: int
    """Distinct sources of this period."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What happened in a period, most important first. No story stands in it twice."""

    since: datetime | None
    """The beginning of the period; None is that of the stream."""
    until: datetime | None
    """The end of the stream; None in one without times."""
    documents: int
    """Distinct texts that the period brought."""
    sources: int
    """Their distinct sources."""
    confirmed: tuple[Entry, ...] = ()
    """New events, those that most sources tell first."""
    turns: tuple[Entry, ...] = ()
    """Turns of stories that ran before, those that most sources tell first."""
    growing: tuple[GrowingStory, ...] = ()
    """Stories without an alert in this period that grew, by growth times distinct sources."""
    first_seen: tuple[Entry, ...] = ()
    """First reports that nothing confirms, the likeliest to be followed first."""
    n_confirmed: int = 0
    """How many there were: the longest sections are cut."""
    n_turns: int = 0
    n_growing: int = 0
    n_first_seen: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened."""
        return not (self.confirmed or self.turns or self.growing or self.first_seen)
