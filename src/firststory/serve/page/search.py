"""Search: documents by words, time, source and what became of them, grouped by story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import regex

from firststory.errors import ParameterError
from firststory.harmless import display_title, harmless
from firststory.pipeline.since import parse_since
from firststory.serve.page.clock import Clock
from firststory.serve.page.ranges import DAYS, range_of
from firststory.store.arrival_reader import Brought
from firststory.store.query import Query, QueryError, parse_query
from firststory.store.store import Store

WHEN = {"24h": "Last 24 hours", "7d": "Last 7 days", "all": "All", DAYS: "Choose days…"}
LIMIT = 300
"""Documents that are grouped; a question that finds more is counted whole and shown in part."""
IN_GROUP = 6
GROUPS, ALONE = 12, 20
"""Stories that are shown, and documents that stand alone; the others are counted."""
FACETS = 12
EXAMPLES = (
    ('"harbour bridge"', "the words together"),
    ("bomb OR explosive", "either of them"),
    ("bomb -hoax", "without a word"),
    ("source:npr", "from one source"),
    ("since:24h", "from then on; a date works too: since:2018-10-24"),
    ("until:2018-10-24", "up to the end of that day"),
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found."""

    brought: Brought
    title: tuple[tuple[str, bool], ...]
    passage: tuple[tuple[str, bool], ...]
    """Where the words stand in its text, when they do not stand in the title."""


@dataclass(frozen=True, slots=True)
class Group:
    """What was found of one story."""

    story: str | None
    title: str
    hits: tuple[Hit, ...]
    n: int
    sources: int


def search_facts(store: Store, clock: Clock, asked: Mapping[str, str], sources: tuple[str, ...]) -> dict[str, Any]:
    """What was found, or why the question cannot be understood."""
    typed = " ".join(asked.get("q", "").split())
    facts: dict[str, Any] = {
        "q": typed,
        "when": WHEN,
        "chosen": asked.get("since", "all") if asked.get("since", "all") in WHEN else "all",
        "alerts_only": "alerts" in asked,
        "first_only": "first" in asked,
        "chosen_sources": sources,
        "by_time": asked.get("order") == "time",
        "examples": EXAMPLES,
        "error": None,
        "found": None,
        "groups": (),
        "from_day": asked.get("from", ""),
        "to_day": asked.get("to", ""),
        "n_facets": FACETS,
    }
    if not typed and not (facts["alerts_only"] or facts["first_only"] or sources):
        return facts
    try:
        query = parse_query(typed)
        since, until = _bounds(query, clock, asked)
    except QueryError as error:
        return facts | {
            "error": error,
            "typed": (typed[: error.start], typed[error.start : error.end], typed[error.end :]),
        }
    found = store.find(
        query,
        since=since,
        until=until,
        sources=sources,
        alerts_only=facts["alerts_only"],
        first_only=facts["first_only"],
        limit=LIMIT,
    )
    hits = [_hit(one, query) for one in found.documents]
    groups = (Group(None, "", tuple(hits), found.n_documents, 0),) if facts["by_time"] else _grouped(store, hits)
    by_story = [group for group in groups if group.story]
    return facts | {
        "found": found,
        "groups": [*by_story[:GROUPS], *(group for group in groups if not group.story)],
        "n_more_stories": max(len(by_story) - GROUPS, 0),
        "alone": LIMIT if facts["by_time"] else ALONE,
        "n_shown": len(hits),
        "in_group": LIMIT if facts["by_time"] else IN_GROUP,
    }


def _bounds(query: Query, clock: Clock, asked: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    """What is typed wins over what is chosen."""
    since = until = None
    if asked.get("since") in ("24h", "7d", DAYS):
        within = range_of(asked, clock, WHEN, "24h")
        since, until = (within.since, within.until) if within.chosen == asked["since"] else (None, None)
    for name, value in (("since", query.since), ("until", query.until)):
        if value is None:
            continue
        try:
            moment = parse_since(value, clock.now)
        except ParameterError as error:
            start, end = query.places[name]
            explanation = "Write it as 24h, 7d, yesterday or 2018-10-24. This is none of them:"
            raise QueryError(f"{name}: cannot be read", explanation, start, end) from error
        if name == "since":
            since = moment
        elif moment is not None:
            is_day = regex.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None
            until = moment.replace(hour=23, minute=59, second=59, microsecond=999_999) if is_day else moment
    return since, until


def _hit(brought: Brought, query: Query) -> Hit:
    title = marked(display_title(brought.document), query.phrases)
    if query.phrases and not any(is_found for _, is_found in title):
        return Hit(brought, title, passage(brought.document.text, query.phrases))
    return Hit(brought, title, ())


def marked(words: str, phrases: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """A line in pieces, with what was looked for set apart.

    Examples
    --------
    >>> marked("Florida man", ["florida"])
    (('Florida', True), (' man', False))
    """
    forms = [r"\W+".join(map(regex.escape, regex.findall(r"\w+", phrase))) for phrase in phrases]
    forms = [form for form in forms if form]
    if not forms:
        return ((words, False),)
    pieces, at = [], 0
    for found in regex.finditer(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)", words, regex.IGNORECASE):
        pieces += [(words[at : found.start()], False), (found[0], True)]
        at = found.end()
    pieces.append((words[at:], False))
    return tuple(piece for piece in pieces if piece[0])


def passage(text: str, phrases: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """The part of a text around the first place that was looked for; nothing where the beginning has none."""
    pieces = marked(harmless(text, 400), phrases)
    if not any(is_found for _, is_found in pieces):
        return ()
    first = next(n for n, (_, is_found) in enumerate(pieces) if is_found)
    before = pieces[first - 1][0] if first else ""
    cut = ("…" + before[-60:].partition(" ")[2], False) if len(before) > 60 else (before, False)
    rest = "".join(words for words, _ in pieces[first + 1 :])
    after = rest if len(rest) <= 90 else rest[:90].rpartition(" ")[0] + "…"
    return tuple(piece for piece in (cut, pieces[first], *marked(after, phrases)) if piece[0])


def _grouped(store: Store, hits: Sequence[Hit]) -> tuple[Group, ...]:
    """By story, those with most hits first; what stands alone in its story comes together at the end."""
    by_story: dict[str | None, list[Hit]] = {}
    for hit in hits:
        by_story.setdefault(hit.brought.story, []).append(hit)
    alone = [hit for story, those in by_story.items() if story is None or len(those) == 1 for hit in those]
    groups = []
    for story, those in by_story.items():
        if story is not None and len(those) > 1:
            told = store.story(story)
            title = harmless(told.title if told else story, 120)
            names = {hit.brought.document.source for hit in those} - {None}
            groups.append(Group(story, title, tuple(those), len(those), len(names)))
    groups.sort(key=lambda group: -group.n)
    if alone:
        names = {hit.brought.document.source for hit in alone} - {None}
        alone.sort(key=lambda hit: -hit.brought.number)
        groups.append(Group(None, "Once each" if groups else "", tuple(alone), len(alone), len(names)))
    return tuple(groups)
