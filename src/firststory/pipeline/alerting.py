"""Alerts of a step: the documents with their stories in, and out what a person should know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from firststory.alerts.events.document import EventDocument
from firststory.lineage import standing
from firststory.pipeline.in_progress import InProgress
from firststory.pipeline.parts import Parts
from firststory.pipeline.telling import Told, tell
from firststory.records import Alert
from firststory.stories.tracker import StoryChanges

Surfaces = Callable[[InProgress], Mapping[int, str]]

_NO_COLUMNS, _NO_WEIGHTS = np.empty(0, dtype=np.int32), np.empty(0)


def fire_alerts(parts: Parts, documents: Sequence[InProgress], surfaces: Surfaces) -> list[Alert]:
    """Show the documents, in the order in which they are judged, to the alerts; what they fire."""
    shown = []
    for one in documents:
        if one.assignment is None:
            continue
        row = (_NO_COLUMNS, _NO_WEIGHTS)
        if one.duplicate_of is None and one.remembered is not None:
            row = one.remembered.columns, one.weights
        shown.append(
            EventDocument(
                document=one.document,
                seconds=one.seconds,
                columns=row[0],
                weights=row[1],
                title_columns=one.title_columns,
                story=one.assignment.story,
                duplicate_of=one.duplicate_of,
                surfaces=partial(surfaces, one),
            )
        )
    return parts.alerts.observe(shown)


def end_alerts(parts: Parts, alerts: Sequence[Alert], changes: StoryChanges) -> tuple[Alert, ...]:
    """Tell the alerts which stories were merged. Returns those of the step with their story and storyline of now."""
    merged = {story.id: story.merged_into for story in changes.stories if story.merged_into is not None}
    stand = parts.alerts.end_step(merged, alerts)
    told = tell(parts.phrases, [(alert, parts.alerts.remembered(alert.documents)) for alert in stand])
    return tuple([_placed(parts, alert, one, merged) for alert, one in zip(stand, told, strict=True)])


def _placed(parts: Parts, alert: Alert, told: Told, merged: Mapping[str, str]) -> Alert:
    assert alert.story is not None
    story = standing(alert.story, merged)
    return replace(alert, story=story, storyline=parts.stories.storyline_of(story), **told._asdict())
