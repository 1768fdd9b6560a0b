"""Text from strangers made harmless before a person sees it, in a terminal or on a page.

Escape sequences, bidirectional overrides, invisible characters and towers of combining marks can move the cursor,
hide words or turn a sentence round. `harmless` takes them out and cuts what is too long; it leaves every letter of
every script alone. Mark-up is not its business: pages are autoescaped templates, and nothing is printed with mark-up.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import regex

if TYPE_CHECKING:
    from firststory.records import Document

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
MAX_MARKS = 3
"""Combining marks in a row that a letter of a living language may bear."""

TITLE_CHARACTERS = 120
"""The length of a title on screen; a document without one is named by its first words."""

MAX_URL_CHARACTERS = 2000
_URL_CHARACTERS = ":/?#@!$&*+,;=%-._~"
"""What a link may have beside letters and digits; the rest is written as %XX. No quotes, brackets or backslashes."""

_TOWER = regex.compile(r"\p{M}{" + str(MAX_MARKS + 1) + "}")
_HOST = regex.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_JOINERS = "\u200c\u200d"
"""Invisible, but Persian, the Indic scripts and emoji cannot be written without them."""


def harmless(text: str, limit: int = 200) -> str:
    """One line of at most `limit` characters, without anything that acts instead of being read.

    Examples
    --------
    >>> harmless("\\x1b[31mred\\u202e drawkcab\\x07")
    '[31mred drawkcab'
    >>> harmless("x" * 1_000_000, limit=5)
    'xxxx…'
    """
    if text.isascii() and text.isprintable() and len(text) <= limit:
        line = " ".join(text.split())
        # Thousands of titles are remembered: what is the same is not held twice.
        return text if line == text else line
    # A character is dropped or kept by itself, so a bounded prefix is enough: a word of 1 MB costs nothing.
    head = text[: 8 * limit + 64]
    # Most titles: nothing to take out, only spaces to fold. What prints is a letter, a mark, a number or a sign.
    if head.isprintable() and (head.isascii() or not _TOWER.search(head)):
        return _cut(" ".join(head.split()), limit, is_whole=len(text) == len(head))
    kept: list[str] = []
    marks = 0
    for index, character in enumerate(head):
        category = unicodedata.category(character)
        if category[0] == "M":
            marks += 1
            if marks <= MAX_MARKS:
                kept.append(character)
            continue
        marks = 0
        if category in ("Zs", "Zl", "Zp") or character in "\t\n\r\v\f\x85":
            kept.append(" ")
        elif category == "Cs" or category == "Cn":
            kept.append(REPLACEMENT)
        elif category[0] != "C" or (character in _JOINERS and _joins(head, index)):
            kept.append(character)
    return _cut(" ".join("".join(kept).split()), limit, is_whole=len(text) == len(head))


def _cut(line: str, limit: int, *, is_whole: bool) -> str:
    if len(line) > limit or (line and not is_whole):
        return line[: limit - 1].rstrip() + "…"
    return line


def _joins(text: str, index: int) -> bool:
    """Whether a joiner stands between two characters outside Latin, where it has a meaning."""
    around = text[max(index - 1, 0) : index] + text[index + 1 : index + 2]
    return len(around) == 2 and all(ord(c) > 0x590 and unicodedata.category(c)[0] in "LMS" for c in around)


def display_title(document: Document) -> str:
    """The title, or the first words of the text, made harmless.

    Examples
    --------
    >>> from firststory.records import Document
    >>> display_title(Document(id="1", text="Harbour bridge closed.\\nThe storm had torn a cable."))
    'Harbour bridge closed.'
    """
    if document.title and (given := harmless(document.title, TITLE_CHARACTERS)):
        return given
    text = document.text
    if len(text) <= TITLE_CHARACTERS and text.isprintable() and (words := harmless(text, TITLE_CHARACTERS)):
        return words  # a headline: what prints breaks no line
    # Most often the first line is the title; the others are not even cut then.
    first, *more = text[: 2 * TITLE_CHARACTERS].splitlines() or [""]
    is_whole = more or len(text) <= 2 * TITLE_CHARACTERS
    if is_whole and (words := harmless(first, TITLE_CHARACTERS)):
        return words
    for line in text[: 40 * TITLE_CHARACTERS].splitlines():
        if words := harmless(line, TITLE_CHARACTERS):
            return words
    return harmless(document.id, TITLE_CHARACTERS)


def harmless_url(url: str | None) -> str | None:
    """A web address that may stand in a link of a page, a mail or a terminal; None for anything else.

    Only http and https with a plain host: no scripts, no files, no names and passwords that pose as the host.

    Examples
    --------
    >>> harmless_url("https://example.org/a (1)?q=ü"), harmless_url("javascript:alert(1)")
    ('https://example.org/a%20%281%29?q=%C3%BC', None)
    """
    if not url or len(url) > MAX_URL_CHARACTERS or any(unicodedata.category(one)[0] == "C" for one in url):
        return None
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").encode("idna").decode("ascii")
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:  # UnicodeError is one
        return None
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or not _HOST.fullmatch(host):
        return None
    rest = parts.path + f"?{parts.query}" * bool(parts.query) + f"#{parts.fragment}" * bool(parts.fragment)
    slash = "/" if rest and not rest.startswith("/") else ""
    return f"{parts.scheme}://{host}{port}" + slash + quote(rest, _URL_CHARACTERS)
