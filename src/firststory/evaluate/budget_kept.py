"""Alerts against the budget, week by week."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firststory.alerts.budget import UNTIMED_DAY_DOCUMENTS, Budget
from firststory.arrays import Floats
from firststory.units import DAY_SECONDS

TOLERANCE = 0.2
"""A week has kept to the budget when it is within a fifth of it."""


@dataclass(frozen=True, slots=True)
class BudgetKept:
    """Alerts against the budget. A week is full when six of its days brought twice the day's budget."""

    per_day: float
    """Alerts per day; without times, per thousand documents, or in all if there are fewer."""
    allowed: float | None
    full_weeks: int
    kept_weeks: float
    """Share of the full weeks within a fifth of the budget; NaN where there is none."""
    by_week: tuple[tuple[float, int], ...]
    """(day on which the week began, alerts)."""
    unit: str = "per day with documents"
    """What `per_day` counts by, in words."""


def counted_days(times: Floats) -> tuple[float, str]:
    """The days that have documents, and what one of them is called; without times a thousand documents are a day.

    Examples
    --------
    >>> counted_days(np.array([0.0, 10.0, 3 * DAY_SECONDS]))
    (2.0, 'per day with documents')
    """
    timed = times[np.isfinite(times)]
    if timed.size:
        return float(np.unique(np.floor(timed / DAY_SECONDS)).size), "per day with documents"
    # A short file is no day, and is not blown up to one.
    unit = "per thousand documents" if len(times) >= UNTIMED_DAY_DOCUMENTS else "in all"
    return max(len(times) / UNTIMED_DAY_DOCUMENTS, 1.0), unit


def budget_kept(times: Floats, is_novel: NDArray[np.bool_], budget: Budget) -> BudgetKept:
    """How many alerts the weeks brought, and whether that was what the budget says."""
    timed = np.isfinite(times)
    if not timed.any():
        days, unit = counted_days(times)
        share = budget.amount * len(is_novel) / days
        amount = {"rate": budget.amount, "share": share}.get(budget.kind)
        return BudgetKept(float(is_novel.sum()) / days, amount, 0, float("nan"), (), unit)
    day = np.floor(times[timed] / DAY_SECONDS).astype(np.int64)
    alerts = is_novel[timed]
    start = int(day.min())
    documents_by_day = np.bincount(day - start)
    alerts_by_day = np.bincount(day - start, weights=alerts)
    active = max(int((documents_by_day > 0).sum()), 1)
    if budget.kind == "rate":
        allowed = np.full(len(documents_by_day), budget.amount)
    elif budget.kind == "share":
        allowed = budget.amount * documents_by_day.astype(np.float64)
    else:
        allowed = np.full(len(documents_by_day), np.nan)
    weeks, kept, full = [], 0, 0
    for begin in range(0, len(documents_by_day) - 6, 7):
        inside = slice(begin, begin + 7)
        count = int(alerts_by_day[inside].sum())
        weeks.append((float(start + begin), count))
        plenty = (documents_by_day[inside] >= np.maximum(2 * allowed[inside], 1)).sum() >= 6
        target = float(allowed[inside].sum())
        # The first week has no past to be judged by.
        if begin and plenty and target >= 1:
            full += 1
            kept += abs(count - target) <= max(TOLERANCE * target, 1.0)
    wanted = None if budget.kind == "threshold" else float(allowed[documents_by_day > 0].mean())
    return BudgetKept(
        per_day=float(alerts.sum()) / active,
        allowed=wanted,
        full_weeks=full,
        kept_weeks=kept / full if full else float("nan"),
        by_week=tuple(weeks),
    )
