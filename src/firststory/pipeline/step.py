"""One step: state and a batch in, verdicts out. No clock, no input or output, seeded: same batch, same bytes.

documents ─ known ids? ─ known texts? ─ rows ─ novelty ─ stories ─ evidence ─ verdicts
            dropped       attached to                    └ alerts
                          the first
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from firststory.alerts.budget import Budget
from firststory.alerts.feedback import Feedback
from firststory.errors import StateVersionError
from firststory.pipeline.alerting import end_alerts, fire_alerts
from firststory.pipeline.beside import Started
from firststory.pipeline.clock import StreamClock
from firststory.pipeline.duplicates import Duplicates, FindEarlier
from firststory.pipeline.evidence import gather_evidence
from firststory.pipeline.fingerprints import text_fingerprints
from firststory.pipeline.garbage import paused_collection
from firststory.pipeline.in_progress import InProgress
from firststory.pipeline.judging import ReadBatch, judge, read_batch, remember
from firststory.pipeline.parts import Parts
from firststory.pipeline.pruning import make_room
from firststory.pipeline.topic_steps import learn_topics, tell_topics
from firststory.pipeline.verdicts import verdict_on
from firststory.records import ASSUMED_UTC, Batch, Document, Step, Verdict
from firststory.state import State, flatten, state_pieces, unflatten
from firststory.stories.candidate import StoryCandidate
from firststory.text.phrases.found import ReadDocuments
from firststory.text.surfaces import SurfaceForms

STATE_VERSION = 9
LEAD_CHARACTERS = 1500
"""Where the words that name a story are looked for: news says first what it is about."""
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
        self._has_judged = False
        """In the first step kernels are compiled or loaded: one after another."""

    def step(self, batch: Batch, known: Collection[str] = (), find_earlier: FindEarlier | None = None) -> Step:
        """Judge one batch by the past, then learn it.

        `known` are ids that the store has already; `find_earlier` finds texts in it that are no longer remembered.
        """
        with paused_collection():
            return self._step(batch, known, find_earlier)

    def _step(self, batch: Batch, known: Collection[str], find_earlier: FindEarlier | None) -> Step:
        parts = self.parts
        parts.gate.keeper.begin_step()
        before, learnt = self._running_counts(), getattr(parts.vectorizer, "n_documents_", 0)
        fresh = self._duplicates.drop_redelivered(batch.documents, known)
        documents = self._in_order(fresh)
        self._duplicates.mark_exact(documents, find_earlier)
        read = self._judge([one for one in documents if one.duplicate_of is None])
        judged = [] if read is None else read[0].documents
        n_near = self._duplicates.mark_near(judged)
        surfaces = _SurfacesOfBatch(parts)
        self._assign_stories(documents, surfaces)
        fired = fire_alerts(parts, documents, surfaces.of)
        learning = None if read is None else learn_topics(parts, *read, beside=self.overlaps)
        try:
            verdicts = self._verdicts(fresh, documents, [one.novelty for one in judged])
            changes = parts.stories.end_step()
            alerts = end_alerts(parts, fired, changes)
        finally:
            if learning is not None:
                learning.result()
        topics, events = tell_topics(parts, changes, batch.index, self._clock.high if self._clock.is_timed else None)
        counts = Counter(
            seen=len(batch.documents) + len(batch.quarantined),
            scored=len(judged) - n_near,
            novel=sum(one.is_novel for one in verdicts),
            redelivered=len(batch.documents) - len(fresh),
            duplicates=sum(one.duplicate_of is not None for one in documents),
            empty=sum(one.duplicate_of is None and not one.is_judged for one in documents),
            late=batch.late,
            untimed=sum(document.time is None for document in fresh),
            assumed_utc=sum(_is_assumed_utc(document) for document in fresh),
            quarantined=len(batch.quarantined),
            **{name: count - before[name] for name, count in self._running_counts().items()},
        )
        make_room(parts, learnt)
        fingerprints = {one.document.id: one.fingerprints.whole for one in documents}
        return Step(
            index=batch.index,
            verdicts=verdicts,
            positions=batch.positions,
            quarantined=batch.quarantined,
            stories=changes.stories,
            storylines=changes.storylines,
            alerts=alerts,
            topics=topics,
            topic_events=events,
            fingerprints=tuple([fingerprints[document.id] for document in fresh]),
            counts=dict(counts),
            span=_span(documents) if counts["ahead"] else None,
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

    # -- novelty -------------------------------------------------------------------------------------------

    def _judge(self, originals: Sequence[InProgress]) -> tuple[ReadBatch, ReadDocuments] | None:
        """Judge the documents that have words; then they are remembered. None where there is none.

        Returned are their rows, and the phrases of all: those of a document are at its place.
        """
        if not originals:
            return None
        parts = self.parts
        # Rows and novelty need no phrases.
        beside, self._has_judged = self.overlaps and self._has_judged, True
        learning = Started(parts.phrases.learn, [one.document for one in originals], beside=beside)
        try:
            batch = read_batch(parts, originals)
            if batch.documents:
                judge(parts, batch)
        finally:
            phrases = learning.result()
        if not batch.documents:
            return None
        remember(parts, batch)
        gather_evidence(parts, [one for one in batch.documents if one.is_novel], phrases)
        return batch, phrases

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

    def _assign_stories(self, documents: Sequence[InProgress], surfaces: _SurfacesOfBatch) -> None:
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

    def _verdicts(
        self, fresh: Sequence[Document], documents: Sequence[InProgress], scores: list[float]
    ) -> tuple[Verdict, ...]:
        """A verdict on each document, in the order of arrival."""
        recent = self._recent_scores or scores
        by_id = {one.document.id: one for one in documents}
        like = self.parts.alerts.link_threshold
        verdicts = tuple([verdict_on(by_id[document.id], recent, like) for document in fresh])
        self._recent_scores = (self._recent_scores + scores)[-RECENT_SCORES:]
        return verdicts

    def status(self) -> dict[str, Any]:
        """Where the alerts stand, and the threshold on the novelty of single documents: JSON values."""
        return {"alerts": self.parts.alerts.status(), "novelty": self.parts.gate.status()}

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """Everything that the future depends on: a flat dict of arrays and JSON values."""
        return flatten(self._state())

    def pieces_of_state(self) -> tuple[int, Iterator[Any]]:
        """`get_state` packed, as `state_pieces` gives it: nothing is copied that is written out anyway."""
        return state_pieces(flatten(self._state(), copy=False))

    def _state(self) -> State:
        return {
            "class": type(self).__name__,
            "version": STATE_VERSION,
            "clock": self._clock.get_state(),
            "duplicates": self._duplicates.get_state(),
            "recent_scores": self._recent_scores,
            "parts": self.parts.get_state(),
        }

    def set_state(self, state: State) -> None:
        """Become what `get_state` described. Parts without a state stay as they were built."""
        if state.get("class") != type(self).__name__ or state.get("version") != STATE_VERSION:
            raise StateVersionError(
                owner="store",
                parameter="the saved model",
                allowed=f"{type(self).__name__}, version {STATE_VERSION}",
                received=f"{state.get('class')}, version {state.get('version')}",
                remedy="Go on with the firststory version that saved it, or begin a new store.",
            )
        nested = unflatten(state)
        self._clock = StreamClock.from_state(nested["clock"])
        self._duplicates = Duplicates.from_state(nested["duplicates"])
        self._recent_scores = list(nested["recent_scores"])
        self.parts = self.parts.with_state(nested["parts"])


class _SurfacesOfBatch:
    """How the columns of the documents of this batch read; looked up when the first document asks."""

    def __init__(self, parts: Parts) -> None:
        self._vectorizer = parts.vectorizer
        self._forms: SurfaceForms | None = None

    def of(self, one: InProgress) -> Mapping[int, str]:
        """Each column of a document as it reads where it first stands."""
        if one.tokens:
            # Of several tokens with one column the first is kept: later keys would replace it, hence reversed.
            return {token.column: token.surface for token in reversed(one.tokens) if token.column >= 0}
        if self._forms is None:
            self._forms = self._vectorizer.last_surface_forms(LEAD_CHARACTERS)
        return self._forms.text(one.place)


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
