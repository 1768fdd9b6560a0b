"""How many alerts a person wants: a rate, a share of the documents, or a fixed threshold. `keeper.py` holds to it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from firststory.errors import ParameterError
from firststory.units import DAY_SECONDS

UNIT_SECONDS = {"minute": 60.0, "hour": 3600.0, "day": DAY_SECONDS, "week": 7 * DAY_SECONDS}
UNTIMED_DAY_DOCUMENTS = 1000
"""Documents that count as one day where a stream has no times: "20/day" is then 2 % of the documents."""

BUCKET_SECONDS = {"minute": DAY_SECONDS / 8, "hour": DAY_SECONDS, "day": 1.4 * DAY_SECONDS, "week": 1.4 * DAY_SECONDS}
"""Seconds of budget that the bucket holds: at most a fifth of a week; less for budgets by the hour."""

BudgetKind = Literal["rate", "share", "threshold"]

_RATE = re.compile(r"\s*([0-9.]+)\s*(?:/|per|an?\s)\s*(minute|hour|day|week)s?\s*", re.IGNORECASE)
_SHARE = re.compile(r"\s*([0-9.]+)\s*%\s*")


@dataclass(frozen=True, slots=True)
class Budget:
    """What `parse_budget` understood.

    `amount` is alerts per day of a rate, the part of the documents of a share, the score of a fixed threshold.
    """

    kind: BudgetKind
    amount: float
    text: str
    bucket: float = 1.4 * DAY_SECONDS


def parse_budget(budget: str | float | Budget) -> Budget:
    """Read "20/day", "5 per hour", "0.5%", or a number: a fixed threshold on the novelty.

    Examples
    --------
    >>> parse_budget("20/day").amount, parse_budget("5/hour").amount, parse_budget("0.5%").amount
    (20.0, 120.0, 0.005)
    >>> parse_budget(0.8).kind
    'threshold'
    """
    if isinstance(budget, Budget):
        return budget
    if isinstance(budget, (int, float)) and not isinstance(budget, bool) and math.isfinite(budget):
        return Budget("threshold", float(budget), f"{float(budget):g}")
    if isinstance(budget, str):
        try:
            if rate := _RATE.fullmatch(budget):
                unit = rate[2].lower()
                amount = float(rate[1]) * DAY_SECONDS / UNIT_SECONDS[unit]
                if amount > 0:
                    return Budget("rate", amount, f"{float(rate[1]):g}/{unit}", BUCKET_SECONDS[unit])
            elif share := _SHARE.fullmatch(budget):
                amount = float(share[1]) / 100
                if 0 < amount <= 1:
                    return Budget("share", amount, f"{float(share[1]):g}%")
            elif math.isfinite(amount := float(budget)):
                return Budget("threshold", amount, f"{amount:g}")
        except ValueError:
            pass
    raise ParameterError(
        owner="parse_budget",
        parameter="budget",
        allowed='a positive rate ("20/day", "5/hour"), a share of the documents ("0.5%") or a threshold (0.8)',
        received=budget,
        remedy='Start with budget="20/day": about twenty alerts a day, the most novel first.',
    )


def fixed_threshold(budget: Budget, strictness: float) -> float:
    """Where a fixed threshold stands when feedback has moved it, by a tenth of it at most."""
    return budget.amount + (1.0 - strictness) * 0.1 * max(abs(budget.amount), 0.1)


def spending(budget: Budget | None, strictness: float) -> str:
    """What feedback makes of a budget, in words.

    Examples
    --------
    >>> spending(parse_budget("20/day"), 0.95)
    'the stream now spends 95 % of its budget'
    >>> spending(parse_budget(0.8), 0.25)
    'the threshold is now 0.86 in place of 0.8'
    """
    if budget is None or budget.kind != "threshold":
        return f"the stream now spends {100 * strictness:.0f} % of its budget"
    if strictness == 1.0:
        return f"the threshold is {budget.amount:.4g}"
    return f"the threshold is now {fixed_threshold(budget, strictness):.4g} in place of {budget.amount:.4g}"
