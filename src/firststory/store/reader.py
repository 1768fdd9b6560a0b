"""What was found, read back from the store as records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Table, and_, func, select

from firststory.records import Position, Quarantined, Story, Topic, TopicEvent, Verdict
from firststory.store import codec, schema, search
from firststory.store.finding import FindingReader
from firststory.store.meta import get_meta

LAST_RUN = "last_run"
"""Under this key of `meta`: how the latest run was doing, by the clock of the machine."""
IDS_AT_ONCE = 500
MOST_FOUND = 1_000_000
"""Documents that a search counts."""


class Reader(FindingReader):
    """Queries over an open store."""

    def verdicts(
        self,
        *,
        novel: bool | None = None,
        story: str | None = None,
        ids: Sequence[str] | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> tuple[Verdict, ...]:
        """Verdicts in the order of the stream; those of a merged story are those of the one it was merged into."""
        conditions = []
        if novel is not None:
            conditions.append(schema.verdicts.c.is_novel == novel)
        if story is not None:
            conditions.append(schema.verdicts.c.story == self.current_story(story))
        if ids is not None:
            conditions.append(schema.documents.c.id.in_(ids))
        return self._verdicts(*conditions, newest_first=newest_first, limit=limit)

    def _verdicts(self, *conditions: Any, newest_first: bool = False, limit: int | None = None) -> tuple[Verdict, ...]:
        both = schema.documents.join(schema.verdicts, schema.verdicts.c.n == schema.documents.c.n)
        columns = [*schema.documents.c, *[column for column in schema.verdicts.c if column.name != "n"]]
        order = schema.documents.c.n.desc() if newest_first else schema.documents.c.n
        query = select(*columns).select_from(both).where(*conditions).order_by(order).limit(limit)
        with self._reading() as connection:
            return tuple(codec.verdict_from_row(row) for row in connection.execute(query).mappings())

    def search(self, words: str, limit: int = 20, story: str | None = None) -> tuple[Verdict, ...]:
        """Verdicts on the documents (of one story, where it is named) that have all the words, best first."""
        within = None if story is None else self.current_story(story)
        with self._reading() as connection:
            numbers = search.find(connection, words, limit, within)
        found = {}
        for number in numbers:
            found[number] = self._verdicts(schema.documents.c.n == number)[0]
        return tuple(found[number] for number in numbers)

    def count_found(self, words: str, story: str | None = None) -> int:
        """How many documents (of one story, where it is named) have all the words."""
        within = None if story is None else self.current_story(story)
        with self._reading() as connection:
            return len(search.find(connection, words, MOST_FOUND, within))

    def stories(
        self,
        *,
        limit: int | None = None,
        order: str = "last_seen",
        merged: bool = False,
        storyline: str | None = None,
    ) -> tuple[Story, ...]:
        """Stories, by default the latest updated first; with `merged` also those merged into others.

        `storyline` asks for the stories of one storyline; of a merged one, for those of the one it was merged into.
        Growth is that at the end of the stream, whenever a story was written.
        """
        table = schema.stories
        query = select(table) if merged else select(table).where(table.c.status != "merged")
        if storyline is not None:
            query = query.where(table.c.storyline == self.current_storyline(storyline))
        by_growth = order == "growth"  # what was written is of another moment: all are looked at
        column = table.c["last_seen" if by_growth else order]
        query = query.order_by(column.desc().nulls_last(), table.c.id).limit(None if by_growth else limit)
        with self._reading() as connection:
            now = connection.execute(select(func.max(table.c.last_seen))).scalar()
            found = [codec.story_from_row(row, now) for row in connection.execute(query).mappings()]
        if by_growth:
            found.sort(key=lambda story: -story.growth)
        return tuple(found[:limit])

    def count_stories(self, *, merged: bool = False) -> int:
        """How many stories there are."""
        table = schema.stories
        query = select(func.count()).select_from(table)
        with self._reading() as connection:
            return int(connection.execute(query if merged else query.where(table.c.status != "merged")).scalar() or 0)

    def story(self, name: str) -> Story | None:
        """One story by its id, merged or not."""
        table = schema.stories
        with self._reading() as connection:
            now = connection.execute(select(func.max(table.c.last_seen))).scalar()
            row = connection.execute(select(table).where(table.c.id == name)).mappings().first()
        return None if row is None else codec.story_from_row(row, now)

    def current_story(self, name: str) -> str:
        """The id of the story that this one was merged into, and so on; its own where it was not."""
        table = schema.stories
        with self._reading() as connection:
            while into := connection.execute(select(table.c.merged_into).where(table.c.id == name)).scalar():
                name = into
        return name

    def merged_into(self, names: Sequence[str]) -> dict[str, list[str]]:
        """For each of some stories those that were merged into it, in the order of their ids."""
        table = schema.stories
        found: dict[str, list[str]] = {name: [] for name in names}
        with self._reading() as connection:
            for start in range(0, len(names), 500):
                query = select(table.c.merged_into, table.c.id).where(
                    table.c.merged_into.in_(names[start : start + 500])
                )
                for into, name in connection.execute(query):
                    found[into].append(name)
        return {name: sorted(those, key=lambda one: (len(one), one)) for name, those in found.items()}

    def topics(self, at: int | None = None) -> tuple[Topic, ...]:
        """The topics after a step, by default the last that has any, largest first."""
        table = schema.topics
        with self._reading() as connection:
            newest = select(func.max(table.c.step))
            step = connection.execute(newest if at is None else newest.where(table.c.step <= at)).scalar()
            query = select(table).where(table.c.step == step).order_by(table.c.share.desc(), table.c.id)
            return tuple(codec.topic_from_row(row) for row in connection.execute(query).mappings())

    def topic_labels(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The phrases that named some topics when they were last seen; those that had none are left out."""
        table = schema.topics
        found: dict[str, tuple[str, ...]] = {}
        with self._reading() as connection:
            for start in range(0, len(names), IDS_AT_ONCE):
                chosen = table.c.id.in_(names[start : start + IDS_AT_ONCE])
                last = select(table.c.id, func.max(table.c.step).label("step")).where(chosen).group_by(table.c.id)
                newest = last.subquery()
                query = select(table.c.id, table.c.label).join(
                    newest, and_(newest.c.id == table.c.id, newest.c.step == table.c.step)
                )
                found |= {row.id: tuple(json.loads(row.label)) for row in connection.execute(query)}
        return {name: label for name, label in found.items() if label}

    def topic_events(self, topic: str | None = None, *, limit: int | None = None) -> tuple[TopicEvent, ...]:
        """What happened to the topics (born, split, merged, faded, changed), latest first."""
        table = schema.topic_events
        query = select(table).order_by(table.c.step.desc(), table.c.n).limit(limit)
        if topic is not None:
            query = query.where(table.c.topic == topic)
        with self._reading() as connection:
            return tuple(codec.topic_event_from_row(row) for row in connection.execute(query).mappings())

    def topic_history(
        self, limit: int = 500, at: int | None = None
    ) -> tuple[tuple[int, datetime | None, tuple[Topic, ...]], ...]:
        """The latest steps that have topics, oldest first: step, time of its last document, topics.

        `at` is the last of them.
        """
        table = schema.topics
        steps = select(table.c.step).distinct().order_by(table.c.step.desc()).limit(limit)
        latest = (steps if at is None else steps.where(table.c.step <= at)).subquery()
        query = (
            select(table, schema.steps.c.last_time)
            .join(schema.steps, schema.steps.c.step == table.c.step)
            .where(table.c.step.in_(select(latest.c.step)))
            .order_by(table.c.step, table.c.share.desc(), table.c.id)
        )
        found: dict[int, tuple[datetime | None, list[Topic]]] = {}
        with self._reading() as connection:
            for row in connection.execute(query).mappings():
                time = codec.to_time(row["last_time"])
                found.setdefault(row["step"], (time, []))[1].append(codec.topic_from_row(row))
        return tuple((step, time, tuple(topics)) for step, (time, topics) in found.items())

    def quarantined(self, limit: int | None = None) -> tuple[Quarantined, ...]:
        """What was quarantined, latest first."""
        query = select(schema.quarantine).order_by(schema.quarantine.c.n.desc()).limit(limit)
        with self._reading() as connection:
            rows = connection.execute(query).all()
        return tuple(
            Quarantined(row.reason, row.message, Position(row.source, json.loads(row.at)), row.excerpt) for row in rows
        )

    def thresholds(self, limit: int = 20) -> tuple[dict[str, Any], ...]:
        """How the threshold moved and why, latest first."""
        query = select(schema.thresholds).order_by(schema.thresholds.c.step.desc()).limit(limit)
        with self._reading() as connection:
            return tuple(dict(row) for row in connection.execute(query).mappings())

    def status(self) -> dict[str, Any]:
        """Counts of everything, and what the alerts' own status was after the last step."""
        alerts = {"alerts": self.alerts_status(), "alert_counts": self.count_alerts()}
        with self._reading() as connection:
            totals = json.loads(get_meta(connection, "totals") or "{}")
            written_by = get_meta(connection, "written_by")
            last_run = json.loads(get_meta(connection, LAST_RUN) or "{}")

            def count(table: Table, *where: Any) -> int:
                return int(connection.execute(select(func.count()).select_from(table).where(*where)).scalar() or 0)

            reasons = connection.execute(
                select(schema.quarantine.c.reason, func.count()).group_by(schema.quarantine.c.reason)
            ).all()
            span = connection.execute(select(func.min(schema.steps.c.first_time), func.max(schema.steps.c.last_time)))
            first, last = span.one()
            return {
                "store": self._database.name,
                "schema": schema.VERSION,
                "written_by": written_by,
                "steps": count(schema.steps),
                "documents": count(schema.documents),
                "novel": count(schema.verdicts, schema.verdicts.c.is_novel.is_(True)),
                **alerts,
                "stories": count(schema.stories, schema.stories.c.status != "merged"),
                "storylines": count(schema.storylines, schema.storylines.c.status != "merged"),
                "quarantined": count(schema.quarantine),
                "quarantine_reasons": {str(row[0]): int(row[1]) for row in sorted(reasons)},
                "counts": totals,
                "last_run": last_run,
                "first_time": codec.to_time(first),
                "last_time": codec.to_time(last),
            }

    def dump(self, *, state: bool = False) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, for comparing two stores; with `state` the newest saved model too.

        How fast a run was, and when, is left out.
        """
        with self._reading() as connection:
            found = {
                name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
                for name, table in schema.metadata.tables.items()
                if state or name != "states"
            }
        found["meta"] = [row for row in found["meta"] if row[0] != LAST_RUN]
        # Which earlier model is kept depends on where runs were cut.
        return found | ({"states": found["states"][-1:]} if state else {})
