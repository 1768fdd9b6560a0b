"""One story: its documents over time with its turning points, where it comes from, and what came before it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from firststory.digest.shapes import document_json, story_json
from firststory.digest.timeline import Timeline, timeline_of
from firststory.digest.words import iso
from firststory.harmless import display_title
from firststory.records import Alert, Document, Story, Storyline, Verdict

if TYPE_CHECKING:
    from firststory.store.reader import Reader


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """Something that happened to a story: an alert fired, or another story was merged into it."""

    time: datetime | None
    kind: str
    """The kind of the alert, or "merged"."""
    id: str
    """Of the alert, or of the story that was merged."""
    title: str
    reason: str
    """The sentence of the alert, or why the story was merged."""


@dataclass(frozen=True, slots=True)
class StoryDetail:
    """A story with all that the store knows of it."""

    story: Story
    first: Document | None
    """The first report."""
    verdicts: tuple[Verdict, ...]
    """Its documents in the order of the stream; with a limit the latest."""
    n_documents: int
    """How many there are."""
    timeline: Timeline
    turning_points: tuple[TurningPoint, ...]
    """In the order of time."""
    storyline: Storyline | None
    earlier: Story | None
    """The story of the same storyline that began last before this one."""
    holds: tuple[str, ...]
    """The stories that were merged into it."""
    asked: Story
    """The story that was asked for: another one where it was merged into this."""


def story_detail(store: Reader, name: str, limit: int | None = None) -> StoryDetail | None:
    """A story by its id, with at most `limit` documents, the latest; None where the store has no such story.

    A story that was merged is told as the one that it was merged into.
    """
    asked, current = store.story(name), store.current_story(name)
    story = store.story(current)
    if asked is None or story is None:
        return None
    arrivals = store.arrivals_of(current)
    merges = store.merges(current)
    alerts = store.alerts(story=current)
    points = [_of_alert(alert) for alert in alerts]
    points += [TurningPoint(time, "merged", one.id, one.title, one.reason) for one, time in merges]
    # Without times they stay in the order in which they are known; the sort is stable.
    points.sort(key=lambda point: (point.time is not None, point.time and point.time.timestamp()))
    return StoryDetail(
        story=story,
        first=store.first_document(current),
        verdicts=store.verdicts(story=current, newest_first=True, limit=limit)[::-1],
        n_documents=len(arrivals),
        timeline=timeline_of(arrivals),
        turning_points=tuple(points),
        storyline=None if story.storyline is None else store.storyline(story.storyline),
        earlier=_earlier(store, story),
        holds=tuple(one.id for one, _ in merges),
        asked=asked,
    )


def _of_alert(alert: Alert) -> TurningPoint:
    return TurningPoint(alert.fired_at, alert.kind, alert.id, display_title(alert.headline), alert.sentence)


def _earlier(store: Reader, story: Story) -> Story | None:
    if story.storyline is None or story.first_seen is None:
        return None
    others = store.stories(storyline=story.storyline, order="first_seen")
    return next((one for one in others if one.first_seen is not None and one.first_seen < story.first_seen), None)


def detail_json(told: StoryDetail) -> dict[str, Any]:
    """A story as `firststory story ID --json` prints it."""
    line, earlier = told.storyline, told.earlier
    return story_json(told.story) | {
        "first": None if told.first is None else document_json(told.first),
        "storyline_title": None if line is None else line.title,
        "earlier": None if earlier is None else story_json(earlier),
        "holds": list(told.holds),
        "timeline": {
            "unit": told.timeline.unit,
            "columns": [
                {"start": iso(one.start), "documents": one.documents, "sources": one.sources}
                for one in told.timeline.columns
            ],
        },
        "turning_points": [
            {"time": iso(one.time), "kind": one.kind, "id": one.id, "title": one.title, "reason": one.reason}
            for one in told.turning_points
        ],
        "n_documents": told.n_documents,
        "documents": [
            document_json(one.document)
            | {"novelty": round(one.novelty, 6), "is_novel": one.is_novel, "duplicate_of": one.duplicate_of}
            for one in told.verdicts
        ],
    }
