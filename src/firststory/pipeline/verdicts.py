"""What the step has found out about a document, put into a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from firststory.alerts.explain import explain
from firststory.alerts.gate import Judgement
from firststory.alerts.memory import Remembered
from firststory.records import Document, Evidence, NoveltyKind, Verdict
from firststory.stories.tracker import Assignment

N_SHOWN = 3
"""Nearest earlier documents that a verdict names."""


@dataclass(slots=True)
class Judged:
    """A document with words, and all that is known of it when stories are told."""

    document: Document
    place: int
    """Which of the batch's texts it is."""
    novelty: float
    judgement: Judgement
    remembered: Remembered
    weights: Any
    """Of its columns, the remembered ones: its row of unit length."""
    ordinal: int
    neighbours: Any
    """The ordinals of the nearest earlier documents, nearest first; -1 where there is none."""
    nearest: list[tuple[Remembered, float]]
    """The first few of them with their cosine, those that are remembered."""
    tokens: Sequence[Any] = ()
    """Its words, those of the title first, with their places in the text: for documents that somebody looks at."""
    residual: Mapping[int, float] | None = None
    """The part of each term that a dictionary leaves over, where the detector is one."""


def verdict(
    document: Document,
    copies: Mapping[str, str],
    judged: Mapping[str, Judged],
    assigned: Mapping[str, Assignment],
    recent: Sequence[float],
) -> Verdict:
    """The verdict on any document of a step; `recent` are the latest scores: what is neutral, and what is low."""
    story = assigned[document.id].story if document.id in assigned else None
    if document.id in copies:
        near = judged.get(document.id)
        novelty = near.novelty if near else min(0.0, *recent) if recent else 0.0
        first = copies[document.id]
        evidence = explain(document, "duplicate", nearest=near.nearest if near else (), duplicate_of=first)
        return Verdict(document, novelty, 1.0, False, None, story, first, evidence)
    if document.id not in judged:
        neutral = float(np.median(recent)) if recent else 0.0
        evidence = Evidence(kind="known", sentence="It has no words to judge it by.")
        return Verdict(document, neutral, None, False, None, None, None, evidence)
    one = judged[document.id]
    judgement = one.judgement
    return Verdict(
        document=document,
        novelty=one.novelty,
        p_value=judgement.p_value,
        is_novel=judgement.is_novel,
        threshold=judgement.threshold,
        story=story,
        evidence=_evidence(one, assigned[document.id]),
    )


def _evidence(one: Judged, assigned: Assignment) -> Evidence:
    kind: NoveltyKind = "event" if assigned.opened else "development" if one.judgement.is_novel else "known"
    nearest = one.nearest[:N_SHOWN]
    if not one.judgement.is_novel:
        # Nobody is called to look at it: naming its neighbours is enough, and much cheaper.
        return explain(one.document, kind, nearest=nearest)
    return explain(
        one.document,
        kind,
        tokens=one.tokens,
        weights=dict(zip(one.remembered.columns.tolist(), one.weights.tolist(), strict=True)),
        nearest=nearest,
        residual=one.residual,
    )
