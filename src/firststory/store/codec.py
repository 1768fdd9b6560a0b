"""Records to columns and back: exact, and the same bytes every time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import orjson

from firststory.frozen import Ingredients
from firststory.growth import growth
from firststory.records import (
    Alert,
    Document,
    Evidence,
    Neighbour,
    Story,
    Storyline,
    Term,
    Topic,
    TopicEvent,
    Verdict,
)
from firststory.units import EPOCH, MICROSECOND

Row = Any
"""A mapping from the names of columns to values, as SQLAlchemy gives it."""

Columns = dict[str, Sequence[Any]]
"""Rows by the names of their columns: what many rows have in common is worked out once for all of them."""

VECTOR_DTYPE = "<f2"
"""How vectors are stored: in half precision, which is what the stream computes with, so they come back exactly."""

_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_NON_STR_KEYS
    | orjson.OPT_SERIALIZE_NUMPY
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_DATACLASS
)


def to_json(value: Any) -> str:
    """Compact JSON with sorted keys; tuples are lists, and what JSON does not know is written as its text.

    Halves of surrogate pairs (bad escapes), which no database takes, are replaced. A number that is none is null.
    """
    try:
        return orjson.dumps(value, _in_other_words, _OPTIONS).decode()
    except TypeError:  # half of a pair, or a whole number of more than 64 bits
        return _to_any_json(value)


def _to_any_json(value: Any) -> str:
    """As Python writes it: also numbers that are none or infinite, which documents may bring."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _in_other_words(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else float(value) if isinstance(value, float) else str(value)


@lru_cache(4096)
def to_microseconds(time: datetime | None) -> int | None:
    if time is None:
        return None
    since = time - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def to_time(value: int | None) -> datetime | None:
    return None if value is None else EPOCH + timedelta(microseconds=value)


def to_signed(number: int | None) -> int | None:
    """A number below 2 ** 64 as a signed one, which is what databases store."""
    return number if number is None or number < 1 << 63 else number - (1 << 64)


def to_unsigned(number: int) -> int:
    return number % (1 << 64)


def document_columns(documents: Sequence[Document]) -> Columns:
    """What the table of documents has of each, but for its numbers and those of the step."""
    vectors = [document.vector for document in documents]
    return {
        "id": [document.id for document in documents],
        "time": [to_microseconds(document.time) for document in documents],
        "title": [document.title for document in documents],
        "source": [document.source for document in documents],
        "url": [document.url for document in documents],
        "text": [document.text for document in documents],
        "label": [None if document.label is None else _to_any_json(document.label) for document in documents],
        "extra": [_to_any_json(dict(document.extra)) if document.extra else "{}" for document in documents],
        "vector": [None if vector is None else np.asarray(vector, VECTOR_DTYPE).tobytes() for vector in vectors],
        "vector_dtype": [None if vector is None else VECTOR_DTYPE for vector in vectors],
    }


def document_from_row(row: Row) -> Document:
    return Document(
        id=row["id"],
        text=row["text"],
        time=to_time(row["time"]),
        title=row["title"],
        source=row["source"],
        url=row["url"],
        label=None if row["label"] is None else json.loads(row["label"]),
        extra=json.loads(row["extra"]),
        vector=None if row["vector"] is None else np.frombuffer(row["vector"], row["vector_dtype"]).astype(np.float16),
    )


def verdict_columns(verdicts: Sequence[Verdict]) -> Columns:
    """What the table of verdicts has of each, but for its number."""
    evidence = [_evidence_values(verdict.evidence) for verdict in verdicts]
    return {
        "novelty": [verdict.novelty for verdict in verdicts],
        "p_value": [verdict.p_value for verdict in verdicts],
        "is_novel": [verdict.is_novel for verdict in verdicts],
        "threshold": [verdict.threshold for verdict in verdicts],
        "story": [verdict.story for verdict in verdicts],
        "duplicate_of": [verdict.duplicate_of for verdict in verdicts],
        "kind": [kind for _, _, kind, _ in evidence],
        "sentence": [sentence for _, _, _, sentence in evidence],
        "evidence": [
            to_json(
                {
                    "terms": terms,
                    "nearest": [
                        (name, similarity, title, to_microseconds(time), shared)
                        for name, similarity, title, time, shared in nearest
                    ],
                }
            )
            for terms, nearest, _, _ in evidence
        ],
    }


def _evidence_values(evidence: Evidence) -> tuple[Any, ...]:
    """Its values, with terms and neighbours as tuples: most evidence is written, and read by nobody else."""
    make = evidence.unread()
    if isinstance(make, Ingredients):
        return make.values()
    terms = [(term.text, term.weight, term.start, term.end, term.kind) for term in evidence.terms]
    nearest = [(near.id, near.similarity, near.title, near.time, near.shared) for near in evidence.nearest]
    return terms, nearest, evidence.kind, evidence.sentence


def verdict_from_row(row: Row) -> Verdict:
    told = json.loads(row["evidence"])
    return Verdict(
        document=document_from_row(row),
        novelty=row["novelty"],
        p_value=row["p_value"],
        is_novel=bool(row["is_novel"]),
        threshold=row["threshold"],
        story=row["story"],
        duplicate_of=row["duplicate_of"],
        evidence=Evidence(
            terms=tuple(Term(*term) for term in told["terms"]),
            nearest=tuple(
                Neighbour(name, similarity, title, to_time(time), tuple(shared))
                for name, similarity, title, time, shared in told["nearest"]
            ),
            kind=row["kind"],
            sentence=row["sentence"],
        ),
    )


def story_row(story: Story, step: int) -> dict[str, Any]:
    return {
        "id": story.id,
        "title": story.title,
        "first_seen": to_microseconds(story.first_seen),
        "last_seen": to_microseconds(story.last_seen),
        "size": story.size,
        "duplicates": story.duplicates,
        "growth": story.growth,
        "status": story.status,
        "representative": story.representative,
        "sources": to_json(story.sources),
        "key_terms": to_json(story.key_terms),
        "step": step,
        "merged_into": story.merged_into,
        "reason": story.reason,
        "storyline": story.storyline,
        "hours": to_json(story.hours),
    }


def story_from_row(row: Row, now: int | None = None) -> Story:
    """A story, with its growth at the moment `now` (microseconds) if that is given."""
    hours = tuple((hour, n) for hour, n in json.loads(row["hours"]))
    return Story(
        id=row["id"],
        title=row["title"],
        first_seen=to_time(row["first_seen"]),
        last_seen=to_time(row["last_seen"]),
        size=row["size"],
        representative=row["representative"],
        sources=tuple(json.loads(row["sources"])),
        duplicates=row["duplicates"],
        growth=row["growth"] if now is None else _growth_now(row, hours, now / 1e6),
        key_terms=tuple(json.loads(row["key_terms"])),
        status=row["status"],
        merged_into=row["merged_into"],
        reason=row["reason"],
        storyline=row["storyline"],
        hours=hours,
    )


def _growth_now(row: Row, hours: tuple[tuple[int, int], ...], now: float) -> float:
    return 0.0 if row["status"] == "merged" else growth(hours, now)


def storyline_row(storyline: Storyline, step: int) -> dict[str, Any]:
    return {
        "id": storyline.id,
        "title": storyline.title,
        "first_seen": to_microseconds(storyline.first_seen),
        "last_seen": to_microseconds(storyline.last_seen),
        "size": storyline.size,
        "n_stories": storyline.n_stories,
        "sources": to_json(storyline.sources),
        "key_terms": to_json(storyline.key_terms),
        "status": storyline.status,
        "step": step,
        "merged_into": storyline.merged_into,
        "reason": storyline.reason,
    }


def storyline_from_row(row: Row) -> Storyline:
    return Storyline(
        id=row["id"],
        title=row["title"],
        first_seen=to_time(row["first_seen"]),
        last_seen=to_time(row["last_seen"]),
        size=row["size"],
        n_stories=row["n_stories"],
        sources=tuple(json.loads(row["sources"])),
        key_terms=tuple(json.loads(row["key_terms"])),
        status=row["status"],
        merged_into=row["merged_into"],
        reason=row["reason"],
    )


def alert_row(alert: Alert, step: int) -> dict[str, Any]:
    """An alert; of its documents the ids alone, since `documents` has them."""
    return {
        "id": alert.id,
        "kind": alert.kind,
        "first_document": alert.first.id,
        "headline_document": alert.headline.id,
        "fired_at": to_microseconds(alert.fired_at),
        "delay": None if alert.delay is None else alert.delay // MICROSECOND,
        "documents": to_json(alert.documents),
        "sources": to_json(alert.sources),
        "terms": to_json(alert.terms),
        "story": alert.story,
        "storyline": alert.storyline,
        "score": alert.score,
        "sentence": alert.sentence,
        "summary": alert.summary,
        "kinds": to_json(alert.kinds),
        "step": step,
    }


def alert_from_row(row: Row, documents: Mapping[str, Document]) -> Alert:
    """An alert with its documents; one that the store does not have is an id without a text."""
    first, headline = row["first_document"], row["headline_document"]
    return Alert(
        id=row["id"],
        kind=row["kind"],
        first=documents.get(first) or Document(first, ""),
        headline=documents.get(headline) or Document(headline, ""),
        fired_at=to_time(row["fired_at"]),
        delay=None if row["delay"] is None else timedelta(microseconds=row["delay"]),
        documents=tuple(json.loads(row["documents"])),
        sources=tuple(json.loads(row["sources"])),
        terms=tuple(json.loads(row["terms"])),
        story=row["story"],
        storyline=row["storyline"],
        score=row["score"],
        sentence=row["sentence"],
        summary=row["summary"],
        kinds=tuple(json.loads(row["kinds"])),
    )


def topic_row(topic: Topic, step: int) -> dict[str, Any]:
    return {
        "step": step,
        "id": topic.id,
        "share": topic.share,
        "born": topic.born,
        "terms": to_json(topic.terms),
        "trend": to_json(topic.trend),
        "label": to_json(topic.label),
        "since": to_microseconds(topic.since),
        "share_before": topic.share_before,
        "before": to_microseconds(topic.before),
    }


def topic_from_row(row: Row) -> Topic:
    return Topic(
        id=row["id"],
        terms=tuple((term, weight) for term, weight in json.loads(row["terms"])),
        share=row["share"],
        trend=tuple(json.loads(row["trend"])),
        born=row["born"],
        label=tuple(json.loads(row["label"])),
        since=to_time(row["since"]),
        share_before=row["share_before"],
        before=to_time(row["before"]),
    )


def topic_event_row(event: TopicEvent) -> dict[str, Any]:
    return {
        "step": event.step,
        "topic": event.topic,
        "kind": event.kind,
        "others": to_json(event.others),
        "weight": event.weight,
        "evidence": event.evidence,
        "time": to_microseconds(event.time),
    }


def topic_event_from_row(row: Row) -> TopicEvent:
    return TopicEvent(
        step=row["step"],
        kind=row["kind"],
        topic=row["topic"],
        others=tuple(json.loads(row["others"])),
        weight=row["weight"],
        evidence=row["evidence"],
        time=to_time(row["time"]),
    )
