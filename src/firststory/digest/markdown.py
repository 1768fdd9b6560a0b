"""A digest as Markdown."""

from __future__ import annotations

import re

from firststory.digest.blocks import Block, Line, Link, Section, heading, sections, summary
from firststory.digest.records import Digest

_LIST_NUMBER = re.compile(r"^(\d+)\.")
_MARKS = re.compile(r"^[-+=]|[\\`*_{}\[\]<>()#!|~&$^@]|(?<=[A-Za-z]):(?=//)|(?<=\bwww)\.", re.IGNORECASE)
"""What Markdown and its dialects act on inside a line: marks, HTML, entities, tables, formulas, bare addresses."""


def markdown_page(digest: Digest) -> str:
    """The digest as Markdown; text of strangers is text alone, and links go to web addresses alone."""
    parts = [f"# {escaped(heading(digest))}", escaped(summary(digest))]
    for section in sections(digest):
        parts += [f"## {section.heading}", escaped(section.note)]
        if section.is_brief:
            parts.append("\n".join(map(_brief, section.blocks)))
        else:
            parts += map(_block, section.blocks)
        if section.n_left_out:
            parts.append(_left_out(section))
    return "\n\n".join(parts) + "\n"


def escaped(words: str) -> str:
    """Words that Markdown shows as they are, wherever they stand.

    Examples
    --------
    >>> print(escaped("[x](javascript:y) | <b> see http://z"))
    \\[x\\]\\(javascript:y\\) \\| \\<b\\> see http\\://z
    """
    return _LIST_NUMBER.sub(r"\1\\.", _MARKS.sub(r"\\\g<0>", words))


def _link(link: Link) -> str:
    return escaped(link.words) if link.url is None else f"[{escaped(link.words)}](<{link.url}>)"


def _block(block: Block) -> str:
    parts = [f"### {_link(block.title)}"]
    if block.summary:
        parts.append(escaped(block.summary))
    if block.sentence:
        parts.append(escaped(block.sentence))
    lines = [_line(line) for line in block.lines]
    if block.terms:
        lines.append(f"- *{escaped(block.terms)}*")
    return "\n\n".join([*parts, "\n".join([*lines, f"- {escaped(block.names)}"])])


def _line(line: Line) -> str:
    return f"- {escaped(line.words)}" + (f" {_link(line.link)}" if line.link else "")


def _brief(block: Block) -> str:
    facts = [*(escaped(line.words) for line in block.lines if line.words), escaped(block.names)]
    return f"- {_link(block.title)} · " + " · ".join(facts)


def _left_out(section: Section) -> str:
    return f"And {section.n_left_out:,} more."
