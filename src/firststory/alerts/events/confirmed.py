"""Confirmed: a new event that more voices tell than chance explains.

The test: K voices beyond the first, in the time since the core's first document, against a Gamma-Poisson whose prior is
the stream's usual background and whose data are the core's own links to the week before. It fires once per story if
the score -log10 P(K >= k) reaches log10(stories opened per day / expected false alerts) and the price of the ladder,
the ceiling has room, and the story does not go on with one that was alerted in the last three days.
"""

from __future__ import annotations

import math
from collections import Counter

from firststory.alerts.events.links import LinkIndex, Proof
from firststory.alerts.events.memory import EventMemory
from firststory.alerts.events.running import RunningStories
from firststory.kernels.alerts.evidence import CORE_SHARE

LEAST_SCORE = 1.0
KIN_DAYS, KIN_SHARE, KIN_STRENGTH = 3.0, 0.5, 0.8
WARM_UP_DAYS = 0.5


def least_score(opened_per_day: float, false_alerts: float) -> float:
    """The score from which on chance brings at most `false_alerts` per day: as many tests are made as stories open.

    Examples
    --------
    >>> least_score(1000.0, 1.0), least_score(1000.0, 0.1), least_score(5.0, 1.0)
    (3.0, 4.0, 1.0)
    """
    return max(LEAST_SCORE, math.log10(opened_per_day / false_alerts))


def goes_on(
    proof: Proof,
    story: str,
    ordinal: int,
    watch_seconds: float,
    index: LinkIndex,
    memory: EventMemory,
    running: RunningStories,
) -> bool:
    """Whether half of the core is linked to one other story that was alerted and told in the last three days.

    Two stories of one day may only be related: of documents within the watch a member of the core must be linked to a
    good part, by links nearly as strong as those within the core.
    """  # fmt: skip
    now, story_of = float(index.born[ordinal % len(index.born)]), memory.story_of
    linked: dict[str, Counter[int]] = {}
    kin: dict[str, set[int]] = {}
    for place, target, is_before in proof.kin:
        name = story_of[target]
        other = None if name == story else running.get(name)
        if other is None or other.fired is None:
            continue
        if is_before:
            kin.setdefault(name, set()).add(place)
        else:
            linked.setdefault(name, Counter())[place] += 1
    for name, counts in linked.items():
        # Of a story that goes on later in this step, any link is enough.
        last = memory.last[name]
        size = 0 if last > ordinal else len(index.story_members(last, now - watch_seconds))
        kin.setdefault(name, set()).update(place for place, n in counts.items() if n >= CORE_SHARE * size)
    return max(map(len, kin.values()), default=0) >= max(1.0, KIN_SHARE * len(proof.core))
