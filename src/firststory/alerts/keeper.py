"""The keeper that holds a stream to its budget of alerts without knowing the future.

A budget of "20/day" fills a bucket with 20 tokens a day; an alert takes one. The bucket holds a fifth of a week, so
in *any* seven days there are at most 1.2 x 7 x 20 alerts, whatever comes. The threshold falls as the bucket fills and
rises as it empties: a document is novel when its p-value is at most

    a = (budget / documents, per day) * (odds of fill / odds of rest) ** SHARPNESS,    odds(x) = x / (1 - x)

so that the most novel go first, a burst meets a rising threshold, and after a silent night it is a little lower. At
rest the threshold spends exactly what comes in; above it there is room for what a silent day brings. More silence is
not saved up: what does not fit into the bucket is lost, so that a week's alerts never come in an hour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from firststory.alerts.budget import UNTIMED_DAY_DOCUMENTS, Budget, fixed_threshold, parse_budget
from firststory.state import State
from firststory.units import DAY_SECONDS, HOUR_SECONDS

SHARPNESS = 0.7
REST_FILL = 0.3
"""How full the bucket of a rate is where spending and income are in balance; half full where it holds next to nothing,
and for shares, which know no silence."""
RATE_HALF_LIFE_SECONDS = 4 * DAY_SECONDS
"""Half-life of the estimate of how many documents a day brings."""

OPENING_SHARE = 0.2
OPENING_DOCUMENTS = 50
"""Of the first documents nearly all are new: only the most novel fifth is told. A stream without times stays held to
that, since nothing says that it brings few documents a day."""

MAX_HISTORY_RECORDS = 500
WRONG_CLOCK_DOCUMENTS = 50
"""A clock that is a day ahead of this many documents in a row was set by a wrong date: it is set back."""


class Decision(NamedTuple):
    """Whether a person should see it; the p-value that was needed for that; and why."""

    is_novel: bool
    needed_p_value: float
    """0 where no p-value would have done: the budget was spent."""
    why: tuple[str, *tuple[float, ...]]
    """Words with gaps, and the p-values that belong there."""

    @property
    def reason(self) -> str:
        """Why, in words."""
        words, *shares = self.why
        return words.format(*map(_share, shares))


@dataclass(frozen=True, slots=True)
class ThresholdRecord:
    """One point of the threshold's history, for `status`: when, after how many documents, the p-value needed, why."""

    time: float | None
    documents: int
    alerts: int
    needed_p_value: float
    fill: float
    reason: str

    def told(self) -> dict[str, Any]:
        """As JSON values; quicker than `asdict`, which every step would pay for thirty times."""
        return {
            "time": self.time,
            "documents": self.documents,
            "alerts": self.alerts,
            "needed_p_value": self.needed_p_value,
            "fill": self.fill,
            "reason": self.reason,
        }


class BudgetKeeper:
    """Decides, document by document, which are novel enough, so that the stream keeps to its budget.

    Parameters
    ----------
    budget : str, float or Budget
        What `parse_budget` reads. Without times, a day is `UNTIMED_DAY_DOCUMENTS` documents.
    floor : float, default=-inf
        Nothing less novel than this is ever an alert, however much of the budget is left: a quiet stream
        does not make old news new.

    Examples
    --------
    >>> keeper = BudgetKeeper("20/day")
    >>> keeper.decide(novelty=0.9, p_value=0.001, time=0.0).is_novel
    True
    >>> BudgetKeeper(0.8).decide(novelty=0.79, p_value=0.001, time=None).reason
    'novelty 0.79 is below the fixed threshold of 0.8'
    """

    def __init__(self, budget: str | float | Budget, floor: float = float("-inf")) -> None:
        self.budget = parse_budget(budget)
        self.floor = float(floor)
        self.strictness = 1.0
        """Feedback multiplies the budget by this, between a quarter and 1.2."""
        self._clock: float | None = None
        self._grain = DAY_SECONDS
        """How coarse the times are: a day until one comes that is not a midnight."""
        self._behind = 0
        self._documents = 0
        self._alerts = 0
        # One imagined day with one document: a stream that has just begun has room for all.
        self._recent_documents = 1.0
        self._recent_days = 1.0
        self._tokens = self._capacity() * self._rest()
        self._history: list[ThresholdRecord] = []
        self._recorded_at = float("-inf")
        self._pending_changes: list[str] = []
        """What came from outside since the last step began."""
        self._changes: list[str] = []
        """What came from outside before this step: reasons for where the threshold stands now."""

    # -- decisions -----------------------------------------------------------------------------------------

    def decide(self, novelty: float, p_value: float, time: float | None = None) -> Decision:
        """One document, judged by the past alone."""
        return self.decide_many([novelty], [p_value], [time])[0]

    def decide_many(
        self,
        novelties: Sequence[float],
        p_values: Sequence[float],
        times: Sequence[float | None] | None = None,
        keys: Sequence[str] | None = None,
    ) -> list[Decision]:
        """The documents of one timestep, the most novel first; their order does not matter.

        `keys` (the documents' ids) decide between equal scores when there is not enough budget for all of them.
        """
        decisions: list[Decision | None] = [None] * len(novelties)
        for group in self._days(len(novelties), times):
            self._arrive(len(group), [t for i in group if times and (t := times[i]) is not None])
            group.sort(key=lambda i: (p_values[i], -_number(novelties[i]), keys[i] if keys else i))
            needed = self.needed_p_value()
            for i in group:
                decisions[i] = decision = self._decide_one(_number(novelties[i]), p_values[i], needed)
                if decision.is_novel:
                    needed = self.needed_p_value()
        self._record(force=False)
        return [decision for decision in decisions if decision is not None]

    def _days(self, n: int, times: Sequence[float | None] | None) -> list[list[int]]:
        """The documents of a step by the day (the hour, for budgets by the hour) that they belong to, in its order.

        A step may span weeks: its best documents must not all be taken from one of them.
        """
        if self.budget.kind != "rate" or not times or all(t is None for t in times):
            return [list(range(n))] if n else []
        unit = HOUR_SECONDS if self.budget.bucket < 1.4 * DAY_SECONDS else DAY_SECONDS
        groups: dict[float, list[int]] = {}
        latest = min(t for t in times if t is not None)
        for i, time in enumerate(times):
            latest = latest if time is None else time
            groups.setdefault(latest // unit, []).append(i)
        return [groups[day] for day in sorted(groups)]

    def _decide_one(self, novelty: float, p_value: float, needed: float) -> Decision:
        if self.budget.kind == "threshold":
            threshold = fixed_threshold(self.budget, self.strictness)
            above = novelty >= threshold
            words = "reaches" if above else "is below"
            tuned = "" if self.strictness == 1.0 else " (moved by feedback)"
            self._alerts += above
            why = f"novelty {novelty:.4g} {words} the fixed threshold of {threshold:.4g}{tuned}"
            return Decision(above, math.nan, (why,))
        if novelty < self.floor:
            return Decision(False, needed, ("too much like what was seen before, whatever the budget",))
        if self._tokens < 1.0:
            return Decision(False, 0.0, (f"the budget of {self.budget.text} is spent for now",))
        if p_value > needed:
            return Decision(False, needed, ("{} are as novel; the threshold is {}", p_value, needed))
        self._tokens -= 1.0
        self._alerts += 1
        return Decision(True, needed, ("only {} are as novel; the threshold is {}", p_value, needed))

    def needed_p_value(self) -> float:
        """The p-value that the next document needs, between 0 and 1."""
        if self.budget.kind == "threshold":
            return math.nan
        fill = min(max(self._tokens / self._capacity(), 0.0), 1.0)
        most = self._most_share()
        if fill >= 1.0:
            return most
        return min(most, self._base() * math.pow(_odds(fill) / _odds(self._rest()), SHARPNESS))

    def _most_share(self) -> float:
        """The largest share of the documents that may be novel, whatever the budget has left; but always one."""
        if self._documents > OPENING_DOCUMENTS and self._clock is not None:
            return 1.0
        paid = self.budget.amount if self.budget.kind == "share" else self.budget.amount / UNTIMED_DAY_DOCUMENTS
        return min(1.0, max(OPENING_SHARE, paid, 1.0 / max(self._documents, 1)))

    def _base(self) -> float:
        """The part of the documents that the budget pays for at the present rate of documents."""
        if self.budget.kind == "share":
            return self.budget.amount * self.strictness
        return self.budget.amount * self.strictness * self._recent_days / self._recent_documents

    def _rest(self) -> float:
        return 0.5 if self.budget.kind == "share" else min(0.5, max(REST_FILL, 0.7 / self._capacity()))

    def _capacity(self) -> float:
        """What the bucket holds: at most a fifth of a week's alerts, but nearly two at least: with less, an alert a day
        would go to the first document of the day."""
        if self.budget.kind == "share":
            per_day = UNTIMED_DAY_DOCUMENTS if self._clock is None else self._recent_documents / self._recent_days
            return max(2.0, 0.7 * per_day * self.budget.amount)
        return max(1.8, self.budget.amount * self.budget.bucket / DAY_SECONDS)

    def change(self, budget: str | float | Budget) -> None:
        """Hold the stream to another budget from now on; the threshold starts from its point of rest."""
        before, self.budget = self.budget.text, parse_budget(budget)
        self._tokens = self._capacity() * self._rest()
        self.note_change(f"the budget was changed from {before} to {self.budget.text}")

    # -- time ----------------------------------------------------------------------------------------------

    def _arrive(self, n: int, times: list[float]) -> None:
        """Let the time pass until the documents are there, and pay in what it brought."""
        self._documents += n
        if self.budget.kind == "threshold":
            self._clock = max([t for t in (*times, self._clock) if t is not None], default=None)
            return
        gap, span = self._pass_time(n, times)
        # Long silence says little about the rate of a stream that speaks: it counts for one day.
        days = min((gap + span) / DAY_SECONDS, 1.0)
        fade = 0.5 ** (days * DAY_SECONDS / RATE_HALF_LIFE_SECONDS)
        self._recent_days = self._recent_days * fade + days
        self._recent_documents = self._recent_documents * fade + n
        if self.budget.kind == "share":
            before, during = 0.0, n * self.budget.amount
        else:
            before, during = gap * self.budget.amount / DAY_SECONDS, span * self.budget.amount / DAY_SECONDS
        # What the silence before a batch brought must fit into the bucket; what its own time brought is all there.
        self._tokens = min(self._capacity(), self._tokens + before * self.strictness) + during * self.strictness

    def _pass_time(self, n: int, times: list[float]) -> tuple[float, float]:
        """Seconds of silence before the batch, and seconds that the batch itself stands for.

        Where only days (or hours) are known, the day goes by with its documents: each stands for its part of an
        ordinary day, and what is left of the day when the next one begins is paid then.
        """
        if not times:
            return 0.0, n * DAY_SECONDS / UNTIMED_DAY_DOCUMENTS if self._clock is None else 0.0
        start, end = min(times), max(times)
        for coarse in (HOUR_SECONDS, DAY_SECONDS):
            if self._grain == coarse and any(t % coarse for t in times):
                self._grain = 0.0 if coarse == HOUR_SECONDS or any(t % HOUR_SECONDS for t in times) else HOUR_SECONDS
        if self._clock is None:
            self._clock = start
        self._behind = self._behind + n if end < self._clock - DAY_SECONDS - self._grain else 0
        if self._behind >= WRONG_CLOCK_DOCUMENTS:
            self._clock, self._behind = end, 0
        gap = max(0.0, start - self._clock)
        at = max(self._clock, start)
        within = min(n * DAY_SECONDS * self._recent_days / self._recent_documents, max(0.0, end + self._grain - at))
        span = max(0.0, end - at, within if self._grain else 0.0)
        self._clock = at + span
        return gap, span

    # -- what a person can see -----------------------------------------------------------------------------

    def history(self) -> tuple[ThresholdRecord, ...]:
        """The threshold over time, oldest first: at most one record per day (or per thousand documents)."""
        return tuple(self._history)

    def note_change(self, reason: str) -> None:
        """Write a change from outside (feedback, a new budget) into the history; the next step names it as a reason."""
        self._record(force=True, reason=reason)
        self._pending_changes.append(reason)

    def begin_step(self) -> None:
        """What came from outside until now is told with this step, and not with the next."""
        self._changes, self._pending_changes = self._pending_changes, []

    def reason(self) -> str:
        """Why the threshold stands where it stands: what came from outside, and how the budget is spent."""
        return "; ".join([*self._changes, self._why()])

    def status(self) -> dict[str, Any]:
        """Where the budget stands, for people."""
        return {
            "budget": self.budget.text,
            "documents": self._documents,
            "alerts": self._alerts,
            "needed_p_value": None if self.budget.kind == "threshold" else round(self.needed_p_value(), 6),
            "fill": None if self.budget.kind == "threshold" else round(self._tokens / self._capacity(), 4),
            "strictness": self.strictness,
            "reason": self.reason(),
            "history": [record.told() for record in self._history[-30:]],
        }

    def _record(self, force: bool, reason: str | None = None) -> None:
        at = self._documents / UNTIMED_DAY_DOCUMENTS if self._clock is None else self._clock / DAY_SECONDS
        if not force and at < self._recorded_at + 1.0:
            return
        if not force:
            self._recorded_at = at
        needed = 0.0 if self.budget.kind == "threshold" else self.needed_p_value()
        fill = 0.0 if self.budget.kind == "threshold" else self._tokens / self._capacity()
        why = reason or self._why()
        self._history.append(ThresholdRecord(self._clock, self._documents, self._alerts, needed, round(fill, 4), why))
        del self._history[:-MAX_HISTORY_RECORDS]

    def _why(self) -> str:
        if self.budget.kind == "threshold":
            moved = "" if self.strictness == 1.0 else ", moved by feedback"
            now = fixed_threshold(self.budget, self.strictness)
            return f"the threshold is fixed at {self.budget.amount:.4g}" + (moved and f"{moved} to {now:.4g}")
        per_day = self._recent_documents / self._recent_days
        rate = f"about {per_day:,.0f} documents per day" if self._clock is not None else "a stream without times"
        if self._tokens < 1.0:
            return f"raised: the budget of {self.budget.text} is spent for now ({rate})"
        needed, rest = self.needed_p_value(), min(1.0, self._base())
        if self._most_share() < min(rest, 1.0) and needed == self._most_share():
            return f"raised: of the first documents only the most novel {_share(needed)} are told, whatever the budget"
        if needed >= 1.0:
            return f"lowered: the budget of {self.budget.text} pays for every document ({rate})"
        # Within a quarter of its point of rest the threshold moves with every alert, which needs no reason.
        if needed < rest / 1.25:
            return (
                f"raised to {_share(needed)} from {_share(rest)} at rest: more novelty than the budget of "
                f"{self.budget.text} pays for ({rate})"
            )
        if needed > rest * 1.25:
            return (
                f"lowered to {_share(needed)} from {_share(rest)} at rest: budget of {self.budget.text} left ({rate})"
            )
        return f"at rest: {self.budget.text} of {rate}"

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """Everything, as a flat dict of JSON values."""
        return {
            "budget": asdict(self.budget),
            "floor": None if math.isinf(self.floor) else self.floor,
            "strictness": self.strictness,
            "tokens": self._tokens,
            "clock": self._clock,
            "grain": self._grain,
            "behind": self._behind,
            "documents": self._documents,
            "alerts": self._alerts,
            "recent_documents": self._recent_documents,
            "recent_days": self._recent_days,
            "recorded_at": None if math.isinf(self._recorded_at) else self._recorded_at,
            "history": [record.told() for record in self._history],
            "changes": self._changes,
            "pending_changes": self._pending_changes,
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        floor = state["floor"]
        keeper = cls(Budget(**state["budget"]), float("-inf") if floor is None else floor)
        keeper.strictness = state["strictness"]
        for name in ("tokens", "clock", "grain", "behind", "documents", "alerts", "recent_documents", "recent_days"):
            setattr(keeper, f"_{name}", state[name])
        keeper._recorded_at = float("-inf") if state["recorded_at"] is None else state["recorded_at"]
        keeper._history = [ThresholdRecord(**record) for record in state["history"]]
        keeper._changes, keeper._pending_changes = list(state["changes"]), list(state["pending_changes"])
        return keeper


def _number(novelty: float) -> float:
    return float("-inf") if novelty != novelty else float(novelty)


def _odds(part: float) -> float:
    return part / (1.0 - part)


def _share(p: float) -> str:
    return f"{100 * p:.2g} %" if p < 0.1 else f"{100 * p:.0f} %"
