"""What phrases are handed out as, and what titles and sentences are chosen from."""

from __future__ import annotations

from typing import Literal, NamedTuple

Form = Literal["name", "figure", "hashtag", "words"]
Kind = Literal["person", "place", "organisation", "other"]
Zone = Literal["title", "lead", "body"]

FORMS: tuple[Form, ...] = ("name", "figure", "hashtag", "words")
KINDS: tuple[Kind, ...] = ("person", "place", "organisation", "other")
ZONES: tuple[Zone, ...] = ("title", "lead", "body")


class Phrase(NamedTuple):
    """One or more words of a document as they read, with all its variants.

    `document.text[start:end]` is where it first stands, with all that it is written with; both are -1 where it is in
    a title that is no part of the text. `text` is for people: harmless, 60 characters at most, the full name where the
    document has a shorter one.
    """

    text: str
    key: str
    """Equal for all variants: no case, accents, hyphens, dots or possessive."""
    start: int
    end: int
    form: Form
    kind: Kind
    """Of names; all others are "other"."""
    zone: Zone = "title"
    """The first part of the document that has it."""
    times: int = 1
    """How often the document has it."""


class Report(NamedTuple):
    """A document of a burst: all that titles and sentences are chosen by. `time` is in seconds."""

    title: str
    text: str
    time: float = 0.0
    is_cut: bool = False
    """Whether the text goes on behind what is here."""
