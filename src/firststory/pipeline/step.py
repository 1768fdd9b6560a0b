"""One timestep: state and a batch in, verdicts out. No clock, no input or output, seeded: same batch, same bytes.

documents ─ known ids? ─ known texts? ─ rows ─ novelty ─ alerts ─ stories ─ evidence ─ verdicts
            dropped       attached to                    budget
                          the first
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.alerts.budget import Budget
from firststory.alerts.feedback import Feedback
from firststory.alerts.gate import AlertGate
from firststory.alerts.memory import DocumentMemory
from firststory.errors import StateError
from firststory.pipeline.clock import StreamClock
from firststory.pipeline.duplicates import NEAR_COSINE, Copies, Earlier, full_text, numbers_of, title_before
from firststory.pipeline.garbage import undisturbed
from firststory.pipeline.pruning import make_room
from firststory.pipeline.rows import unit_rows, without_common
from firststory.pipeline.stream_topics import Themes
from firststory.pipeline.verdicts import N_SHOWN, Judged, verdict
from firststory.records import Batch, Document, Step
from firststory.stories.arrival import Arrival
from firststory.stories.tracker import Assignment, StoryTracker
from firststory.text.meaning import LANGUAGES, ShortTextVectors

STATE_VERSION = 2
LEAD = 1500
"""Characters in which the words that name a story are looked for: news says first what it is about."""
ASSUMED = "UTC, assumed"
"""The name of the zone that sources give to times without one."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a stream is made of; `build` puts it together, the step only calls it."""

    vectorizer: Any
    detector: Any
    gate: AlertGate
    stories: StoryTracker
    memory: DocumentMemory
    feedback: Feedback
    neighbours: Any | None = None
    """An index of earlier documents, where the detector itself knows no neighbours."""
    themes: Themes | None = None
    meaning: ShortTextVectors | None = None
    """What short texts are about, where the detector wants to know."""


class StreamCore:
    """The deterministic core of a stream.

    Parameters
    ----------
    parts : Parts
    memory : int
        How many ids and texts are remembered, to know them when they come again where no store does.
    """

    def __init__(self, parts: Parts, memory: int = 50_000) -> None:
        self.parts = parts
        self._known = Copies(memory)
        self._clock = StreamClock()
        self._recent: list[float] = []
        """The latest scores: what is neutral, and what is low, differs between detectors."""

    def step(self, batch: Batch, known: Collection[str] = (), earlier: Earlier | None = None) -> Step:
        """Judge one batch by the past, then learn it.

        `known` are ids that the store has already; `earlier` finds texts in it that are no longer remembered.
        """
        with undisturbed():
            return self._step(batch, known, earlier)

    def _step(self, batch: Batch, known: Collection[str], earlier: Earlier | None) -> Step:
        self.parts.gate.keeper.begin_step()
        unread, unbelieved = _unread(self.parts.vectorizer), self._clock.unbelieved
        fresh = self._known.not_redelivered(batch.documents, known)
        # Where the detector does not mind the order inside a batch, nothing else does: equal times go by their ids.
        ordered = fresh if getattr(self.parts.detector, "sequential", True) else sorted(fresh, key=_time_and_id)
        seconds = self._clock.read(ordered)
        clock = None if seconds is None else dict(zip([d.id for d in ordered], seconds.tolist(), strict=True))
        numbers = {document.id: numbers_of(document) for document in ordered}
        copies = self._known.exact(ordered, numbers, earlier)
        originals = [document for document in ordered if document.id not in copies]
        judged, empty = self._judge(originals, clock)
        near = self._known.near([(one.remembered, one.nearest) for one in judged.values()])
        for name, copy in near.items():
            copies[name] = copy.first
            judged[name].nearest = [(copy.like, copy.similarity)]
        repeated = [document for document in ordered if document.id in copies]
        assigned = self._assign(judged, repeated, copies, clock or {})
        scores = [one.novelty for one in judged.values()]
        recent = self._recent or scores
        verdicts = tuple([verdict(document, copies, judged, assigned, recent) for document in fresh])
        self._recent = (self._recent + scores)[-1000:]
        stories = self.parts.stories.changed()
        counts = {
            "seen": len(batch.documents) + len(batch.quarantined),
            "scored": len(judged) - len(near),
            "novel": sum(one.is_novel for one in verdicts),
            "redelivered": len(batch.documents) - len(fresh),
            "duplicates": len(copies),
            "empty": empty,
            "late": batch.late,
            "untimed": sum(document.time is None for document in fresh),
            "assumed_utc": sum(d.time is not None and d.time.tzname() == ASSUMED for d in fresh),
            "quarantined": len(batch.quarantined),
            "unread": _unread(self.parts.vectorizer) - unread,
            "ahead": self._clock.unbelieved - unbelieved,
        }
        themes, vectorizer = self.parts.themes, self.parts.vectorizer
        topics, events = themes.report(vectorizer, batch.index, read=self.parts.stories.reads) if themes else ((), ())
        make_room(self.parts)
        return Step(
            index=batch.index,
            verdicts=verdicts,
            positions=batch.positions,
            quarantined=batch.quarantined,
            stories=stories,
            topics=topics,
            topic_events=events,
            fingerprints=tuple([numbers[document.id].whole for document in fresh]),
            counts=counts,
            span=_span(seconds) if counts["ahead"] and seconds is not None else None,
        )

    # -- novelty -------------------------------------------------------------------------------------------

    def _judge(self, documents: Sequence[Document], clock: Mapping[str, float] | None) -> tuple[dict[str, Judged], int]:
        """Novelty, p-value and decision for each document that has words; and how many have none.

        `clock` has the seconds of each document by its id, where the stream has times.
        """
        parts = self.parts
        if not documents:
            return {}, 0
        rows = parts.vectorizer.partial_fit_transform([full_text(document) for document in documents])
        has_words = np.diff(rows.indptr) > 0
        with_words = [document for document, some in zip(documents, has_words, strict=True) if some]
        if not with_words:
            return {}, len(documents)
        rows = rows if has_words.all() else rows[np.flatnonzero(has_words)]
        times = None if clock is None else np.array([clock[document.id] for document in with_words])
        unexplained = self._unexplained(rows)
        scores, made_of = self._scores(rows, times, self._vectors(with_words))
        weights = unit_rows(rows, parts.vectorizer)
        neighbours, cosines = self._neighbours(weights, times)
        moments = [None] * len(with_words) if times is None else times.tolist()
        judgements = parts.gate.judge(scores, moments, [document.id for document in with_words])
        places = np.flatnonzero(has_words).tolist()
        if parts.themes:
            parts.themes.learn(without_common(weights, parts.vectorizer))
            parts.themes.look(weights, parts.vectorizer.last_readings, places)
        judged = {}
        bounds = weights.indptr.tolist()
        named = list(zip(neighbours.tolist(), cosines.tolist(), strict=True))
        for i, (document, judgement) in enumerate(zip(with_words, judgements, strict=True)):
            begin, end = bounds[i], bounds[i + 1]
            ordinals, likeness = named[i]
            # People see three; where more are all but copies, one of them may be the original.
            shown = len(ordinals) if likeness[N_SHOWN - 1 : N_SHOWN] >= [NEAR_COSINE] else N_SHOWN
            ordinal = parts.memory.seen
            judged[document.id] = one = Judged(
                document,
                places[i],
                float(scores[i]),
                judgement,
                parts.memory.add(document, weights.indices[begin:end]),
                weights.data[begin:end],
                ordinal,
                neighbours[i],
                parts.memory.those(zip(ordinals[:shown], likeness[:shown], strict=True)),
            )
            if judgement.is_novel:
                one.tokens = _placed_tokens(parts.vectorizer, document)
                one.residual = _parts_left(rows, unexplained, i)
                if parts.themes:
                    parts.themes.listen(one.tokens)
                parts.feedback.remember(document.id, one.novelty, tuple(float(part[i]) for part in made_of))
        return judged, len(documents) - len(with_words)

    def _vectors(self, documents: Sequence[Document]) -> dict[str, Any]:
        """What the documents are about, where any of them is short and in a language that the vectors know."""
        meaning = self.parts.meaning
        if meaning is None or self.parts.vectorizer.language_ not in LANGUAGES:
            return {}
        vectors = meaning.transform(full_text(document) for document in documents)
        return {"vectors": vectors} if vectors.any() else {}

    def _scores(self, rows: sp.csr_matrix, times: Any, more: Mapping[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        """The novelty of each row, fused as people's marks have it, and the similarities that it was made of."""
        detector = self.parts.detector
        scores = detector.score_then_learn(rows, times=times, **more)
        names = ("neighbour_scores_", "cluster_scores_")
        made_of = tuple(getattr(detector, name) for name in names) if hasattr(detector, names[0]) else ()
        return self.parts.feedback.fuse(scores, made_of), made_of

    def _unexplained(self, rows: sp.csr_matrix) -> sp.csr_matrix | None:
        """What the dictionary of the past leaves over of each row, where the detector is a dictionary."""
        detector = self.parts.detector
        if not hasattr(detector, "explain") or not hasattr(detector, "n_features_in_"):
            return None
        return detector.explain(rows)

    def hear(self, said: Sequence[tuple[str, bool | None]]) -> None:
        """What people said of verdicts since the last step: (id, useful or not, None to take it back)."""
        if not said:
            return
        feedback, keeper = self.parts.feedback, self.parts.gate.keeper
        words = [feedback.hear(name, useful, keeper.budget) for name, useful in said]
        keeper.strictness = feedback.strictness
        # One mark speaks for itself; of many it is told what they amount to.
        keeper.note(words[0] if len(words) == 1 else _heard([useful for _, useful in said], feedback, keeper.budget))

    def _neighbours(self, weights: sp.csr_matrix, times: Any) -> tuple[Any, Any]:
        """Of each row the ordinals of the nearest earlier ones, nearest first, -1 for none; and their cosines."""
        knows = self.parts.detector
        if self.parts.neighbours is not None:
            knows = self.parts.neighbours
            knows.score_then_learn(weights, times=times)
        return np.where(knows.similarities_ > 0.0, knows.neighbours_, -1), knows.similarities_

    # -- stories -------------------------------------------------------------------------------------------

    def _assign(
        self,
        judged: Mapping[str, Judged],
        repeated: Sequence[Document],
        copies: Mapping[str, str],
        clock: Mapping[str, float],
    ) -> dict[str, Assignment]:
        parts = self.parts
        reads = self._reads()
        arrivals = [
            Arrival(
                document=one.document,
                columns=one.remembered.columns,
                weights=one.weights,
                ordinal=one.ordinal,
                neighbours=one.neighbours,
                surfaces=partial(reads, one),
                title=one.remembered.title,
                seconds=clock.get(one.document.id),
            )
            for one in judged.values()
            if one.document.id not in copies
        ]
        found = parts.stories.assign(arrivals)
        # Copies come after all originals: the first of them may stand later in the batch than its time says.
        nothing = np.empty(0, dtype=np.int32), np.empty(0)
        doubles = [
            Arrival(
                document,
                *nothing,
                ordinal=judged[document.id].ordinal if document.id in judged else -1,
                duplicate_of=copies[document.id],
                seconds=clock.get(document.id),
            )
            for document in repeated
            if parts.stories.story_of(copies[document.id]) is not None
        ]
        found += parts.stories.assign(doubles)
        return dict(zip([arrival.document.id for arrival in (*arrivals, *doubles)], found, strict=True))

    def _reads(self) -> Callable[[Judged], Mapping[int, str]]:
        """How each column of a document of this batch reads where it first stands; looked up when the first asks."""
        readings: list[Sequence[Mapping[int, str]]] = []

        def reads(one: Judged) -> Mapping[int, str]:
            if one.tokens:
                # Of several tokens with one column the first is kept: later keys would replace it, hence reversed.
                return {token.column: token.surface for token in reversed(one.tokens) if token.column >= 0}
            if not readings:
                readings.append(self.parts.vectorizer.last_readings(LEAD))
            return readings[0][one.place]

        return reads

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Everything that the future depends on: a flat dict of arrays and JSON values."""
        state: dict[str, Any] = {
            "class": type(self).__name__,
            "version": STATE_VERSION,
            "stream": [self._clock.is_timed, self._clock.now, self._recent],
            "clock": [self._clock.high, self._clock.waiting, self._clock.unbelieved],
        }
        for name, part in self._stateful().items():
            # A part that has seen nothing yet has no state; its absence says so.
            state.update({f"{name}/{key}": value for key, value in part.get_state().items()})
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Become what `get_state` described."""
        if state.get("class") != type(self).__name__ or state.get("version") != STATE_VERSION:
            raise StateError(
                owner="store",
                parameter="the saved model",
                allowed=f"{type(self).__name__}, version {STATE_VERSION}",
                received=f"{state.get('class')}, version {state.get('version')}",
                remedy="Go on with the firststory version that saved it, or begin a new store.",
            )
        self._clock.is_timed, self._clock.now, self._recent = state["stream"]
        self._clock.high, self._clock.waiting, self._clock.unbelieved = state.get("clock", [self._clock.now, 0, 0])
        held: dict[str, dict[str, Any]] = {}
        for key, value in state.items():
            name, slash, rest = key.partition("/")
            if slash:
                held.setdefault(name, {})[rest] = value
        fresh = {}
        for name, part in self._stateful().items():
            if hasattr(part, "set_state"):
                part.set_state(held[name])
            else:
                fresh[name] = type(part).from_state(held[name])
        known = self._known
        known.ids, known.texts, known.firsts = fresh.pop("ids"), fresh.pop("texts"), fresh.pop("firsts")
        # What has no state of its own stays as it was built.
        self.parts = replace(self.parts, **fresh)

    def _stateful(self) -> dict[str, Any]:
        parts = self.parts
        every = {
            "ids": self._known.ids,
            "texts": self._known.texts,
            "firsts": self._known.firsts,
            "vectorizer": parts.vectorizer,
            "detector": parts.detector,
            "gate": parts.gate,
            "stories": parts.stories,
            "memory": parts.memory,
            "feedback": parts.feedback,
            "neighbours": parts.neighbours,
            "themes": parts.themes,
        }
        return {name: part for name, part in every.items() if part is not None}


def _heard(marks: Sequence[bool | None], feedback: Feedback, budget: Budget) -> str:
    """Many marks at once, in words."""
    kinds = {"useful": True, "not useful": False, "taken back": None}
    counts = [f"{n} {name}" for name, kind in kinds.items() if (n := sum(mark is kind for mark in marks))]
    return f"{len(marks)} marks ({', '.join(counts)}). {feedback.explain(budget)}"


def _placed_tokens(vectorizer: Any, document: Document) -> list[Any]:
    """The words that are read of a document, in their order. Places are those in its text; in a title there is none."""
    title = title_before(document)
    before = vectorizer.tokens(title, first_only=True) if title else ()
    placeless = [token._replace(start=-1, end=-1) for token in before]
    return [*placeless, *vectorizer.tokens(document.text, first_only=True)]


def _span(seconds: NDArray[np.float64]) -> tuple[datetime, datetime]:
    """The first and the last of some times."""
    first, last = (datetime.fromtimestamp(float(moment), tz=UTC) for moment in (seconds.min(), seconds.max()))
    return first, last


def _parts_left(rows: sp.csr_matrix, unexplained: sp.csr_matrix | None, i: int) -> dict[int, float] | None:
    """Of row i, the part of each term that is left unexplained."""
    if unexplained is None:
        return None
    left = unexplained[i]
    whole = dict(zip(rows[i].indices.tolist(), rows[i].data.tolist(), strict=True))
    pairs = zip(left.indices.tolist(), left.data.tolist(), strict=True)
    return {column: value / whole[column] for column, value in pairs if whole.get(column, 0.0) > 0.0}


def _unread(vectorizer: Any) -> int:
    """Words that have found no room in the vocabulary so far."""
    return int(getattr(vectorizer, "n_dropped_", 0))


def _time_and_id(document: Document) -> tuple[float, str]:
    return (document.time.timestamp() if document.time else float("-inf")), document.id
