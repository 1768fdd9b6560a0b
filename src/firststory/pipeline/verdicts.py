"""What the step has found out about a document, put into a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from firststory.alerts.explain import ByNeighbours, explain
from firststory.arrays import Array, Floats
from firststory.pipeline.evidence import with_columns
from firststory.pipeline.in_progress import InProgress
from firststory.records import Document, Evidence, NoveltyKind, Verdict
from firststory.text.phrases.records import Phrase
from firststory.text.records import Token

N_SHOWN = 3
"""Nearest earlier documents that a verdict names."""


def verdict_on(one: InProgress, recent_scores: Sequence[float], like: float) -> Verdict:
    """The verdict on any document of a step.

    `recent_scores` tell what is neutral, and what is low; documents as similar as `like` tell of one thing.
    """
    story = one.assignment.story if one.assignment else None
    if one.duplicate_of is not None:
        novelty = one.novelty if one.is_judged else min(0.0, *recent_scores) if recent_scores else 0.0
        evidence = Evidence.later(ByNeighbours("duplicate", one.nearest, one.duplicate_of))
        return Verdict(one.document, novelty, 1.0, False, None, story, one.duplicate_of, evidence)
    if one.judgement is None:
        neutral = float(np.median(recent_scores)) if recent_scores else 0.0
        evidence = Evidence(kind="known", sentence="It has no words to judge it by.")
        return Verdict(one.document, neutral, None, False, None, None, None, evidence)
    return Verdict(
        document=one.document,
        novelty=one.novelty,
        p_value=one.judgement.p_value,
        is_novel=one.judgement.is_novel,
        threshold=one.judgement.threshold,
        story=story,
        evidence=_evidence(one, like),
    )


def _evidence(one: InProgress, like: float) -> Evidence:
    """Worked out when somebody reads it: of what is handed over here, nothing changes any more."""
    nearest = one.nearest[:N_SHOWN]
    kind = _kind(one, bool(nearest) and nearest[0][1] >= like)
    if not one.is_novel or one.remembered is None:
        # No alert: naming its neighbours is enough, and much cheaper.
        return Evidence.later(ByNeighbours(kind, nearest))
    return Evidence.later(
        partial(
            _explain_novel,
            one.document,
            kind,
            one.remembered.columns,
            one.weights,
            one.tokens,
            one.phrases,
            nearest=nearest,
            like=like,
            residual=one.unexplained,
        )
    )


def _explain_novel(
    document: Document,
    kind: NoveltyKind,
    columns: Array,
    weights: Floats,
    tokens: Sequence[Token],
    phrases: Sequence[tuple[Phrase, float]],
    **known: Any,
) -> Evidence:
    by_column = dict(zip(columns.tolist(), weights.tolist(), strict=True))
    shown = with_columns(document.text, tokens, phrases)
    return explain(document, kind, tokens=tokens, phrases=shown, weights=by_column, **known)


def _kind(one: InProgress, is_like_another: bool) -> NoveltyKind:
    """A story also takes what belongs to it by its title or its storyline: that alone makes no development of it."""
    if one.assignment is not None and one.assignment.opened:
        return "event"
    if not one.is_novel:
        return "known"
    return "development" if is_like_another else "event"
