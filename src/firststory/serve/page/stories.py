"""Stories and storylines: what grows, by new documents and the sources that tell it."""

from __future__ import annotations

from typing import Any

from firststory.serve.page.clock import Clock
from firststory.serve.page.growing import growing, lately_words, spark_days
from firststory.serve.page.ranges import LENGTHS, names
from firststory.store.arrival_reader import Level
from firststory.store.store import Store

LEVELS = {"storyline": "Storylines", "story": "Stories"}
RANGES = names("24h", "3d", "7d", "30d", "90d")
ROWS = 25


def stories_facts(store: Store, clock: Clock, level: Level, chosen: str, page: int) -> dict[str, Any]:
    """A page of the table, and whether there is another."""
    label, _, length = LENGTHS[chosen]
    rows = growing(store, clock, level, length, ROWS + 1, ROWS * page)
    days = spark_days(store.last_time(), length)
    return {
        "rows": rows[:ROWS],
        "has_more": len(rows) > ROWS,
        "page": page,
        "level": level,
        "levels": LEVELS,
        "ranges": RANGES,
        "chosen": chosen,
        "range_words": label.removeprefix("Last "),
        "spark_words": f"{days} days" if days else label.removeprefix("Last "),
        "lately": lately_words(store.last_time()),
    }
