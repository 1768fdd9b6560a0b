"""Confirmed: a new event that more voices tell than chance explains.

The test: K voices beyond the first, in the time since the core's first document, against a Gamma-Poisson whose prior is
the stream's usual background and whose data are the core's own links to the week before. It fires once per story if
the score -log10 P(K >= k) reaches log10(documents per day / expected false alerts), and the price of the ladder, and
the ceiling has room, and the story does not go on with one that was alerted in the last three days.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from firststory.alerts.events.links import LinkIndex
from firststory.alerts.events.running import RunningStories
from firststory.units import DAY_SECONDS

LEAST_SCORE = 1.0
KIN_DAYS, KIN_SHARE = 3.0, 0.5
WARM_UP_DAYS = 0.5


def least_score(per_day: float, false_alerts: float) -> float:
    """The score from which on chance brings at most `false_alerts` per day.

    Examples
    --------
    >>> least_score(1000.0, 1.0), least_score(1000.0, 0.1), least_score(5.0, 1.0)
    (3.0, 4.0, 1.0)
    """
    return max(LEAST_SCORE, math.log10(per_day / false_alerts))


def goes_on(
    core: list[int],
    story: str,
    now: float,
    watch_seconds: float,
    index: LinkIndex,
    story_of: Mapping[int, str],
    running: RunningStories,
) -> bool:
    """Whether half of the core is linked to one story that was alerted and told in the last three days."""  # fmt: skip
    capacity, kin = len(index.born), Counter[str]()
    for j in core:
        before = index.born[j % capacity] - watch_seconds
        older = {
            story_of[target]
            for target in index.links_of(j)[0].tolist()
            if index.born[target % capacity] < before and now - index.born[target % capacity] <= KIN_DAYS * DAY_SECONDS
        }
        kin.update(name for name in older - {story} if name in running and running[name].fired is not None)
    return bool(kin) and kin.most_common(1)[0][1] >= KIN_SHARE * len(core)
