"""The digest of a period, gathered from a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from firststory.digest.records import Digest, Entry, GrowingStory
from firststory.digest.words import PUSHED, is_midnight
from firststory.harmless import display_title
from firststory.records import Alert, Document, Story
from firststory.units import MICROSECOND

if TYPE_CHECKING:
    from firststory.store.period_reader import Came
    from firststory.store.reader import Reader

MAX_ALERTS = 20
"""Entries of a section of alerts; what is left out is counted."""
MAX_BRIEF = 10
"""Growing stories and first reports."""
LEAST_DOCUMENTS, LEAST_SOURCES = 2, 2
"""Of a story that grows, in the period: a source that goes on about something is no news. One where there is one."""


def digest_of(
    store: Reader, since: datetime | None = None, limit: int | None = None, until: datetime | None = None
) -> Digest:
    """What happened since a moment; `limit` bounds each section (default: 20 alerts of a kind, 10 of the others).

    The period ends with `until`, by default with the stream.

    Alerts of one story are one entry, led by the confirmed one that most sources tell, else by such a turn. Stories
    that have an entry are not among those that grow, and their first reports are not told again.
    """
    until = until or store.last_time()
    came = store.came(since, until)
    alerts = [
        one for one in store.alerts(since=since) if until is None or one.fired_at is None or one.fired_at <= until
    ]
    entries = entries_of([alert for alert in alerts if alert.kind in PUSHED])
    told = [alert for entry in entries for alert in (entry.alert, *entry.others)]
    stories = {alert.story for alert in told if alert.story is not None}
    growing = _growing(store, since, until, stories, min(came.sources, LEAST_SOURCES))
    stories |= {story for story, _, _ in growing[: limit or MAX_BRIEF]}
    quiet = _not_told(alerts, told, stories)
    confirmed = [entry for entry in entries if entry.alert.kind == "confirmed"]
    turns = [entry for entry in entries if entry.alert.kind == "turn"]
    return Digest(
        since=since,
        until=until,
        documents=came.documents,
        sources=came.sources,
        confirmed=tuple(confirmed[: limit or MAX_ALERTS]),
        turns=tuple(turns[: limit or MAX_ALERTS]),
        growing=tuple(_grown(store, *one) for one in growing[: limit or MAX_BRIEF]),
        first_seen=tuple(quiet[: limit or MAX_BRIEF]),
        n_confirmed=len(confirmed),
        n_turns=len(turns),
        n_growing=len(growing),
        n_first_seen=len(quiet),
    )


def entries_of(alerts: Sequence[Alert]) -> list[Entry]:
    """One entry per story; what has the same title is the same thing too. Most sources first."""
    groups: list[list[Alert]] = []
    group_of: dict[str, list[Alert]] = {}
    for alert in alerts:
        keys = [f"story {alert.story}"] if alert.story else []
        keys.append(f"title {display_title(alert.headline).casefold()}")
        group = next((group_of[key] for key in keys if key in group_of), None)
        if group is None:
            groups.append(group := [])
        group.append(alert)
        group_of.update(dict.fromkeys(keys, group))
    entries = []
    for group in groups:
        lead = min(group, key=_rank)
        entries.append(Entry(lead, tuple(_titled_otherwise(lead, group))))
    return sorted(entries, key=lambda entry: _rank(entry.alert))


def _rank(alert: Alert) -> tuple[bool, int, float]:
    return alert.kind != "confirmed", -len(alert.sources), -alert.score


def _titled_otherwise(lead: Alert, group: Iterable[Alert]) -> list[Alert]:
    """The other alerts of an entry, without those that say the same."""
    said = {display_title(lead.headline).casefold()}
    others = []
    for alert in group:
        title = display_title(alert.headline).casefold()
        if title not in said:
            said.add(title)
            others.append(alert)
    return others


def _not_told(alerts: Iterable[Alert], told: Iterable[Alert], stories: set[str]) -> list[Entry]:
    """First reports of what is not in the digest yet, one per story and title, the highest rank first."""
    documents = {name for alert in told for name in alert.documents}
    quiet = [
        alert
        for alert in alerts
        if alert.kind not in PUSHED and alert.story not in stories and documents.isdisjoint(alert.documents)
    ]
    found: list[Entry] = []
    seen: set[str] = set()
    for alert in sorted(quiet, key=lambda alert: -alert.score):
        keys = {display_title(alert.headline).casefold(), alert.story or alert.id}
        if seen.isdisjoint(keys):
            found.append(Entry(alert))
        seen |= keys
    return found


def _growing(
    store: Reader, since: datetime | None, until: datetime | None, without: set[str], least_sources: int
) -> list[tuple[str, Came, int | None]]:
    """(story, what it brought, what it brought in the period before), by growth times distinct sources."""
    now = store.came_by_story(since, until)
    before = {} if since is None or until is None else store.came_by_story(*_period_before(since, until))
    found = []
    for story, came in now.items():
        earlier = None if since is None else before[story].documents if story in before else 0
        enough = came.documents >= LEAST_DOCUMENTS and came.sources >= least_sources
        if story not in without and enough and came.documents > (earlier or 0):
            found.append((story, came, earlier))
    return sorted(found, key=lambda one: (-(one[1].documents - (one[2] or 0)) * max(one[1].sources, 1), one[0]))


def _period_before(since: datetime, until: datetime) -> tuple[datetime, datetime]:
    """The period of the same length that ends where this one begins."""
    length = until - since
    if is_midnight(since) and is_midnight(until):
        length += timedelta(days=1)  # a stream of days: the last one counts whole
    return since - length, since - MICROSECOND


def _grown(store: Reader, name: str, came: Came, before: int | None) -> GrowingStory:
    # Its documents name it; should the store lack it, they are still told.
    story = store.story(name) or Story(name, name, None, None, came.documents, name)
    nothing = Document(story.representative, "")
    return GrowingStory(
        story=story,
        headline=store.document(story.representative) or nothing,
        first=store.first_document(name) or nothing,
        latest=store.latest_document(name) or nothing,
        documents=came.documents,
        documents_before=before,
        sources=came.sources,
    )
