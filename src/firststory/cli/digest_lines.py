"""A digest on the terminal."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from firststory.digest.blocks import Block, Section, heading, sections, summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from firststory.digest.records import Digest

STYLES = {
    "Alerts": "bold green",
    "Confirmed": "bold green",
    "Turns": "bold yellow",
    "Growing": "bold blue",
    "First seen": "bold",
}
SECTION_OF = {"confirmed": "Confirmed", "turn": "Turns", "first_seen": "First seen"}
READABLE = 100
"""Columns beyond which lines of prose are not set."""


def print_digest(screen: Console, digest: Digest) -> None:
    """The sections, most important first; titles and sentences are broken, not cut."""
    width = min(screen.width, READABLE)
    screen.print(broken(heading(digest), width, style="bold"))
    screen.print(broken(summary(digest), width, style="dim"))
    for section in sections(digest):
        screen.print()
        print_section(screen, section)


def print_section(screen: Console, section: Section) -> None:
    """A heading and its blocks."""
    from rich.rule import Rule
    from rich.text import Text

    width = min(screen.width, READABLE)
    head = Text.assemble((section.heading, STYLES[section.heading]), (f" · {section.note}", "dim"))
    head.truncate(screen.width - 4, overflow="ellipsis")
    screen.print(Rule(head, align="left", style="dim", characters="─"))
    for number, block in enumerate(section.blocks):
        if section.is_brief:
            screen.print(_brief(block, width))
        else:
            screen.print(*([""] if number else []), _full(block, section, width), sep="\n")
    if section.n_left_out:
        screen.print(f"And {section.n_left_out:,} more.", style="dim", markup=False)


def _full(block: Block, section: Section, width: int) -> Text:
    from rich.text import Text

    parts = [broken(block.title.words, width, style=STYLES[section.heading])]
    parts += [broken(block.summary, width, "  ")] if block.summary else []
    parts += [broken(block.sentence, width, "  ")] if block.sentence else []
    for line in block.lines:
        words = line.words + (f" {line.link.words}" if line.link else "")
        parts.append(broken(words, width, "  "))
    parts += [broken(block.terms, width, "  ", style="cyan")] if block.terms else []
    parts.append(broken(block.names, width, "  ", style="dim"))
    return Text("\n").join([*parts, *_address(block)])


def _brief(block: Block, width: int) -> Text:
    from rich.text import Text

    facts = " · ".join([*(line.words for line in block.lines if line.words), block.names])
    lines = [broken(block.title.words, width), broken(facts, width, "  ", style="dim")]
    return Text("\n").join([*lines, *_address(block)])


def _address(block: Block) -> list[Text]:
    """The address in one piece, so that a terminal can open it."""
    from rich.text import Text

    return [Text(f"  {block.title.url}", style="dim", overflow="fold")] if block.title.url else []


def broken(words: str, width: int, indent: str = "", style: str = "") -> Text:
    """Words broken over lines of some width, each indented."""
    from rich.text import Text

    lines = wrap(words, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    return Text("\n".join(lines), style=style)
