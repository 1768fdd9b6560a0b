"""Stories and storylines as tables: the title first, and fewer columns where the screen is narrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from firststory.digest.words import day
from firststory.harmless import harmless
from firststory.records import Story, Storyline

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

WIDE = 100
"""Columns of a screen from which on a table shows everything."""
DAY_CHARACTERS = 10
FEW_TERMS = 4
"""Key terms that are shown on a narrow screen."""
N_LINEAGE_SHOWN = 8
"""Merged stories that are named."""


def story_table(stories: Sequence[Story], held: Mapping[str, Sequence[str]], width: int) -> Table:
    """One row per story; `held` names the stories that were merged into each."""
    wide = width >= WIDE
    names = ["story", "first seen", "last seen", "size", "sources", "a day", "status", "line"]
    shown = names if wide else ["story", "last seen", "size", "sources", "line"]
    table = _table("title and key terms", shown)
    for one in stories:
        values = {
            "story": one.id,
            "first seen": _when(one, wide, first=True),
            "last seen": _when(one, wide),
            "size": f"{one.size}" + (f" +{one.duplicates}" if one.duplicates and wide else ""),
            "sources": str(len(one.sources)),
            "a day": f"{one.growth:.1f}" if one.growth else "–",
            "status": one.status,
            "line": one.storyline or "–",
        }
        table.add_row(_title(one, lineage(one, held.get(one.id, ())), wide), *(values[name] for name in shown))
    return table


def storyline_table(storylines: Sequence[Storyline], width: int) -> Table:
    """One row per storyline."""
    wide = width >= WIDE
    names = ["line", "first seen", "last seen", "stories", "size", "sources", "status"]
    shown = names if wide else ["line", "last seen", "stories", "size", "sources"]
    table = _table("title and key terms", shown)
    for one in storylines:
        values = {
            "line": one.id,
            "first seen": _when(one, wide, first=True),
            "last seen": _when(one, wide),
            "stories": str(one.n_stories),
            "size": str(one.size),
            "sources": str(len(one.sources)),
            "status": one.status,
        }
        table.add_row(_title(one, _merged(one), wide), *(values[name] for name in shown))
    return table


def lineage(story: Story, held: Sequence[str] = ()) -> str:
    """What a story was merged into and why, and what was merged into it."""
    parts = [merged] if (merged := _merged(story)) else []
    if held:
        more = f" and {len(held) - N_LINEAGE_SHOWN} more" if len(held) > N_LINEAGE_SHOWN else ""
        parts.append(f"holds {', '.join(held[:N_LINEAGE_SHOWN])}{more}")
    return "; ".join(parts)


def _merged(one: Story | Storyline) -> str:
    if one.merged_into is None:
        return ""
    return f"merged into {one.merged_into}" + (f" ({harmless(one.reason, 200)})" if one.reason else "")


def _table(first: str, others: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="dim", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(first, ratio=1, overflow="fold")
    for name in others:
        number = name in ("size", "sources", "stories", "a day")
        table.add_column(name, justify="right" if number else "left", no_wrap=True)
    return table


def _title(one: Story | Storyline, descent: str, wide: bool) -> Text:
    from rich.text import Text

    told = Text(harmless(one.title, 100), style="bold")
    if one.key_terms:
        terms = one.key_terms if wide else one.key_terms[:FEW_TERMS]
        told.append("\n" + harmless(", ".join(terms), 120), style="cyan")
    if descent:
        told.append("\n" + descent, style="dim")
    return told


def _when(one: Story | Storyline, wide: bool, *, first: bool = False) -> str:
    """A time; on a narrow screen the day alone."""
    told = day(one.first_seen if first else one.last_seen)
    return told if wide else told[:DAY_CHARACTERS]
