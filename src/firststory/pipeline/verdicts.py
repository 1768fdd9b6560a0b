"""What the step has found out about a document, put into a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firststory.alerts.explain import explain
from firststory.pipeline.in_progress import InProgress
from firststory.records import Evidence, NoveltyKind, Verdict

N_SHOWN = 3
"""Nearest earlier documents that a verdict names."""


def verdict_on(one: InProgress, recent_scores: Sequence[float], like: float) -> Verdict:
    """The verdict on any document of a step.

    `recent_scores` tell what is neutral, and what is low; documents as similar as `like` tell of one thing.
    """
    story = one.assignment.story if one.assignment else None
    if one.duplicate_of is not None:
        novelty = one.novelty if one.is_judged else min(0.0, *recent_scores) if recent_scores else 0.0
        evidence = explain(one.document, "duplicate", nearest=one.nearest, duplicate_of=one.duplicate_of)
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
    nearest = one.nearest[:N_SHOWN]
    kind = _kind(one, bool(nearest) and nearest[0][1] >= like)
    if not one.is_novel or one.remembered is None:
        # No alert: naming its neighbours is enough, and much cheaper.
        return explain(one.document, kind, nearest=nearest)
    return explain(
        one.document,
        kind,
        tokens=one.tokens,
        phrases=one.phrases,
        weights=dict(zip(one.remembered.columns.tolist(), one.weights.tolist(), strict=True)),
        nearest=nearest,
        like=like,
        residual=one.unexplained,
    )


def _kind(one: InProgress, is_like_another: bool) -> NoveltyKind:
    """A story also takes what belongs to it by its title or its storyline: that alone makes no development of it."""
    if one.assignment is not None and one.assignment.opened:
        return "event"
    if not one.is_novel:
        return "known"
    return "development" if is_like_another else "event"
