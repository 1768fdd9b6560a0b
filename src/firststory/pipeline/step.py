"""One step: state and a batch in, verdicts out. No clock, no input or output, seeded: same batch, same bytes.

judge                                                   place               tell
documents ─ known ids? ─ known texts? ─ rows ─ novelty ─ stories ─ phrases ─ verdicts
            dropped       attached to                    └ alerts
                          the first

Judging and placing change nothing that the other reads, so a batch may be judged while the one before it is placed: by
another thread, or by a process that has the parts for it (`placing_process`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from firststory.alerts.budget import Budget
from firststory.alerts.feedback import Feedback
from firststory.errors import OlderStateError, StateVersionError
from firststory.pipeline.alerting import end_alerts, fire_alerts
from firststory.pipeline.beside import Started
from firststory.pipeline.clock import StreamClock
from firststory.pipeline.duplicates import Duplicates, FindEarlier
from firststory.pipeline.evidence import gather_phrases, gather_tokens
from firststory.pipeline.fingerprints import text_fingerprints
from firststory.pipeline.garbage import paused_collection
from firststory.pipeline.in_progress import InProgress
from firststory.pipeline.judged_batch import JudgedBatch
from firststory.pipeline.judging import judge, read_batch, remember
from firststory.pipeline.parts import OF_JUDGING, OF_PLACING, Parts
from firststory.pipeline.placed_batch import PlacedBatch
from firststory.pipeline.pruning import is_nearly_full, is_pruning_due, make_room
from firststory.pipeline.storyline_topics import StorylineTopics
from firststory.pipeline.surfaces_of_batch import LEAD_CHARACTERS, SurfacesOfBatch
from firststory.pipeline.topic_steps import learn_topics, tell_topics
from firststory.pipeline.verdicts import verdict_on
from firststory.records import ASSUMED_UTC, Batch, Document, Step, Verdict
from firststory.state import State, flatten, state_pieces, unflatten
from firststory.stories.candidate import StoryCandidate

STATE_VERSION = 9
RECENT_SCORES = 1000
"""The latest scores: what is neutral, and what is low, differs between detectors."""


_EMPTY_ROW = np.empty(0, dtype=np.int32), np.empty(0)


class StreamCore:
    """The deterministic core of a stream.

    Parameters
    ----------
    parts : Parts
    window : int
        How many ids and texts are remembered, to know them when they come again where no store does.
    """

    def __init__(self, parts: Parts, window: int = 50_000) -> None:
        self.parts = parts
        self._duplicates = Duplicates(window)
        self._clock = StreamClock()
        self._recent_scores: list[float] = []
        self.overlaps = False
        """Whether a step may use a second core: the result is the same."""
        self.make_room: Callable[[Parts], None] = make_room
        """Prunes the vocabulary once a batch is placed."""
        self._has_placed = False
        """In the first step kernels are compiled or loaded: one after another."""

    def step(self, batch: Batch, known: Collection[str] = (), find_earlier: FindEarlier | None = None) -> Step:
        """Judge one batch by the past, then learn it: both halves of a step."""
        judged = self.judge(batch, known, find_earlier)
        return self.tell(judged, self.place(judged))

    def judge(self, batch: Batch, known: Collection[str] = (), find_earlier: FindEarlier | None = None) -> JudgedBatch:
        """The first half of a step: how novel each document is, and which earlier ones come closest.

        `known` are ids that the store has already; `find_earlier` finds texts in it that are no longer remembered.
        """
        with paused_collection():
            return self._judge(batch, known, find_earlier)

    def place(self, judged: JudgedBatch) -> PlacedBatch:
        """The second half: stories, alerts and topics. Batches come as they were judged."""
        with paused_collection():
            return self._place(judged)

    def tell(self, judged: JudgedBatch, placed: PlacedBatch) -> Step:
        """What both halves have found out; where it is time for that, the vocabulary is pruned."""
        fingerprints = {one.document.id: one.fingerprints.whole for one in judged.documents}
        step = Step(
            index=judged.batch.index,
            verdicts=self._verdicts(judged, placed.like),
            positions=judged.batch.positions,
            quarantined=judged.batch.quarantined,
            stories=placed.stories,
            storylines=placed.storylines,
            alerts=placed.alerts,
            topics=placed.topics,
            topic_events=placed.topic_events,
            fingerprints=tuple([fingerprints[document.id] for document in judged.fresh]),
            counts=judged.counts,
            span=_span(judged.documents) if judged.counts["ahead"] else None,
        )
        if judged.wants_room:
            self.make_room(self.parts)
        return step

    def may_judge_ahead(self) -> bool:
        """Whether the next batch may be judged before the last one that was judged is placed.

        Not where columns get other numbers in between, nor where a topic model reads what the vectorizer learnt last.
        """
        topics = self.parts.topics
        is_free = topics is None or isinstance(topics, StorylineTopics)
        return is_free and not is_nearly_full(self.parts.vectorizer)

    def _judge(self, batch: Batch, known: Collection[str], find_earlier: FindEarlier | None) -> JudgedBatch:
        parts = self.parts
        parts.gate.keeper.begin_step()
        before, n_learnt = self._running_counts(), getattr(parts.vectorizer, "n_documents_", 0)
        had_vectors = parts.own_vectors.begun
        surfaces = SurfacesOfBatch(partial(parts.vectorizer.last_surface_forms, LEAD_CHARACTERS))
        fresh = self._duplicates.drop_redelivered(batch.documents, known)
        documents = self._in_order(fresh)
        self._duplicates.mark_exact(documents, find_earlier)
        originals = [one for one in documents if one.duplicate_of is None]
        read, rows = read_batch(parts, originals) if originals else (None, None)
        judged = [] if read is None else read.documents
        if read is not None and rows is not None and judged:
            judge(parts, judged, rows)
            remember(parts, read, rows)
            gather_tokens(parts, [one for one in judged if one.is_novel])
            if self.overlaps:
                surfaces.looked_up()
        n_near = self._duplicates.mark_near(judged)
        scores = [one.novelty for one in judged]
        recent = self._recent_scores or scores
        self._recent_scores = (self._recent_scores + scores)[-RECENT_SCORES:]
        counts = Counter(
            seen=len(batch.documents) + len(batch.quarantined),
            scored=len(judged) - n_near,
            novel=sum(one.is_novel and one.duplicate_of is None for one in judged),
            redelivered=len(batch.documents) - len(fresh),
            duplicates=sum(one.duplicate_of is not None for one in documents),
            empty=sum(one.duplicate_of is None and not one.is_judged for one in documents),
            late=batch.late,
            untimed=sum(document.time is None for document in fresh),
            assumed_utc=sum(_is_assumed_utc(document) for document in fresh),
            quarantined=len(batch.quarantined),
            **{name: count - before[name] for name, count in self._running_counts().items()},
        )
        return JudgedBatch(
            batch=batch,
            fresh=fresh,
            documents=documents,
            read=read,
            unit=None if rows is None else rows.unit,
            surfaces=surfaces,
            counts=dict(counts),
            recent_scores=recent,
            now=self._clock.high if self._clock.is_timed else None,
            forgets_vectors=parts.own_vectors.begun and not had_vectors,
            wants_room=is_pruning_due(parts.vectorizer, n_learnt),
        )

    def _place(self, judged: JudgedBatch) -> PlacedBatch:
        parts, documents, read = self.parts, judged.documents, judged.read
        if judged.forgets_vectors:
            parts.stories.forget_vectors()
        # Stories and alerts need no phrases. In the first step kernels are compiled or loaded: one after another.
        beside, self._has_placed = self.overlaps and self._has_placed, True
        originals = [] if read is None else [one.document for one in read.originals]
        learning_phrases = Started(parts.phrases.learn, originals, beside=beside)
        try:
            self._assign_stories(documents, judged.surfaces)
            fired = fire_alerts(parts, documents, judged.surfaces.of)
        finally:
            phrases = learning_phrases.result()
        learning_topics = None
        if read is not None and read.documents:
            gather_phrases(parts, read, phrases)
            learning_topics = learn_topics(parts, judged, phrases, beside=self.overlaps)
        like = parts.alerts.link_threshold
        try:
            changes = parts.stories.end_step()
            alerts = end_alerts(parts, fired, changes)
        finally:
            if learning_topics is not None:
                learning_topics.result()
        topics, events = tell_topics(parts, changes, judged.batch.index, judged.now)
        return PlacedBatch(
            like, changes.stories, changes.storylines, alerts, topics, events, alerts_status=parts.alerts.status()
        )

    def _running_counts(self) -> dict[str, int]:
        """What has happened since the stream began."""
        return {"unread": getattr(self.parts.vectorizer, "n_dropped_", 0), "ahead": self._clock.unbelieved}

    def _in_order(self, fresh: Sequence[Document]) -> list[InProgress]:
        """The documents in the order in which they are judged, with their times and fingerprints.

        Where the detector does not mind the order inside a batch, nothing else does: equal times go by their ids.
        """
        ordered = fresh if self.parts.is_sequential else sorted(fresh, key=_time_and_id)
        clock = self._clock.seconds_of(ordered)
        seconds = [None] * len(ordered) if clock is None else clock.tolist()
        return [
            InProgress(document, time, text_fingerprints(document))
            for document, time in zip(ordered, seconds, strict=True)
        ]

    def apply_feedback(self, marks: Sequence[tuple[str, bool | None]]) -> None:
        """What people said of verdicts since the last step: (id, useful or not, None to take it back)."""
        if not marks:
            return
        feedback, keeper = self.parts.feedback, self.parts.gate.keeper
        sentences = [feedback.apply(name, useful, keeper.budget) for name, useful in marks]
        keeper.strictness = feedback.strictness
        # One mark speaks for itself; of many, what they amount to is said.
        keeper.note_change(sentences[0] if len(marks) == 1 else _marks_in_words(marks, feedback, keeper.budget))

    # -- stories -------------------------------------------------------------------------------------------

    def _assign_stories(self, documents: Sequence[InProgress], surfaces: SurfacesOfBatch) -> None:
        """Let each document join or open a story. Duplicates come after all originals: the first of them may stand
        later in the batch than its time says."""
        stories = self.parts.stories
        originals = [one for one in documents if one.is_judged and one.duplicate_of is None]
        candidates = [
            StoryCandidate(
                document=one.document,
                columns=one.remembered.columns,
                weights=one.weights,
                ordinal=one.ordinal,
                neighbours=one.neighbours,
                surfaces=partial(surfaces.of, one),
                title=one.remembered.title,
                seconds=one.seconds,
                title_columns=one.title_columns,
                counts=one.counts,
                vector=one.vector,
            )
            for one in originals
            if one.remembered is not None
        ]
        for one, assignment in zip(originals, stories.assign(candidates), strict=True):
            one.assignment = assignment
        again = [one for one in documents if one.duplicate_of is not None and stories.story_of(one.duplicate_of)]
        candidates = [
            StoryCandidate(
                one.document,
                *_EMPTY_ROW,
                ordinal=one.ordinal,
                duplicate_of=one.duplicate_of,
                seconds=one.seconds,
            )
            for one in again
        ]
        for one, assignment in zip(again, stories.assign(candidates), strict=True):
            one.assignment = assignment

    def _verdicts(self, judged: JudgedBatch, like: float) -> tuple[Verdict, ...]:
        """A verdict on each document, in the order of arrival."""
        by_id = {one.document.id: one for one in judged.documents}
        return tuple([verdict_on(by_id[document.id], judged.recent_scores, like) for document in judged.fresh])

    def status(self) -> dict[str, Any]:
        """Where the alerts stand, and the threshold on the novelty of single documents: JSON values."""
        return {"alerts": self.parts.alerts.status(), "novelty": self.parts.gate.status()}

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """Everything that the future depends on: a flat dict of arrays and JSON values."""
        return flatten(self._judging_state()) | flatten(self._placing_state())

    def pieces_of_judging(self) -> tuple[int, Iterator[Any]]:
        """What `get_state` has of the first half, packed: nothing is copied that is written out anyway."""
        return state_pieces(flatten(self._judging_state(), copy=False))

    def pieces_of_placing(self) -> tuple[int, Iterator[Any]]:
        """The same of the second half."""
        return state_pieces(flatten(self._placing_state(), copy=False))

    def _judging_state(self) -> State:
        return {
            "class": type(self).__name__,
            "version": STATE_VERSION,
            "clock": self._clock.get_state(),
            "duplicates": self._duplicates.get_state(),
            "recent_scores": self._recent_scores,
            **self.parts.get_state(OF_JUDGING),
        }

    def _placing_state(self) -> State:
        return self.parts.get_state(OF_PLACING)

    def set_state(self, state: State) -> None:
        """Become what `get_state` described. Parts without a state stay as they were built."""
        if state.get("class") != type(self).__name__ or state.get("version") != STATE_VERSION:
            version = state.get("version")
            is_older = isinstance(version, int) and version < STATE_VERSION
            raise (OlderStateError if is_older else StateVersionError)(
                owner="store",
                parameter="the saved model",
                allowed=f"{type(self).__name__}, version {STATE_VERSION}",
                received=f"{state.get('class')}, version {version}",
                remedy="Begin a new store; what this one holds can still be read.",
            )
        nested = unflatten(state)
        self._clock = StreamClock.from_state(nested["clock"])
        self._duplicates = Duplicates.from_state(nested["duplicates"])
        self._recent_scores = list(nested["recent_scores"])
        self.parts = self.parts.with_state(nested["parts"])


def _marks_in_words(marks: Sequence[tuple[str, bool | None]], feedback: Feedback, budget: Budget) -> str:
    kinds = {"useful": True, "not useful": False, "taken back": None}
    counts = [f"{n} {name}" for name, kind in kinds.items() if (n := sum(useful is kind for _, useful in marks))]
    return f"{len(marks)} marks ({', '.join(counts)}). {feedback.explain(budget)}"


def _span(documents: Sequence[InProgress]) -> tuple[datetime, datetime] | None:
    """The first and the last time that were believed."""
    times = [one.seconds for one in documents if one.seconds is not None]
    if not times:
        return None
    return datetime.fromtimestamp(min(times), tz=UTC), datetime.fromtimestamp(max(times), tz=UTC)


def _is_assumed_utc(document: Document) -> bool:
    time = document.time
    return time is not None and time.tzinfo is not UTC and time.tzname() == ASSUMED_UTC.tzname(None)


def _time_and_id(document: Document) -> tuple[float, str]:
    return (document.time.timestamp() if document.time else float("-inf")), document.id
