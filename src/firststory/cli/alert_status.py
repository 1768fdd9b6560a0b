"""Where the alerts stand, in words: what fired, the ceiling, what was held back and why, how sources are counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firststory.harmless import harmless

WARM_UP = {"warm_up": "warm-up", "first_seen_warm_up": "warm-up, first seen"}
TOLD = ("ceiling", "ceiling_per_day", "fired_last_day", "false_alerts", "held_back_last_day", *WARM_UP)
"""Keys of the status that have words of their own; every other is shown under its name."""


def alert_facts(counts: Mapping[str, int], status: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pairs of a name and what is to be said of it.

    Examples
    --------
    >>> for fact in alert_facts({"confirmed": 3, "turn": 1, "first_seen": 0},
    ...                         {"ceiling": "20/day", "fired_last_day": {"confirmed": 2}, "false_alerts": 1.0}):
    ...     print(*fact)
    alerts 3 confirmed, 1 turn
    ceiling 20/day; in the last day 2 confirmed
    false alerts 1 per day may come by chance
    held back nothing in the last day
    """
    facts = [("alerts", in_words(counts) or "none yet")]
    if not status:
        return facts
    last_day = status.get("fired_last_day", {})
    fired = in_words({kind: last_day.get(kind, 0) for kind in counts})
    held = status.get("held_back_last_day", {})
    if "ceiling" in status:
        facts.append(("ceiling", f"{_plain(status['ceiling'])}; in the last day {fired or 'none'}"))
    if "false_alerts" in status:
        facts.append(("false alerts", f"{_plain(status['false_alerts'])} per day may come by chance"))
    facts.append(("held back", f"in the last day: {_plain(held)}" if held else "nothing in the last day"))
    facts += [(name, _plain(status[key])) for key, name in WARM_UP.items() if status.get(key)]
    return facts + [(key.replace("_", " "), _plain(value)) for key, value in status.items() if key not in TOLD]


def in_words(counts: Mapping[str, Any]) -> str:
    """Those that are not 0: "3 confirmed, 2 turns"."""
    words = {name: "turns" if name == "turn" and n != 1 else name.replace("_", " ") for name, n in counts.items()}
    return ", ".join(f"{_plain(n)} {harmless(words[name], 100)}" for name, n in counts.items() if n)


def _plain(value: Any) -> str:
    """A value of the status for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items()) or "none"
    return "–" if value is None else harmless(str(value), 300)
