"""Verdicts and stories as a notebook shows them. Everything that strangers wrote is made harmless, then escaped."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

from firststory.harmless import display_title, harmless, harmless_url

if TYPE_CHECKING:
    from firststory.records import Story, Verdict


def verdict_html(verdict: Verdict) -> str:
    """The title, how novel it is, and why."""
    document = verdict.document
    title = escape(display_title(document))
    if link := harmless_url(document.url):
        title = f'<a href="{escape(link)}" rel="noopener noreferrer">{title}</a>'
    mark = "novel" if verdict.is_novel else verdict.evidence.kind
    facts = [f"{mark}, {verdict.novelty:.2f}", _time(document.time), document.source, verdict.story, document.id]
    words = ", ".join(term.text for term in verdict.terms)
    return _box(title, facts, [verdict.evidence.sentence, words and f"new: {words}"])


def story_html(story: Story) -> str:
    """The title, how large it is and since when, and its key terms."""
    span = " to ".join(dict.fromkeys(filter(None, (_time(story.first_seen), _time(story.last_seen)))))
    size = f"{story.size:,} document{'' if story.size == 1 else 's'}"
    return _box(escape(harmless(story.title)), [story.id, size, span, *story.sources[:5]], [", ".join(story.key_terms)])


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(" ", "minutes")[:16]


def _box(title: str, facts: Iterable[str | None], lines: Iterable[str]) -> str:
    """A bold line (HTML already) above small ones (text)."""
    line = " · ".join(escape(harmless(fact)) for fact in facts if fact)
    more = "".join(f"<br>{escape(harmless(one, 300))}" for one in lines if one)
    return f"<div><b>{title}</b><br><small>{line}{more}</small></div>"
