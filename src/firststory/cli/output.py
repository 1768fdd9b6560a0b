"""Records as JSON, and as lines and tables for people. What strangers wrote is made harmless before it is shown."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import regex

from firststory.cli.guard import writes_every_letter
from firststory.digest.words import day
from firststory.harmless import display_title, harmless
from firststory.records import Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_CONTROL_CHARACTERS = regex.compile(r"(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")
"""Controls, bidirectional overrides, invisible characters; the joiners are letters of some scripts."""


def console(**options: Any) -> Console:
    """A console; where the output is no terminal, and COLUMNS says nothing, lines are long enough for every table."""
    from rich.console import Console

    class OurConsole(Console):
        """Rich would end the process with status 1 when the reader has gone; `guard` knows better."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
    return OurConsole(width=width, highlight=False, **options)


def bar(value: float, width: int = 10) -> str:
    """A number between 0 and 1 as a bar."""
    full = min(max(value, 0.0), 1.0) * width
    whole = int(full)
    part = " ▏▎▍▌▋▊▉"[int((full - whole) * 8)] if whole < width else ""
    return ("█" * whole + part).rstrip().ljust(width)


def write_json(value: Any) -> None:
    """One line of JSON on standard output, flushed: a reader may be waiting."""
    line = json_line(value)
    if not line.isascii() and not writes_every_letter(sys.stdout):
        line = json.dumps(json.loads(line))  # a terminal in ASCII
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def json_line(value: Any) -> str:
    """A value as JSON that any reader takes and any terminal may show.

    NaN and infinities become null. Characters that act instead of being read are escaped, so that values stay exact.

    Examples
    --------
    >>> json_line({"auc": float("nan"), "id": "a\u202eb"})
    '{"auc": null, "id": "a\\\\u202eb"}'
    """
    try:
        text = json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:
        text = json.dumps(_without_nan(value), ensure_ascii=False, default=str)
    return text if text.isprintable() else _CONTROL_CHARACTERS.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def title_of(verdict: Verdict, limit: int = 100) -> str:
    return harmless(display_title(verdict.document), limit)


def verdict_lines(verdict: Verdict, width: int, *, with_day: bool = True) -> Text:
    """A verdict as people read it: when and how novel, the title, its id and story, why, and what it is nearest to."""
    from rich.text import Text

    head = f"{day(verdict.document.time)}  " if with_day else ""
    text = Text()
    text.append(head, style="dim")
    text.append(bar(verdict.novelty, 8), style="bold green")
    text.append(f" {verdict.novelty:.2f}  ", style="green")
    text.append(_fit(title_of(verdict), width - len(text.plain)), style="bold")
    indent = " " * (len(head) or 15)
    room = width - len(indent)
    ids = " · ".join(filter(None, (harmless(verdict.document.id, 200), verdict.story)))
    text.append(f"\n{indent}{ids}", style="dim")
    if verdict.terms:
        words = ", ".join(term.text for term in verdict.terms[:6])
        text.append(f"\n{indent}new: " + _fit(words, room - 5), style="cyan")
    if verdict.nearest:
        near = verdict.nearest[0]
        title = _fit(harmless(near.title or near.id, 120), room - 22)
        text.append(f"\n{indent}nearest ({near.similarity:.2f}): {title}", style="dim")
    return text


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 1)].rstrip() + "…"
