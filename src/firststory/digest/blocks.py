"""A digest as sections of blocks: what every format shows, in words that are harmless already.

Formats differ in marks alone: text, Markdown and HTML all show these blocks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from firststory.digest.records import Digest, Entry, GrowingStory
from firststory.digest.words import KIND_NAMES, about, counted, day, named_ids, named_sources, quoted, who_and_when, why
from firststory.harmless import display_title, harmless, harmless_url
from firststory.records import Document

TERMS_CHARACTERS = 200
_N_SOURCES = re.compile(r"\b(\d+) sources\b")


class Link(NamedTuple):
    """Words that lead to a document, where its address is known."""

    words: str
    url: str | None


class Line(NamedTuple):
    """A line of a block: words, and what they lead to."""

    words: str
    link: Link | None = None


class Block(NamedTuple):
    """One thing that happened."""

    title: Link
    summary: str
    """What happened, quoted from one of the documents."""
    sentence: str
    """How it is known."""
    lines: tuple[Line, ...]
    terms: str
    names: str
    """What it is and its ids."""


class Section(NamedTuple):
    """Blocks of one kind; in a brief one each is a line."""

    heading: str
    note: str
    """What stands under the heading."""
    blocks: tuple[Block, ...]
    n_left_out: int
    is_brief: bool = False


def heading(digest: Digest) -> str:
    """What the digest is of."""
    return "What happened" if digest.since is None else f"What happened since {day(digest.since)}"


def summary(digest: Digest) -> str:
    """The period in one line: what came, and what of it is told below."""
    end = "" if digest.until is None else f"Until {day(digest.until)}: "
    came = counted(digest.documents, "document") + (
        f" of {counted(digest.sources, 'source')}" if digest.sources else ""
    )
    found = [
        f"{n:,} {name}"
        for n, name in (
            (digest.n_confirmed, "confirmed"),
            (digest.n_turns, "turn" if digest.n_turns == 1 else "turns"),
            (digest.n_growing, "growing"),
            (digest.n_first_seen, "first seen"),
        )
        if n
    ]
    return end + came + (f"; {', '.join(found)}." if found else ". Nothing happened: no alert, no story that grew.")


def sections(digest: Digest) -> tuple[Section, ...]:
    """The sections that have anything, most important first."""
    found = (
        Section(
            "Confirmed",
            "New events that several sources tell.",
            tuple(map(alert_block, digest.confirmed)),
            digest.n_confirmed - len(digest.confirmed),
        ),
        Section(
            "Turns",
            "Something new inside a running story.",
            tuple(map(alert_block, digest.turns)),
            digest.n_turns - len(digest.turns),
        ),
        Section(
            "Growing",
            "Stories that bring more than before.",
            tuple(_growing_block(one, digest) for one in digest.growing),
            digest.n_growing - len(digest.growing),
        ),
        Section(
            "First seen",
            "First reports; nothing confirms them yet.",
            tuple(map(_brief_block, digest.first_seen)),
            digest.n_first_seen - len(digest.first_seen),
            is_brief=True,
        ),
    )
    return tuple(section for section in found if section.blocks)


def link_to(document: Document) -> Link:
    """The title of a document, and its address."""
    return Link(display_title(document), harmless_url(document.url))


def alert_block(entry: Entry) -> Block:
    """An alert with all that is known of it, and what else fired in its story."""
    alert = entry.alert
    sentence = why(alert)
    lines = [_first_report(alert.first, alert.headline.id)]
    if alert.sources:
        lines.append(Line(_sources(alert.sources, sentence)))
    lines += [
        Line(f"Also {_fired(other.kind, day(other.fired_at))}:", link_to(other.headline)) for other in entry.others
    ]
    return Block(
        title=link_to(alert.headline),
        summary=quoted(alert),
        sentence=sentence,
        lines=tuple(line for line in lines if line.words),
        terms=harmless(about(alert, sentence), TERMS_CHARACTERS),
        names=f"{_fired(alert.kind, day(alert.fired_at))} · {named_ids(alert)}",
    )


def _sources(sources: tuple[str, ...], sentence: str) -> str:
    """Who tells it; and how many they are, where the sentence counts only those that prove it."""
    told = named_sources(sources)
    counted_there = _N_SOURCES.search(sentence)
    if counted_there and int(counted_there[1]) != len(sources):
        return f"{counted(len(sources), 'source')} in all: {told}"
    return f"{'Source' if len(sources) == 1 else 'Sources'}: {told}"


def _fired(kind: str, when: str) -> str:
    return KIND_NAMES[kind] + ("" if when == "–" else f" {when}")


def _first_report(first: Document, headline: str) -> Line:
    """Who was first and when; the title too, unless the block bears it."""
    told = who_and_when(first)
    if first.id != headline:
        return Line(f"First report: {told}".rstrip(": ") + ":", link_to(first))
    return Line(f"First report: {told}" if told else "")


def _growing_block(one: GrowingStory, digest: Digest) -> Block:
    story = one.story
    lines = [_first_report(one.first, one.headline.id)]
    if one.latest.id not in (one.first.id, one.headline.id):
        lines.append(Line(f"Latest: {who_and_when(one.latest)}".rstrip(": ") + ":", link_to(one.latest)))
    storyline = f" · storyline {story.storyline}" if story.storyline else ""
    return Block(
        title=Link(harmless(story.title, 120), harmless_url(one.headline.url)),
        summary="",
        sentence=grown(one, digest),
        lines=tuple(line for line in lines if line.words),
        terms=harmless(", ".join(story.key_terms), TERMS_CHARACTERS),
        names=f"story {story.id}{storyline}",
    )


def grown(one: GrowingStory, digest: Digest) -> str:
    """How a story grew, in a sentence."""
    now = _told(one.documents, one.sources)
    if one.documents_before is None:
        return f"{now}."
    whole = one.story.size
    if whole == one.documents:
        return f"{now}, all since {day(digest.since)}."
    since = "" if one.story.first_seen is None else f" since {day(one.story.first_seen)}"
    before = one.documents_before if one.documents_before else "none"
    return f"{now} in this period, {before} in the one before; {_told(whole, len(one.story.sources))}{since}."


def _told(documents: int, sources: int) -> str:
    return counted(documents, "document") + (f" by {counted(sources, 'source')}" if sources else "")


def _brief_block(entry: Entry) -> Block:
    alert = entry.alert
    return Block(link_to(alert.headline), "", "", (Line(who_and_when(alert.first)),), "", named_ids(alert))
