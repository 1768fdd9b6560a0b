"""The rows of one step: documents, verdicts, stories, topics, alerts, positions and what was bad."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from firststory.lineage import standing
from firststory.records import Quarantined, Step, Story, Storyline
from firststory.store import codec, schema
from firststory.store.driver import execute, rows_of
from firststory.store.meta import get_meta, put_meta
from firststory.store.row_writing import escape_name, insert_rows, replace_rows


class Threshold(NamedTuple):
    """Where the threshold of alerts stood after a step, and why."""

    threshold: float | None
    needed_p_value: float | None
    reason: str


class About(NamedTuple):
    """What a step does not say of itself."""

    reached: int | None = None
    """See `Batch.reached`."""
    threshold: Threshold | None = None
    applied_feedback: Sequence[int] = ()
    vector_dimensions: int | None = None
    alerts_status: Mapping[str, Any] | None = None


def put_step(connection: Connection, step: Step, about: About) -> None:
    """Add all that a step brought, inside the connection's transaction."""
    moments = step.span or [verdict.document.time for verdict in step.verdicts]
    times = [t for moment in moments if (t := codec.to_microseconds(moment)) is not None]
    row = {
        "step": step.index,
        "counts": codec.to_json(dict(step.counts)),
        "reached": about.reached,
        "first_time": min(times, default=None),
        "last_time": max(times, default=None),
    }
    insert_rows(connection, schema.steps, [row])
    numbered = list(enumerate(step.verdicts, _next_number(connection, "documents")))
    marks = map(codec.to_signed, step.fingerprints or [None] * len(numbered))
    insert_rows(
        connection,
        schema.documents,
        [
            {"n": n, **codec.document_row(v.document, step.index), "fingerprint": mark}
            for (n, v), mark in zip(numbered, marks, strict=True)
        ],
    )
    insert_rows(connection, schema.verdicts, [{"n": n, **codec.verdict_row(v)} for n, v in numbered])
    insert_rows(connection, schema.topics, [codec.topic_row(topic, step.index) for topic in step.topics])
    events = [{"n": n, **codec.topic_event_row(event)} for n, event in enumerate(step.topic_events)]
    insert_rows(connection, schema.topic_events, events)
    if step.quarantined:
        first = _next_number(connection, "quarantine")
        bad = [{"n": n, **_quarantine_row(one, step.index)} for n, one in enumerate(step.quarantined, first)]
        insert_rows(connection, schema.quarantine, bad)
    replace_rows(connection, schema.stories, [codec.story_row(story, step.index) for story in step.stories])
    replace_rows(connection, schema.storylines, [codec.storyline_row(one, step.index) for one in step.storylines])
    if step.alerts:
        first = _next_number(connection, "alerts")
        fired = [{"n": n, **codec.alert_row(alert, step.index)} for n, alert in enumerate(step.alerts, first)]
        insert_rows(connection, schema.alerts, fired)
    _move_documents(connection, step)
    _move_stories(connection, step)
    latest = {position.source: position for position in step.positions}
    replace_rows(
        connection,
        schema.positions,
        [
            {"source": escape_name(p.source), "at": codec.to_json(dict(p.at)), "step": step.index}
            for p in latest.values()
        ],
    )
    if about.threshold is not None:
        insert_rows(connection, schema.thresholds, [{"step": step.index, **about.threshold._asdict()}])
    totals = Counter(json.loads(get_meta(connection, "totals") or "{}"))
    totals.update(step.counts)
    meta = {"totals": codec.to_json(dict(totals))}
    if about.alerts_status is not None:
        meta["alerts_status"] = codec.to_json(dict(about.alerts_status))
    if about.vector_dimensions is not None:
        meta["vector_dimensions"] = str(about.vector_dimensions)
    put_meta(connection, meta)
    if about.applied_feedback:
        applied = [(step.index, n) for n in about.applied_feedback]
        execute(connection, "UPDATE feedback SET step = ? WHERE n = ?", applied)


def _move_documents(connection: Connection, step: Step) -> None:
    """Let documents and alerts follow their story where it was merged."""
    moved = [(into, story_id) for story_id, into in _merged(step.stories).items()]
    for table in ("verdicts", "alerts") if moved else ():
        execute(connection, f"UPDATE {table} SET story = ? WHERE story = ?", moved)


def _move_stories(connection: Connection, step: Step) -> None:
    """Let stories and alerts follow their storyline where it was merged."""
    moved = [(into, line) for line, into in _merged(step.storylines).items()]
    for table in ("stories", "alerts") if moved else ():
        execute(connection, f"UPDATE {table} SET storyline = ? WHERE storyline = ?", moved)


def _merged(told: Sequence[Story | Storyline]) -> dict[str, str]:
    """Where each that was merged ended up: what it was merged into may have been merged itself."""
    merged = {one.id: one.merged_into for one in told if one.merged_into is not None}
    return {name: standing(name, merged) for name in merged}


def _next_number(connection: Connection, table: str) -> int:
    """The number of the next row: counted here, since a sequence of the database skips those of a failed step."""
    return int(rows_of(connection, f"SELECT max(n) FROM {table}")[0][0] or 0) + 1


def _quarantine_row(bad: Quarantined, step: int) -> dict[str, Any]:
    return {
        "step": step,
        "source": bad.position.source,
        "at": codec.to_json(dict(bad.position.at)),
        "reason": bad.reason,
        "message": bad.message,
        "excerpt": bad.excerpt,
    }
