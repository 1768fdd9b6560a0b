"""How storylines are called: by the phrases that name them where they are a topic, else by their headline."""

from __future__ import annotations

from collections.abc import Sequence

from firststory.harmless import harmless
from firststory.store.store import Store

LONGEST = 120


def line_names(store: Store, lines: Sequence[str]) -> dict[str, str]:
    """The names of those storylines that were ever a topic."""
    return {line: harmless(", ".join(label), LONGEST) for line, label in store.topic_labels(lines).items()}


def line_name(store: Store, line: str, title: str) -> str:
    """What to call one storyline."""
    return line_names(store, [line]).get(line) or harmless(title, LONGEST)
