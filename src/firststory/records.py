"""The values that flow through the stream, left to right: frozen, slotted, free of behaviour.

A `Document` comes out of a source with the `Position` after it; the documents of one step make a `Batch`; the step
turns a batch into a `Step` of `Verdict`s, each with its `Evidence` and the `Story` it opens or joins; topic models
add `Topic`s. Times are timezone-aware datetimes in UTC, or None where the stream has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from firststory.frozen import MadeWhenRead, quickly_made
from firststory.notebook import story_html, verdict_html

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ASSUMED_UTC = timezone(timedelta(0), "UTC, assumed")
"""The zone of times that came without one: equal to UTC, and the stream can still count how often it had to guess."""

Json = Any
"""What `json.loads` can return."""

NoveltyKind = Literal["event", "development", "known", "duplicate"]
"""New event; new development of a known story; known story; the text of an earlier document again."""

TopicEventKind = Literal["born", "grown", "split", "merged", "faded", "changed"]
"""New; known before, but a topic only now; parted from another; merged into another; lost its share or its successor;
other words than usual."""

StoryStatus = Literal["open", "faded", "merged"]

TermKind = Literal["person", "place", "organisation", "other"]
"""What a name is, where that is sure; everything else is "other"."""

AlertKind = Literal["confirmed", "turn", "first_seen"]
"""A new event that several sources tell; something new inside a running story; a first report that nothing confirms."""


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


@quickly_made
@dataclass(frozen=True, slots=True)
class Document:
    """One text of the stream.

    Examples
    --------
    >>> Document(id="a1", text="Harbour bridge closed after storm").title is None
    True
    """

    id: str
    text: str
    time: datetime | None = None
    title: str | None = None
    source: str | None = None
    url: str | None = None
    label: Json = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    vector: ArrayLike | None = field(default=None, compare=False, repr=False)
    """What the text is about, as numbers of your own making; in the stream an array of float16 and length one."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Position:
    """The point *after* a document in a named source; `at` is what the source needs to go on from there."""

    source: str
    at: Mapping[str, Json]


class Lag(NamedTuple):
    """How much of a source is not yet in the store."""

    amount: int
    unit: str
    """"documents", or "bytes" where nobody has counted."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A piece of input that could not become a document: why, where, and how it began."""

    reason: str
    message: str
    position: Position
    excerpt: str


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing came for a while: a step that has documents need not wait for more."""


Arrival = tuple[Document, Position] | Quarantined | Idle
"""What a source yields: a document with the position after it, what could not become one, or word that it waits."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The documents of one step, in the order of arrival."""

    index: int
    documents: tuple[Document, ...]
    positions: tuple[Position, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    late: int = 0
    """How many of the documents belong, by their time, to a step that was closed already."""
    reached: int | None = None
    """How far the stream has come: the number of the step in time, or the latest time in microseconds."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Term:
    """A name, figure, phrase or word of the evidence: how it reads, its weight, and where it stands in the text.

    The offsets are exact: `document.text[start:end]` is the term with all that it is written with. `text` is for
    people: the full name where this document has a shorter one, common words without the capitals of a title, no soft
    hyphens, invisible characters or towers of marks, 60 characters at most. Both offsets are -1 where the term stands
    in the title alone.
    """

    text: str
    weight: float
    start: int = -1
    end: int = -1
    kind: TermKind = "other"


@quickly_made
@dataclass(frozen=True, slots=True)
class Neighbour:
    """An earlier document that comes close."""

    id: str
    similarity: float
    title: str | None = None
    time: datetime | None = None
    shared: tuple[str, ...] = ()


@quickly_made
@dataclass(frozen=True, slots=True)
class Evidence(MadeWhenRead):
    """Why a verdict says what it says."""

    terms: tuple[Term, ...] = ()
    nearest: tuple[Neighbour, ...] = ()
    kind: NoveltyKind = "event"
    sentence: str = ""


@quickly_made
@dataclass(frozen=True, slots=True)
class Verdict:
    """What firststory says of one document."""

    document: Document
    novelty: float
    p_value: float | None
    is_novel: bool
    threshold: float | None = None
    """The least novelty that would have been enough; None where none would have been, or where any would."""
    story: str | None = None
    """The story that the document was given to on arrival; read from a store, the story that has it now."""
    duplicate_of: str | None = None
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms that made it novel, strongest first."""
        return self.evidence.terms

    @property
    def nearest(self) -> tuple[Neighbour, ...]:
        """The nearest earlier documents, nearest first."""
        return self.evidence.nearest

    def to_dict(self) -> dict[str, Json]:
        """As values that JSON and data frames take, with title, source and link of the document; not its text.

        Examples
        --------
        >>> told = Verdict(Document(id="a1", text="Flood in Bremen", source="AP"), 0.8, None, True).to_dict()
        >>> told["id"], told["source"], told["is_novel"]
        ('a1', 'AP', True)
        """
        document = self.document
        return {
            "id": document.id,
            "time": _iso(document.time),
            "title": document.title,
            "source": document.source,
            "url": document.url,
            "novelty": round(self.novelty, 6),
            "p_value": None if self.p_value is None else round(self.p_value, 6),
            "is_novel": self.is_novel,
            "terms": [
                {"text": t.text, "weight": t.weight, "start": t.start, "end": t.end, "kind": t.kind} for t in self.terms
            ],
            "nearest": [
                {"id": n.id, "similarity": n.similarity, "title": n.title, "time": _iso(n.time), "shared": [*n.shared]}
                for n in self.nearest
            ],
            "story": self.story,
            "kind": self.evidence.kind,
            "duplicate_of": self.duplicate_of,
            "sentence": self.evidence.sentence,
        }

    def _repr_html_(self) -> str:
        return verdict_html(self)


@quickly_made
@dataclass(frozen=True, slots=True)
class Story:
    """A story: the documents that tell of one happening."""

    id: str
    title: str
    first_seen: datetime | None
    last_seen: datetime | None
    size: int
    """Distinct texts; duplicates are counted apart. Together they are the documents that the store has of it."""
    representative: str
    """The id of the most central document, whose title the story bears."""
    sources: tuple[str, ...] = ()
    duplicates: int = 0
    growth: float = 0.0
    """Documents a day over the last week: that before the end of the stream, or of the step that told the story."""
    key_terms: tuple[str, ...] = ()
    status: StoryStatus = "open"
    merged_into: str | None = None
    """The story it was merged into, which has its documents since; its own size is that before."""
    reason: str = ""
    """Why it was merged, in words; empty where it was not."""
    storyline: str | None = None
    """The storyline that it is part of."""
    hours: tuple[tuple[int, int], ...] = ()
    """When its documents of the last week came: (hours since 1970, documents in that hour)."""

    def _repr_html_(self) -> str:
        return story_html(self)


@quickly_made
@dataclass(frozen=True, slots=True)
class Storyline:
    """Stories that belong together: what they add up to over weeks or months."""

    id: str
    title: str
    first_seen: datetime | None
    last_seen: datetime | None
    size: int
    """Distinct texts of all its stories."""
    n_stories: int
    sources: tuple[str, ...] = ()
    key_terms: tuple[str, ...] = ()
    status: StoryStatus = "open"
    merged_into: str | None = None
    """The storyline it was merged into, which has its stories since."""
    reason: str = ""
    """Why it was merged, in words; empty where it was not."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Alert:
    """Something that a person should know: a new event, a turn of a running story, or a first report.

    `first` and `headline` have the beginning of their text; read from a store they have the whole.
    """

    id: str
    kind: AlertKind
    first: Document
    """The first report."""
    headline: Document
    """The document that says best what happened: the one with most links to the others."""
    fired_at: datetime | None
    """The time of the document that brought the proof; None in a stream without times."""
    delay: timedelta | None
    """From the first report to the alert; None in a stream without times."""
    documents: tuple[str, ...]
    """The ids of the documents that it rests on, in the order of arrival."""
    sources: tuple[str, ...]
    """Who told it, each once."""
    terms: tuple[str, ...]
    """The names, figures and phrases that say what it is about."""
    story: str | None
    storyline: str | None
    score: float
    """How sure it is: -log10 of the probability that chance explains it; for `first_seen` a rank."""
    sentence: str
    """Why it fired."""
    summary: str = ""
    """A sentence of one of its documents that tells the event; empty where none says more than the headline, and for
    `first_seen`."""
    kinds: tuple[TermKind, ...] = ()
    """What each of the terms is; empty where that is not known."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of the stream at one step."""

    id: str
    terms: tuple[tuple[str, float], ...]
    share: float
    """Part of the latest documents that belong to it; of topics by NMF the part of their mass that it explains."""
    trend: tuple[float, ...] = ()
    """Its share over the last steps, oldest first."""
    born: int = 0
    """The step in which it first appeared."""
    label: tuple[str, ...] = ()
    """Up to three phrases that name it, the most telling first."""
    since: datetime | None = None
    """When it first appeared; None in a stream without times."""
    share_before: float | None = None
    """Its share a month ago, or at the beginning of a stream that is younger; None at the beginning."""
    before: datetime | None = None
    """When that was; None in a stream without times."""


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """Something that happened to a topic, with the evidence for it."""

    step: int
    kind: TopicEventKind
    topic: str
    others: tuple[str, ...] = ()
    """The topic it split from, or the one it merged into."""
    weight: float = 0.0
    """The number behind it: a cosine, an entry of the relation matrix, a share."""
    evidence: str = ""
    time: datetime | None = None
    """The time of the step; None in a stream without times."""


@dataclass(frozen=True, slots=True)
class Step:
    """All that one timestep brought: the unit of storing and of resuming."""

    index: int
    verdicts: tuple[Verdict, ...]
    positions: tuple[Position, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    stories: tuple[Story, ...] = ()
    """The stories that were opened or changed. The documents of one that was merged belong to the one it went into."""
    storylines: tuple[Storyline, ...] = ()
    """The storylines that were opened or changed."""
    alerts: tuple[Alert, ...] = ()
    """In the order in which they fired."""
    topics: tuple[Topic, ...] = ()
    topic_events: tuple[TopicEvent, ...] = ()
    fingerprints: tuple[int, ...] = ()
    """For each verdict the number by which the text is known when it comes again, below 2 ** 64; empty: not known."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What happened to the documents: seen, scored, redelivered, duplicates, empty, late, quarantined."""
    span: tuple[datetime, datetime] | None = None
    """The first and the last time that were believed, where they are not simply those of the documents."""
