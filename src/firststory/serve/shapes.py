"""The shapes of what the service answers, for its description; the values are made by `digest.shapes` and records."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

Time = str | None
"""ISO 8601 in UTC; None in a stream without times."""
AlertKind = Literal["confirmed", "turn", "first_seen"]
Status = Literal["open", "faded", "merged"]


class DocumentShape(BaseModel):
    id: str
    time: Time
    title: str = Field(description="The title; where there is none, the first words.")
    source: str | None
    url: str | None


class WholeDocument(DocumentShape):
    text: str
    label: Any
    extra: dict[str, Any] = Field(description="Every further field that came with it.")


class TermShape(BaseModel):
    text: str
    weight: float
    start: int = Field(description="Where it stands in the text; -1 where only the title has it.")
    end: int
    kind: Literal["person", "place", "organisation", "other"]


class NeighbourShape(BaseModel):
    id: str
    similarity: float
    title: str | None
    time: Time
    shared: list[str]


class VerdictShape(BaseModel):
    id: str = Field(description="The id of the document.")
    time: Time
    title: str | None
    source: str | None
    url: str | None
    novelty: float
    p_value: float | None
    is_novel: bool
    terms: list[TermShape]
    nearest: list[NeighbourShape]
    story: str | None
    kind: Literal["event", "development", "known", "duplicate"]
    duplicate_of: str | None
    sentence: str


class AlertShape(BaseModel):
    id: str
    kind: AlertKind
    first: DocumentShape
    headline: DocumentShape
    fired_at: Time
    delay_s: float | None
    documents: list[str]
    sources: list[str]
    terms: list[str]
    story: str | None
    storyline: str | None
    score: float
    sentence: str
    summary: str
    kinds: list[str]


class StoryShape(BaseModel):
    id: str
    title: str
    first_seen: Time
    last_seen: Time
    size: int
    duplicates: int
    growth: float
    sources: list[str]
    key_terms: list[str]
    status: Status
    merged_into: str | None
    reason: str
    storyline: str | None
    representative: str


class Column(BaseModel):
    start: str
    documents: int
    sources: int


class TimelineShape(BaseModel):
    unit: str
    columns: list[Column]


class TurningPointShape(BaseModel):
    time: Time
    kind: str
    id: str
    title: str
    reason: str


class StoryDocument(DocumentShape):
    novelty: float
    is_novel: bool
    duplicate_of: str | None


class StoryDetailShape(StoryShape):
    first: DocumentShape | None
    storyline_title: str | None
    earlier: StoryShape | None
    holds: list[str]
    timeline: TimelineShape
    turning_points: list[TurningPointShape]
    n_documents: int
    documents: list[StoryDocument]


class StorylineShape(BaseModel):
    id: str
    title: str
    first_seen: Time
    last_seen: Time
    size: int
    n_stories: int
    sources: list[str]
    key_terms: list[str]
    status: Status
    merged_into: str | None
    reason: str


class StorylineDetailShape(StorylineShape):
    stories: list[StoryShape]


class TopicTerm(BaseModel):
    text: str
    weight: float


class TopicEventShape(BaseModel):
    step: int
    time: Time
    kind: str
    others: list[str]
    weight: float
    evidence: str


class TopicShape(BaseModel):
    id: str
    label: list[str]
    share: float
    share_before: float | None
    before: Time
    since: Time
    terms: list[TopicTerm]
    trend: list[float]
    born: int
    events: list[TopicEventShape]


class EntryShape(AlertShape):
    others: list[AlertShape]


class GrowingShape(BaseModel):
    story: StoryShape
    headline: DocumentShape
    first: DocumentShape
    latest: DocumentShape
    documents: int
    documents_before: int | None
    sources: int


class DigestShape(BaseModel):
    since: Time
    until: Time
    documents: int
    sources: int
    confirmed: list[EntryShape]
    turns: list[EntryShape]
    growing: list[GrowingShape]
    first_seen: list[EntryShape]
    n_confirmed: int
    n_turns: int
    n_growing: int
    n_first_seen: int


class QuarantinedShape(BaseModel):
    n: int
    reason: str
    message: str
    source: str
    at: dict[str, Any]
    excerpt: str


class Page(BaseModel):
    next: str | None = Field(description="What `after` must be for the next page; null on the last.")


class VerdictPage(Page):
    items: list[VerdictShape]


class AlertPage(Page):
    items: list[AlertShape]


class StoryPage(Page):
    items: list[StoryShape]


class StorylinePage(Page):
    items: list[StorylineShape]


class QuarantinePage(Page):
    items: list[QuarantinedShape]


class Topics(BaseModel):
    step: int | None
    time: Time
    items: list[TopicShape]


class Found(BaseModel):
    total: int
    items: list[VerdictShape]


class StreamShape(BaseModel):
    state: Literal["starting", "preparing", "running", "waiting", "restarting", "failed", "stopped"]
    problem: str | None
    sources: list[str]
    documents_per_second: float
    step_seconds: float
    steps_since_start: int
    documents_since_start: int
    restarts: int = Field(description="How often the process that judges was started again since the service began.")


class StatusShape(BaseModel):
    store: str
    mode: Literal["stream", "reading", "read-only"]
    why_read_only: str
    version: str
    steps: int
    documents: int
    novel: int
    stories: int
    storylines: int
    quarantined: int
    quarantine_reasons: dict[str, int]
    alert_counts: dict[str, int]
    alerts: dict[str, Any]
    counts: dict[str, int]
    first_time: Time
    last_time: Time
    settings: dict[str, Any]
    wanted_settings: dict[str, Any]
    positions: dict[str, dict[str, Any]]
    inbox: int = Field(description="Documents that were pushed and are not judged yet.")
    lag_seconds: float = Field(description="How long the oldest of them has waited.")
    store_bytes: int
    memory_bytes: int
    stream: StreamShape | None = Field(description="null where this service takes no documents.")


class SettingsShape(BaseModel):
    budget: str
    false_alerts: float
    wanted: dict[str, Any] = Field(description="What was asked for and the next step takes up.")
    settings: dict[str, Any] = Field(description="All settings that the store was begun with.")


class Accepted(BaseModel):
    accepted: int
    ids: list[str] = Field(description="The ids of the documents that were taken, in order.")
    rejected: list[dict[str, Any]] = Field(description="Which were not taken and why; only with partial=true.")


class FeedbackGiven(BaseModel):
    id: str
    useful: bool | None


class Health(BaseModel):
    status: Literal["ok", "starting", "preparing", "waiting", "restarting", "failed"]
    detail: str = ""


class ProblemShape(BaseModel):
    """An RFC 9457 problem document."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None
