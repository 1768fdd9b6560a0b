"""Alerts, stories, storylines, topics and digests as JSON values: the shapes that commands print and programs read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firststory.digest.records import Digest, Entry, GrowingStory
from firststory.digest.words import iso
from firststory.harmless import display_title, harmless_url
from firststory.records import Alert, Document, Story, Storyline, Topic, TopicEvent


def document_json(document: Document) -> dict[str, Any]:
    """Enough to show it; one without a title is named by its first words, and only web addresses are links."""
    return {
        "id": document.id,
        "time": iso(document.time),
        "title": display_title(document),
        "source": document.source,
        "url": harmless_url(document.url),
    }


def alert_json(alert: Alert) -> dict[str, Any]:
    """An alert as `firststory alerts --json` prints it."""
    return {
        "id": alert.id,
        "kind": alert.kind,
        "first": document_json(alert.first),
        "headline": document_json(alert.headline),
        "fired_at": iso(alert.fired_at),
        "delay_s": None if alert.delay is None else alert.delay.total_seconds(),
        "documents": list(alert.documents),
        "sources": list(alert.sources),
        "terms": list(alert.terms),
        "story": alert.story,
        "storyline": alert.storyline,
        "score": alert.score,
        "sentence": alert.sentence,
        "summary": alert.summary,
        "kinds": list(alert.kinds),
    }


def story_json(story: Story) -> dict[str, Any]:
    """A story as `firststory stories --json` prints it."""
    return {
        "id": story.id,
        "title": story.title,
        "first_seen": iso(story.first_seen),
        "last_seen": iso(story.last_seen),
        "size": story.size,
        "duplicates": story.duplicates,
        "growth": story.growth,
        "sources": list(story.sources),
        "key_terms": list(story.key_terms),
        "status": story.status,
        "merged_into": story.merged_into,
        "reason": story.reason,
        "storyline": story.storyline,
        "representative": story.representative,
    }


def storyline_json(storyline: Storyline) -> dict[str, Any]:
    """A storyline as `firststory storylines --json` prints it."""
    return {
        "id": storyline.id,
        "title": storyline.title,
        "first_seen": iso(storyline.first_seen),
        "last_seen": iso(storyline.last_seen),
        "size": storyline.size,
        "n_stories": storyline.n_stories,
        "sources": list(storyline.sources),
        "key_terms": list(storyline.key_terms),
        "status": storyline.status,
        "merged_into": storyline.merged_into,
        "reason": storyline.reason,
    }


def topic_json(topic: Topic, events: Sequence[TopicEvent] = ()) -> dict[str, Any]:
    """A topic as `firststory topics --json` prints it; its events latest first."""
    return {
        "id": topic.id,
        "label": list(topic.label),
        "share": topic.share,
        "share_before": topic.share_before,
        "before": iso(topic.before),
        "since": iso(topic.since),
        "terms": [{"text": term, "weight": weight} for term, weight in topic.terms],
        "trend": list(topic.trend),
        "born": topic.born,
        "events": [
            {
                "step": e.step,
                "time": iso(e.time),
                "kind": e.kind,
                "others": list(e.others),
                "weight": e.weight,
                "evidence": e.evidence,
            }
            for e in events
        ],
    }


def digest_json(digest: Digest) -> dict[str, Any]:
    """A digest as `firststory digest --format json` prints it."""
    return {
        "since": iso(digest.since),
        "until": iso(digest.until),
        "documents": digest.documents,
        "sources": digest.sources,
        "confirmed": [_entry_json(entry) for entry in digest.confirmed],
        "turns": [_entry_json(entry) for entry in digest.turns],
        "growing": [_growing_json(one) for one in digest.growing],
        "first_seen": [_entry_json(entry) for entry in digest.first_seen],
        "n_confirmed": digest.n_confirmed,
        "n_turns": digest.n_turns,
        "n_growing": digest.n_growing,
        "n_first_seen": digest.n_first_seen,
    }


def _entry_json(entry: Entry) -> dict[str, Any]:
    return alert_json(entry.alert) | {"others": [alert_json(alert) for alert in entry.others]}


def _growing_json(one: GrowingStory) -> dict[str, Any]:
    return {
        "story": story_json(one.story),
        "headline": document_json(one.headline),
        "first": document_json(one.first),
        "latest": document_json(one.latest),
        "documents": one.documents,
        "documents_before": one.documents_before,
        "sources": one.sources,
    }
