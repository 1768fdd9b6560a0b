"""Now: what was confirmed, what turned, what runs, and what was only seen once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from firststory.digest.words import PUSHED, counted
from firststory.records import Alert
from firststory.serve.page.cards import Card, cards_of
from firststory.serve.page.clock import Clock
from firststory.serve.page.growing import Growing, growing, lately_words
from firststory.serve.page.numbers import listed
from firststory.serve.page.ranges import Range, names
from firststory.store.store import Store

RANGES = names("6h", "24h", "3d", "7d", "30d")
KINDS = {"all": "All", "confirmed": "Confirmed", "turn": "Turns"}
MAX_CARDS = 60
MAX_FIRST_SEEN = 40
RUNNING = 7
HELD_BACK = {
    "warm-up": "while it was reading in",
    "below the price": "too little evidence",
    "the ceiling is spent": "over the ceiling",
    "part of an event already alerted": "part of what was told already",
}


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How much was pushed in the last day, and how much may be."""

    pushed: int
    most: int | None
    held_back: tuple[tuple[int, str], ...]

    @property
    def part(self) -> float:
        return min(300.0, 300.0 * self.pushed / self.most) if self.most else 0.0


def now_facts(store: Store, clock: Clock, kind: str, within: Range) -> dict[str, Any]:
    """All that the view shows."""
    wanted = PUSHED if kind == "all" else (kind,)
    alerts = store.alerts(since=within.since, newest_first=True)
    alerts = tuple(one for one in alerts if one.fired_at is None or one.fired_at <= within.until)
    pushed = [one for one in alerts if one.kind in wanted]
    quiet = [one for one in alerts if one.kind == "first_seen"]
    cards = cards_of(store, pushed[:MAX_CARDS])
    status = store.alerts_status()
    return {
        "days": _by_day(clock, cards),
        "n_cards": len(cards),
        "n_left_out": len(pushed) - len(cards),
        "first_seen": quiet[:MAX_FIRST_SEEN],
        "n_first_seen": len(quiet),
        "totals": _totals(pushed),
        "calm": None if cards else _calm(store, within),
        "running": running(store, clock),
        "ceiling": ceiling_of(status),
        "warm_up": status.get("warm_up"),
        "voices": status.get("voices", ""),
        "lately": lately_words(store.last_time()),
    }


def _totals(alerts: Sequence[Alert]) -> str:
    """
    >>> _totals([])
    ''
    """
    confirmed = sum(alert.kind == "confirmed" for alert in alerts)
    turns = len(alerts) - confirmed
    parts = [f"{confirmed} confirmed"] if confirmed else []
    return listed([*parts, counted(turns, "turn")] if turns else parts)


def running(store: Store, clock: Clock, limit: int = RUNNING) -> list[Growing]:
    """The storylines that grow."""
    return growing(store, clock, "storyline", timedelta(days=3), limit)


def _by_day(clock: Clock, cards: list[Card]) -> list[tuple[str, list[Card]]]:
    """Cards under the day on which they fired, newest first."""
    days: dict[str, list[Card]] = {}
    today = clock.now.astimezone(clock.zone).date() if clock.is_live else None  # an archive has none
    for card in cards:
        fired = card.alert.fired_at
        local = None if fired is None else clock.local(fired)
        name = "" if local is None else "Today" if local.date() == today else clock.day(fired or clock.now)
        days.setdefault(name, []).append(card)
    return list(days.items())


def _calm(store: Store, within: Range) -> dict[str, Any]:
    """What is said where nothing is new: since when, and what was read meanwhile."""
    before = store.alerts(kind=PUSHED, newest_first=True, limit=1)
    last: Alert | None = before[0] if before else None
    quiet_since = last.fired_at if last is not None and last.fired_at is not None else within.since
    came = store.came(quiet_since, within.until)
    return {"last": last, "came": came}


def ceiling_of(status: Mapping[str, Any]) -> Ceiling:
    """What was pushed in the last day, in the words of the page."""
    fired = status.get("fired_last_day", {})
    most = status.get("ceiling_per_day")
    held = status.get("held_back_last_day", {})
    return Ceiling(
        pushed=sum(fired.get(kind, 0) for kind in PUSHED),
        most=None if most is None else round(most),
        held_back=tuple((n, HELD_BACK.get(reason, reason)) for reason, n in held.items()),
    )
