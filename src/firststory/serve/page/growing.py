"""Stories and storylines by how they grow: documents of the last hours times the sources that tell them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from firststory.digest.words import is_midnight
from firststory.harmless import display_title, harmless
from firststory.records import Document, Story, Storyline
from firststory.serve.page.charts import SPARK_BINS, Spark, spark_of
from firststory.serve.page.clock import Clock
from firststory.serve.page.line_names import line_names
from firststory.store.arrival_reader import Level
from firststory.store.store import Store

LATELY = timedelta(hours=6)
DAY = timedelta(days=1)
LEAST_DAYS = 14
"""A line of days has at least so many: three make no shape."""
GROWS = 1.25
"""An arrow is shown where there is a quarter more than before."""


@dataclass(frozen=True, slots=True)
class Growing:
    """A story or storyline in a list."""

    id: str
    title: str
    href: str
    documents: int
    """In the range."""
    sources: int
    lately: int
    before: int
    spark: Spark
    latest: str
    last: datetime | None

    @property
    def grows(self) -> bool:
        return self.lately > GROWS * self.before and self.lately > 1


def lately_of(end: datetime | None) -> timedelta:
    """What counts as lately: six hours, in streams that know only days the day."""
    return DAY if end is not None and is_midnight(end) else LATELY


def lately_words(end: datetime | None) -> str:
    """How that is said."""
    return "a day" if lately_of(end) == DAY else "6 h"


def spark_days(end: datetime | None, length: timedelta) -> int | None:
    """How many days a small line of documents has in a stream that knows only days; None in others."""
    return None if lately_of(end) != DAY else max(round(length / DAY), LEAST_DAYS)


def growing(store: Store, clock: Clock, level: Level, length: timedelta, limit: int, offset: int = 0) -> list[Growing]:
    """Those that had documents in the range, those that grow most first."""
    end = store.last_time()
    if end is None:
        return _without_times(store, level, limit)
    until = max(end, clock.now)
    lately = lately_of(end)
    whole = store.grew_by(level, until, length, lately)

    def rank(name: str) -> tuple[float, int, str]:
        grew = whole[name]
        return -grew.lately * max(grew.sources, 1), -grew.documents * max(grew.sources, 1), name

    names = [name for name in sorted(whole, key=rank) if whole[name].documents > 1 or level == "story"]
    names = names[offset : offset + limit]
    days = spark_days(end, length)
    n_bins, width = (days, DAY) if days else (SPARK_BINS, length / SPARK_BINS)
    since = until.replace(hour=0, minute=0, second=0, microsecond=0) - (days - 1) * DAY if days else until - length
    bins = store.counted_by_name(level, names, since, until, width)
    told_of: list[tuple[str, Story | Storyline | None]] = [
        (name, store.story(name) if level == "story" else store.storyline(name)) for name in names
    ]
    called = line_names(store, [told for _, told in told_of if isinstance(told, Storyline)])
    found = []
    for name, told in told_of:
        if told is None:
            continue
        newest = store.brought_by(level, name, limit=1)
        latest = newest[0].document if newest else None
        grew = whole[name]
        found.append(
            Growing(
                id=name,
                title=called.get(name) or harmless(told.title, 120),
                href=href(level, name),
                documents=grew.documents,
                sources=grew.sources,
                lately=grew.lately,
                before=grew.before,
                spark=spark_of(bins[name], n_bins),
                latest=_latest(latest, told.title),
                last=told.last_seen,
            )
        )
    return found


def href(level: Level, name: str) -> str:
    """Where a story or storyline is told."""
    return f"/page/stories/{name}" if level == "story" else f"/page/storylines/{name}"


def _latest(document: Document | None, title: str) -> str:
    if document is None:
        return ""
    latest = display_title(document)
    return "" if latest.casefold() == harmless(title, 120).casefold() else latest


def _without_times(store: Store, level: Level, limit: int) -> list[Growing]:
    """In a stream without times the largest."""
    if level == "story":
        told: list[Story | Storyline] = list(store.stories(limit=limit, order="size"))
    else:
        told = list(store.storylines(limit=limit, order="size"))
    return [
        Growing(
            one.id,
            harmless(one.title, 120),
            href(level, one.id),
            one.size,
            len(one.sources),
            0,
            0,
            spark_of({}),
            "",
            None,
        )
        for one in told
    ]
