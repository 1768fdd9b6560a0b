"""The rows of steps: documents, verdicts, stories, topics, alerts, positions and what was bad."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from firststory.lineage import standing
from firststory.records import Quarantined, Step, Story, Storyline
from firststory.store import codec, schema
from firststory.store.driver import execute, rows_of
from firststory.store.meta import get_meta, put_meta
from firststory.store.row_writing import escape_name, insert_columns, insert_rows, replace_rows
from firststory.store.states import put_state
from firststory.store.step_to_write import StepToWrite


def put_steps(connection: Connection, judged: Sequence[StepToWrite]) -> None:
    """Add all that steps brought, inside the connection's transaction: as if each had been written by itself.

    What a later step tells anew is written once, as the last of them has it.
    """
    steps = [one.step for one in judged]
    into_story = _standing_after([_merged(step.stories) for step in steps])
    into_line = _standing_after([_merged(step.storylines) for step in steps])
    _move(connection, ("verdicts", "alerts"), "story", into_story[0])
    _move(connection, ("stories", "alerts"), "storyline", into_line[0])
    insert_rows(connection, schema.steps, [_step_row(one) for one in judged])
    _insert_documents(connection, steps, into_story)
    topics = [codec.topic_row(topic, step.index) for step in steps for topic in step.topics]
    insert_rows(connection, schema.topics, topics)
    events = [{"n": n, **codec.topic_event_row(event)} for step in steps for n, event in enumerate(step.topic_events)]
    insert_rows(connection, schema.topic_events, events)
    bad = [_quarantine_row(one, step.index) for step in steps for one in step.quarantined]
    _insert_numbered(connection, schema.quarantine, bad)
    latest_stories = {story.id: (story, i) for i, step in enumerate(steps) for story in step.stories}
    stories = [
        _moved(codec.story_row(story, steps[i].index), "storyline", into_line[i])
        for story, i in latest_stories.values()
    ]
    replace_rows(connection, schema.stories, stories)
    latest_lines = {line.id: (line, step.index) for step in steps for line in step.storylines}
    replace_rows(connection, schema.storylines, [codec.storyline_row(*one) for one in latest_lines.values()])
    fired = [
        _moved(_moved(codec.alert_row(alert, step.index), "story", standing_story), "storyline", standing_line)
        for step, standing_story, standing_line in zip(steps, into_story, into_line, strict=True)
        for alert in step.alerts
    ]
    _insert_numbered(connection, schema.alerts, fired)
    latest = {position.source: (position, step.index) for step in steps for position in step.positions}
    replace_rows(
        connection,
        schema.positions,
        [
            {"source": escape_name(position.source), "at": codec.to_json(dict(position.at)), "step": index}
            for position, index in latest.values()
        ],
    )
    moved = [{"step": one.step.index, **one.about.threshold._asdict()} for one in judged if one.about.threshold]
    insert_rows(connection, schema.thresholds, moved)
    put_meta(connection, _facts(connection, judged))
    applied = [(step.index, n) for step, about, _ in judged for n in about.applied_feedback]
    if applied:
        execute(connection, "UPDATE feedback SET step = ? WHERE n = ?", applied)
    for step, _, state in judged:
        if state is not None:
            put_state(connection, step.index, state, alone=False)


def _insert_documents(connection: Connection, steps: Sequence[Step], into: Sequence[Mapping[str, str]]) -> None:
    """The documents with their verdicts, each in the story that it is in after all of the steps."""
    found = [verdict for step in steps for verdict in step.verdicts]
    first = _next_number(connection, "documents")
    n = range(first, first + len(found))
    documents: codec.Columns = {
        "n": n,
        **codec.document_columns([verdict.document for verdict in found]),
        "step": [step.index for step in steps for _ in step.verdicts],
        "fingerprint": [
            codec.to_signed(mark) for step in steps for mark in step.fingerprints or [None] * len(step.verdicts)
        ],
    }
    insert_columns(connection, schema.documents, documents)
    stories = [
        moved.get(verdict.story, verdict.story)  # type: ignore[arg-type]
        for step, moved in zip(steps, into, strict=True)
        for verdict in step.verdicts
    ]
    insert_columns(connection, schema.verdicts, {"n": n, **codec.verdict_columns(found), "story": stories})


def _step_row(judged: StepToWrite) -> dict[str, Any]:
    step = judged.step
    moments = step.span or [verdict.document.time for verdict in step.verdicts]
    times = [t for moment in moments if (t := codec.to_microseconds(moment)) is not None]
    return {
        "step": step.index,
        "counts": codec.to_json(dict(step.counts)),
        "reached": judged.about.reached,
        "first_time": min(times, default=None),
        "last_time": max(times, default=None),
    }


def _facts(connection: Connection, judged: Sequence[StepToWrite]) -> dict[str, str]:
    """The small facts that the steps leave behind."""
    totals = Counter(json.loads(get_meta(connection, "totals") or "{}"))
    facts = {}
    for step, about, _ in judged:
        totals.update(step.counts)
        if about.alerts_status is not None:
            facts["alerts_status"] = codec.to_json(dict(about.alerts_status))
        if about.vector_dimensions is not None:
            facts["vector_dimensions"] = str(about.vector_dimensions)
    return {"totals": codec.to_json(dict(totals))} | facts


def _move(connection: Connection, tables: Sequence[str], column: str, into: Mapping[str, str]) -> None:
    """Let what is in the store follow a story, or a storyline, that was merged."""
    moved = [(now, before) for before, now in into.items()]
    for table in tables if moved else ():
        execute(connection, f"UPDATE {table} SET {column} = ? WHERE {column} = ?", moved)


def _moved(row: dict[str, Any], column: str, into: Mapping[str, str]) -> dict[str, Any]:
    """The same for a row on its way into the store."""
    if row[column] in into:
        row[column] = into[row[column]]
    return row


def _standing_after(merged: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """From what each step merged: where that what it told ended up after all of them.

    Examples
    --------
    >>> _standing_after([{"s2": "s1"}, {"s1": "s3"}])
    [{'s1': 's3', 's2': 's3'}, {'s1': 's3'}]
    """
    after: list[dict[str, str]] = [{}]
    for one in reversed(merged):
        later = after[-1]
        after.append(later | {name: later.get(into, into) for name, into in one.items()})
    return after[:0:-1]


def _merged(told: Sequence[Story | Storyline]) -> dict[str, str]:
    """Where each that was merged ended up: what it was merged into may have been merged itself."""
    merged = {one.id: one.merged_into for one in told if one.merged_into is not None}
    return {name: standing(name, merged) for name in merged}


def _insert_numbered(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows that are numbered in the order in which they came."""
    if rows:
        first = _next_number(connection, table.name)
        insert_rows(connection, table, [{"n": n, **row} for n, row in enumerate(rows, first)])


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
