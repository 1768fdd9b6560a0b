"""One timestep: state and a batch in, verdicts out. No clock, no input or output, seeded: same batch, same bytes.

documents ─ known ids? ─ known texts? ─ rows ─ novelty ─ alerts ─ stories ─ evidence ─ verdicts
            dropped       attached to                    budget
                          the first
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from firststory.alerts.explain import explain
from firststory.alerts.feedback import Feedback
from firststory.alerts.gate import AlertGate, Judgement
from firststory.alerts.memory import DocumentMemory, Remembered
from firststory.alerts.stories import Arrival, Assignment, StoryTracker
from firststory.errors import StateError
from firststory.pipeline.rows import unit_rows, without_common
from firststory.pipeline.seen import Seen, fingerprint, number_of
from firststory.pipeline.themes import Themes
from firststory.records import Batch, Document, Evidence, NoveltyKind, Step, Verdict

STATE_VERSION = 1
NEAR_COSINE, NEAR_OVERLAP, FEW_TERMS = 0.9, 0.9, 10
"""A near copy has this cosine with an earlier document and shares this part of all their terms (Jaccard); texts of
fewer terms are too short to tell a copy from an update."""
LEAD = 1500
"""Characters in which the words that name a story are looked for: news says first what it is about."""
ASSUMED = "UTC, assumed"
"""The name of the zone that sources give to times without one."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a stream is made of; `build` puts it together, the step only calls it."""

    vectoriser: Any
    detector: Any
    gate: AlertGate
    stories: StoryTracker
    memory: DocumentMemory
    feedback: Feedback
    neighbours: Any | None = None
    """An index of earlier documents, where the detector itself knows no neighbours."""
    themes: Themes | None = None


@dataclass(frozen=True, slots=True)
class _Judged:
    """A document with words, and all that is known of it when stories are told."""

    document: Document
    novelty: float
    judgement: Judgement
    remembered: Remembered
    columns: Any
    weights: Any
    neighbours: Sequence[tuple[int, float]]
    tokens: Sequence[Any]
    residual: Mapping[int, float] | None = None
    """The part of each term that a dictionary leaves over, where the detector is one."""
    """Its words with their places, for the documents that somebody will look at."""


class StreamCore:
    """The deterministic core of a stream.

    Parameters
    ----------
    parts : Parts
    memory : int
        How many ids and texts are remembered, to know them when they come again.
    """

    def __init__(self, parts: Parts, memory: int = 50_000) -> None:
        self.parts = parts
        self._ids = Seen(memory)
        self._texts = Seen(memory)
        self._firsts = Seen(memory)
        """The first of its kind for every near copy."""
        self._is_timed: bool | None = None
        self._now = 0.0
        self._recent: list[float] = []
        """The latest scores: what is neutral, and what is low, differs between detectors."""

    def step(self, batch: Batch, known: Collection[str] = ()) -> Step:
        """Judge one batch by the past, then learn it. `known` are ids that the store has already."""
        fresh = self._not_redelivered(batch.documents, known)
        # Where the detector does not mind the order inside a batch, nothing else does: equal times go by their ids.
        ordered = fresh if getattr(self.parts.detector, "sequential", True) else sorted(fresh, key=_time_and_id)
        copies = self._copies(ordered)
        originals = [document for document in ordered if document.id not in copies]
        judged, empty = self._judge(originals)
        near = self._near_copies(judged)
        copies |= near
        assigned = self._assign(judged, [document for document in ordered if document.id in copies], copies)
        verdicts = tuple(self._verdict(document, copies, judged, assigned) for document in fresh)
        self._recent = (self._recent + [one.novelty for one in judged.values()])[-1000:]
        stories = self.parts.stories.changed()
        counts = {
            "seen": len(batch.documents) + len(batch.quarantined),
            "scored": len(judged) - len(near),
            "novel": sum(verdict.is_novel for verdict in verdicts),
            "redelivered": len(batch.documents) - len(fresh),
            "duplicates": len(copies),
            "empty": empty,
            "late": batch.late,
            "untimed": sum(document.time is None for document in fresh),
            "assumed_utc": sum(d.time is not None and d.time.tzname() == ASSUMED for d in fresh),
            "quarantined": len(batch.quarantined),
        }
        topics, events = self.parts.themes.report(self.parts.vectoriser, batch.index) if self.parts.themes else ((), ())
        return Step(
            index=batch.index,
            verdicts=verdicts,
            positions=batch.positions,
            quarantined=batch.quarantined,
            stories=stories,
            topics=topics,
            topic_events=events,
            counts=counts,
        )

    # -- known ids, known texts ----------------------------------------------------------------------------

    def _not_redelivered(self, documents: Sequence[Document], known: Collection[str]) -> list[Document]:
        fresh = []
        for document in documents:
            number = number_of(document.id)
            if document.id not in known and self._ids.get(number) is None:
                self._ids.add(number, "")
                fresh.append(document)
        return fresh

    def _copies(self, documents: Sequence[Document]) -> dict[str, str]:
        """The documents whose text came before, each with the id of the first that had it."""
        copies = {}
        for document in documents:
            number = fingerprint(full_text(document))
            first = self._texts.get(number)
            if first is None:
                self._texts.add(number, document.id)
            else:
                copies[document.id] = first
        return copies

    def _near_copies(self, judged: Mapping[str, _Judged]) -> dict[str, str]:
        """The documents that are an earlier one but for a few words, each with the id of the first of its kind."""
        copies = {}
        for name, one in judged.items():
            if len(one.columns) < FEW_TERMS:
                continue
            for ordinal, similarity in one.neighbours:
                earlier = self.parts.memory.get(ordinal) if similarity >= NEAR_COSINE else None
                if earlier is not None and _overlap(one.columns, earlier.columns) >= NEAR_OVERLAP:
                    first = self._firsts.get(number_of(earlier.id)) or earlier.id
                    self._firsts.add(number_of(name), first)
                    copies[name] = first
                    break
        return copies

    # -- novelty -------------------------------------------------------------------------------------------

    def _judge(self, documents: Sequence[Document]) -> tuple[dict[str, _Judged], int]:
        """Novelty, p-value and decision for each document that has words; and how many have none."""
        parts = self.parts
        if not documents:
            return {}, 0
        rows = parts.vectoriser.partial_fit_transform([full_text(document) for document in documents])
        has_words = np.diff(rows.indptr) > 0
        with_words = [document for document, some in zip(documents, has_words, strict=True) if some]
        if not with_words:
            return {}, len(documents)
        rows = rows if has_words.all() else rows[np.flatnonzero(has_words)]
        times = self._clock(with_words)
        unexplained = self._unexplained(rows)
        scores, made_of = self._scores(rows, times)
        weights = unit_rows(rows, parts.vectoriser)
        near = self._neighbours(weights, times)
        clock = [None] * len(with_words) if times is None else times.tolist()
        judgements = parts.gate.judge(scores, clock, [document.id for document in with_words])
        if parts.themes:
            parts.themes.learn(without_common(weights, parts.vectoriser))
        judged = {}
        for i, document in enumerate(with_words):
            span = slice(weights.indptr[i], weights.indptr[i + 1])
            columns, values = weights.indices[span], weights.data[span]
            tokens = parts.vectoriser.tokens(full_text(document), first_only=True) if judgements[i].is_novel else ()
            if parts.themes and tokens:
                parts.themes.listen(tokens)
            left = _parts_left(rows, unexplained, i) if judgements[i].is_novel else None
            kept = parts.memory.add(document, columns)
            judged[document.id] = _Judged(
                document, float(scores[i]), judgements[i], kept, columns, values, near[i], tokens, left
            )
            if judgements[i].is_novel:
                parts.feedback.remember(document.id, float(scores[i]), tuple(float(part[i]) for part in made_of))
        return judged, len(documents) - len(with_words)

    def _scores(self, rows: sp.csr_matrix, times: Any) -> tuple[Any, tuple[Any, ...]]:
        """The novelty of each row, fused as people's marks have it, and the similarities that it was made of."""
        detector = self.parts.detector
        scores = detector.score_then_learn(rows, times=times)
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
        for name, useful in said:
            words = self.parts.feedback.hear(name, useful)
            self.parts.gate.keeper.strictness = self.parts.feedback.strictness
            self.parts.gate.keeper.note(words)

    def _clock(self, documents: Sequence[Document]) -> Any:
        """Seconds of each document, or None for a stream without times; whether it has any is decided at its start.

        A document without a time in a stream that has them takes the time of the one before it.
        """
        if self._is_timed is None:
            first = next((document.time for document in documents if document.time is not None), None)
            self._is_timed = first is not None
            self._now = first.timestamp() if first is not None else 0.0
        if not self._is_timed:
            return None
        times = np.empty(len(documents))
        for i, document in enumerate(documents):
            if document.time is not None:
                self._now = document.time.timestamp()
            times[i] = self._now
        return times

    def _neighbours(self, weights: sp.csr_matrix, times: Any) -> list[list[tuple[int, float]]]:
        """Of each row the nearest earlier ones: (ordinal, cosine), nearest first."""
        knows = self.parts.detector
        if self.parts.neighbours is not None:
            knows = self.parts.neighbours
            knows.score_then_learn(weights, times=times)
        pairs = zip(knows.neighbours_.tolist(), knows.similarities_.tolist(), strict=True)
        return [[(n, s) for n, s in zip(ordinals, cosines, strict=True) if n >= 0] for ordinals, cosines in pairs]

    # -- stories -------------------------------------------------------------------------------------------

    def _assign(
        self, judged: Mapping[str, _Judged], repeated: Sequence[Document], copies: Mapping[str, str]
    ) -> dict[str, Assignment]:
        parts = self.parts
        surfaces = self._surfaces([*judged.values()])
        arrivals = [
            Arrival(
                document=one.document,
                columns=one.columns,
                weights=one.weights,
                neighbours=[
                    (earlier.id, similarity)
                    for ordinal, similarity in one.neighbours
                    if (earlier := parts.memory.get(ordinal)) is not None
                ],
                is_novel=one.judgement.is_novel,
                surfaces=partial(surfaces, i),
                title=one.remembered.title,
            )
            for i, one in enumerate(judged.values())
            if one.document.id not in copies
        ]
        found = parts.stories.assign(arrivals)
        # Copies come after all originals: the first of them may stand later in the batch than its time says.
        nothing = np.empty(0, dtype=np.int32), np.empty(0)
        doubles = [
            Arrival(document, *nothing, duplicate_of=copies[document.id])
            for document in repeated
            if parts.stories.story_of(copies[document.id]) is not None
        ]
        found += parts.stories.assign(doubles)
        return dict(zip([arrival.document.id for arrival in (*arrivals, *doubles)], found, strict=True))

    def _surfaces(self, judged: Sequence[_Judged]) -> Callable[[int], Mapping[int, str]]:
        """How each column of the i-th document reads where it first stands; looked up when the first is asked for."""
        readers: list[Callable[[], Mapping[int, str]]] = []

        def surfaces(i: int) -> Mapping[int, str]:
            if judged[i].tokens:
                # Of several tokens with one column the first is kept: later keys would replace it, hence reversed.
                return {token.column: token.surface for token in reversed(judged[i].tokens) if token.column >= 0}
            if not readers:
                texts = [full_text(one.document)[:LEAD] for one in judged]
                readers.extend(self.parts.vectoriser.surface_readers(texts))
            return readers[i]()

        return surfaces

    # -- verdicts ------------------------------------------------------------------------------------------

    def _verdict(
        self,
        document: Document,
        copies: Mapping[str, str],
        judged: Mapping[str, _Judged],
        assigned: Mapping[str, Assignment],
    ) -> Verdict:
        story = assigned[document.id].story if document.id in assigned else None
        if document.id in copies:
            near = judged.get(document.id)
            novelty = near.novelty if near else min(0.0, *self._recent) if self._recent else 0.0
            evidence = explain(document, "duplicate", nearest=self._nearest(near)[:1] if near else ())
            return Verdict(document, novelty, 1.0, False, None, story, copies[document.id], evidence)
        if document.id not in judged:
            neutral = float(np.median(self._recent)) if self._recent else 0.0
            evidence = Evidence(kind="known", sentence="It has no words to judge it by.")
            return Verdict(document, neutral, None, False, None, None, None, evidence)
        one = judged[document.id]
        judgement = one.judgement
        evidence = self._evidence(one, assigned[document.id])
        return Verdict(
            document=document,
            novelty=one.novelty,
            p_value=judgement.p_value,
            is_novel=judgement.is_novel,
            threshold=judgement.threshold,
            story=story,
            evidence=evidence,
        )

    def _nearest(self, one: _Judged) -> list[tuple[Remembered, float]]:
        found = ((self.parts.memory.get(ordinal), similarity) for ordinal, similarity in one.neighbours[:3])
        return [(earlier, similarity) for earlier, similarity in found if earlier is not None]

    def _evidence(self, one: _Judged, assigned: Assignment) -> Evidence:
        kind: NoveltyKind = "event" if assigned.opened else "development" if one.judgement.is_novel else "known"
        nearest = self._nearest(one)
        if not one.judgement.is_novel:
            # Nobody is called to look at it: naming its neighbours is enough, and much cheaper.
            return explain(one.document, kind, nearest=nearest)
        evidence = explain(
            one.document,
            kind,
            tokens=one.tokens,
            weights=dict(zip(one.columns.tolist(), one.weights.tolist(), strict=True)),
            nearest=nearest,
            residual=one.residual,
        )
        return _into_text(evidence, len(full_text(one.document)) - len(one.document.text))

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Everything that the future depends on: a flat dict of arrays and JSON values."""
        state: dict[str, Any] = {
            "class": type(self).__name__,
            "version": STATE_VERSION,
            "stream": [self._is_timed, self._now, self._recent],
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
        self._is_timed, self._now, self._recent = state["stream"]
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
        self._ids, self._texts, self._firsts = fresh.pop("ids"), fresh.pop("texts"), fresh.pop("firsts")
        old = self.parts
        self.parts = Parts(
            vectoriser=old.vectoriser,
            detector=old.detector,
            gate=fresh["gate"],
            stories=fresh["stories"],
            memory=fresh["memory"],
            feedback=fresh["feedback"],
            neighbours=old.neighbours,
            themes=fresh.get("themes"),
        )

    def _stateful(self) -> dict[str, Any]:
        parts = self.parts
        every = {
            "ids": self._ids,
            "texts": self._texts,
            "firsts": self._firsts,
            "vectoriser": parts.vectoriser,
            "detector": parts.detector,
            "gate": parts.gate,
            "stories": parts.stories,
            "memory": parts.memory,
            "feedback": parts.feedback,
            "neighbours": parts.neighbours,
            "themes": parts.themes,
        }
        return {name: part for name, part in every.items() if part is not None}


def _parts_left(rows: sp.csr_matrix, unexplained: sp.csr_matrix | None, i: int) -> dict[int, float] | None:
    """Of row i, the part of each term that is left unexplained."""
    if unexplained is None:
        return None
    left = unexplained[i]
    whole = dict(zip(rows[i].indices.tolist(), rows[i].data.tolist(), strict=True))
    pairs = zip(left.indices.tolist(), left.data.tolist(), strict=True)
    return {column: value / whole[column] for column, value in pairs if whole.get(column, 0.0) > 0.0}


def _time_and_id(document: Document) -> tuple[float, str]:
    return (document.time.timestamp() if document.time else float("-inf")), document.id


def _overlap(one: Any, other: Any) -> float:
    """The part of all terms of two documents that both have."""
    both = np.intersect1d(one, other, assume_unique=True).size
    return float(both / max(len(one) + len(other) - both, 1))


def full_text(document: Document) -> str:
    """What is read of a document: its text, with the title before it where the text does not begin with it."""
    title = document.title
    if not title or document.text.startswith(title):
        return document.text
    return f"{title}\n{document.text}"


def _into_text(evidence: Evidence, before: int) -> Evidence:
    """Offsets into the document's own text; a term that stands only in a title before it has none."""
    if not before:
        return evidence
    terms = tuple(
        type(term)(term.text, term.weight, term.start - before, term.end - before)
        if term.start >= before
        else type(term)(term.text, term.weight)
        for term in evidence.terms
    )
    return Evidence(terms, evidence.nearest, evidence.kind, evidence.sentence)
