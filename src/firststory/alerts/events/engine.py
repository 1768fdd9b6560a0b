"""`EventAlerts`: the documents of a step in, alerts out. One clustering: evidence is counted by the story of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from firststory.alerts.budget import Budget
from firststory.alerts.events.clock import AlertClock
from firststory.alerts.events.confirmed import KIN_DAYS, KIN_STRENGTH, LEAST_SCORE, WARM_UP_DAYS, goes_on, least_score
from firststory.alerts.events.document import EventDocument, SlimDocument
from firststory.alerts.events.echo import features
from firststory.alerts.events.evidence import TOLD_WATCHES, gather
from firststory.alerts.events.first_seen import FirstSeen
from firststory.alerts.events.held_back import ALREADY_ALERTED, BELOW_PRICE, CEILING_SPENT, WARMING_UP, HeldBack
from firststory.alerts.events.ladder import Ceiling, Ladder
from firststory.alerts.events.link_threshold import LinkThreshold
from firststory.alerts.events.links import LinkIndex, Proof, nothing_found
from firststory.alerts.events.memory import EventMemory
from firststory.alerts.events.rows import step_rows
from firststory.alerts.events.running import RunningStories, RunningStory
from firststory.alerts.events.sentences import first_report, told_by, turned
from firststory.alerts.events.turn import CHOICE_COST, FALSE_TURNS, Turns
from firststory.alerts.events.voices import Voices
from firststory.alerts.events.writer import AlertWriter, title_of
from firststory.arrays import Floats, Ints
from firststory.errors import ParameterError
from firststory.harmless import harmless
from firststory.kernels.alerts.layout import Found, Rule, StepRows
from firststory.kernels.alerts.turn import LEAST_BACKGROUND, SILENT_WATCH_SHARE
from firststory.lineage import standing
from firststory.records import Alert
from firststory.state import State
from firststory.units import DAY_SECONDS

MAX_TURN_TERMS = 5
MAX_TERM_CHARACTERS = 60
INDEX_DAYS = 8.0
"""A day of watching and a week of background."""
LATEST_SOURCES = 64
"""Documents whose sources are looked at first: where several sources are among them, the others need not be."""


class EventAlerts:
    """Confirmed events, turns of running stories, first reports.

    Parameters
    ----------
    ceiling : Budget or number of alerts per day
        Never more than this many confirmed events and turns in any 24 hours; as many first reports, which are quiet.
        A share is a share of the documents of a day; a budget that is a fixed threshold sets no ceiling.
    false_alerts : float
        Alerts per day that chance alone may bring.
    families : source -> family
        Sources that are one voice ("CNN Politics": "CNN").
    max_documents : int
        Documents that are remembered at most, besides the bound of eight days.
    """

    def __init__(
        self,
        ceiling: Budget | float = 20.0,
        false_alerts: float = 1.0,
        families: Mapping[str, str] | None = None,
        max_documents: int = 20_000,
    ) -> None:
        self.ceiling = ceiling if isinstance(ceiling, Budget) else Budget("rate", float(ceiling), f"{ceiling:g}/day")
        self.false_alerts = _checked(false_alerts)
        self.max_documents = max_documents
        self._voices = Voices(families)
        self._clock = AlertClock()
        self._index = LinkIndex()
        self._threshold = LinkThreshold()
        self._memory = EventMemory()
        self._running = RunningStories()
        self._pushed, self._ladder = Ceiling(), Ladder()
        self._turns = Turns()
        self._first_seen = FirstSeen()
        self._held = HeldBack()
        self._per_day = self._opened_per_day = 20.0
        self._writer = AlertWriter(self._memory, self._clock)

    def change(self, ceiling: Budget, false_alerts: float, families: Mapping[str, str]) -> None:
        """Other settings from now on; what was counted stays."""
        self.ceiling, self.false_alerts = ceiling, _checked(false_alerts)
        self._voices.families = dict(families)

    @property
    def link_threshold(self) -> float:
        """The similarity from which on two documents of this stream tell of one thing; learnt from the stream."""
        return self._threshold.value

    def remembered(self, ids: Sequence[str]) -> list[SlimDocument]:
        """What is kept of the documents with these ids, of those that are remembered."""
        places = [self._memory.ordinal_of[name] for name in ids if name in self._memory.ordinal_of]
        return [self._memory.documents[place] for place in places]

    # -- a step --------------------------------------------------------------------------------------------

    def observe(self, documents: Sequence[EventDocument]) -> list[Alert]:
        """The documents of a step, in order; the alerts that they fire."""
        new = [one for one in documents if one.duplicate_of is None and len(one.columns)]
        if not new:
            self._memory.note_duplicates(documents)
            return []
        clock = self._arrivals(new)
        sources = self._voices.numbers([one.document for one in new])
        self._decide_voices(sources)
        rows = self._rows(new, clock, sources)
        self._memory.note_duplicates(documents)
        found, alerts = nothing_found(len(new)), list[Alert]()
        begin, first = self._index.next, 0
        # Once per step: where the kernel stops in between depends on the room that its arrays happen to have.
        self._first_seen.learn(float(clock[0]), self._index)
        is_warm = self._first_seen.is_warm(self._days(float(clock[0])), begin)
        day = self._day_seconds()
        while first < len(new):
            rule = self._rule(float(clock[-1]), day)
            done = self._index.follow(rows, first, rule, self._threshold.arrays, found)
            openers = self._openers(new, first, done, clock, found, is_warm=is_warm)
            # Most documents bring nothing.
            tells = (found.score[first:done] >= LEAST_SCORE) | (found.turn_score[first:done, 0] > CHOICE_COST)
            places = first + np.flatnonzero(tells)
            times = dict(zip(places.tolist(), clock[places].tolist(), strict=True))
            for i in sorted([*openers, *times]):
                if i in times:
                    alerts += self._consider(i, new[i], begin + i, times[i], found, rule)
                else:
                    alerts += self._consider_opener(new[i], begin + i, *openers[i])
            first = done
        self._per_day, self._opened_per_day = float(found.per_day[-1]), float(found.opened_per_day[-1])
        self._forget()
        return alerts

    def end_step(self, merged: Mapping[str, str], fired: Sequence[Alert] = ()) -> list[Alert]:
        """Stories that went into others, by the story that each went into; the alerts of the step that stand.

        An event that was told as two stories is alerted once: of a story that went into one alerted before, the alert
        is held back.
        """
        stands = self._once_each(merged, fired) if merged else list(fired)
        self._memory.merge(merged, self._index)
        self._turns.formats.merge(merged)
        for story in merged:
            self._held.remove(story)
        self._running.merge(merged)
        return stands

    def _once_each(self, merged: Mapping[str, str], fired: Sequence[Alert]) -> list[Alert]:
        new = {alert.story for alert in fired if alert.kind == "confirmed"}
        if not new:
            return list(fired)
        # Of all stories that were alerted before, those that a new one may be part of now.
        near = {*merged, *(standing(story, merged) for story in new if story is not None)} - new
        told = {standing(story, merged) for story in near if self._was_alerted(story)}
        stands = []
        for alert in fired:
            if alert.kind == "confirmed" and alert.story is not None:
                story = standing(alert.story, merged)
                if story in told:
                    self._held.add(story, self._clock.now, ALREADY_ALERTED)
                    continue
                told.add(story)
            stands.append(alert)
        return stands

    def _was_alerted(self, story: str) -> bool:
        one = self._running.get(story)
        return one is not None and one.fired is not None

    def _arrivals(self, new: Sequence[EventDocument]) -> Floats:
        seconds = [one.seconds for one in new]
        if not self._clock.is_timed and self._index.next:
            first = next((one for one in seconds if one is not None), None)
            if first is not None:
                self._index.born += self._clock.shift_to(first)
        return self._clock.arrivals(seconds)

    def _decide_voices(self, sources: Ints) -> None:
        """How voices are counted, by the sources of the remembered documents and of those that come now."""
        index = self._index
        latest = max(index.oldest, index.next - LATEST_SOURCES)
        self._voices.decide(
            np.concatenate([index.sources(latest, index.next), sources]), lambda: index.sources(index.oldest, latest)
        )

    def _rows(self, new: Sequence[EventDocument], clock: Floats, sources: Ints) -> StepRows:
        settled, alerted = np.zeros(len(new), np.bool_), np.full(len(new), -math.inf)
        for i, one in enumerate(new):
            record = self._running.get(one.story)
            if record is not None:
                settled[i], alerted[i] = record.fired is not None, record.last_alert
        return step_rows(new, clock, sources, self._memory.add(new, self._index.next), settled, alerted)

    def _day_seconds(self) -> float:
        """Where the documents that fit into memory do not reach back eight days, all times shrink with them."""
        index = self._index
        if len(index) < self.max_documents:
            return DAY_SECONDS
        reach = self._clock.now - float(index.born[index.oldest % len(index.born)])
        return min(DAY_SECONDS, max(reach, 1.0) / INDEX_DAYS)

    def _rule(self, end: float, day: float) -> Rule:
        ceiling = self._ceiling_per_day()
        # The prices fall until the step's end, as alerts of the day before expire: the kernel may be too careful.
        has_room = self._pushed.has_room(end, ceiling)
        return Rule(
            max_documents=self.max_documents,
            index_seconds=INDEX_DAYS * DAY_SECONDS,
            watch_seconds=self._clock.watch_days * day,
            least_watch_seconds=self._clock.least_watch_days * day,
            day_seconds=day,
            by_text=self._voices.by_text,
            false_alerts=self.false_alerts,
            # The choice of the term costs a factor of ten.
            false_turns=FALSE_TURNS * self.false_alerts / 10.0**CHOICE_COST,
            price=self._price(end) if has_room else np.inf,
            turn_price=self._turns.price(end, ceiling) if has_room else np.inf,
            told_seconds=max(TOLD_WATCHES * self._clock.watch_days, KIN_DAYS) * DAY_SECONDS,
        )

    # -- one document --------------------------------------------------------------------------------------

    def _consider(self, i: int, one: EventDocument, ordinal: int, now: float, found: Found, rule: Rule) -> list[Alert]:
        alerts: list[Alert] = []
        score, turn = float(found.score[i]), float(found.turn_score[i, 0]) - CHOICE_COST
        story = self._running.touch(one.story, now)
        if score >= LEAST_SCORE:
            self._ladder.note(now, story.best, score)
            story.best = max(story.best, score)
            if story.fired is None and score >= least_score(float(found.opened_per_day[i]), self.false_alerts):
                reason = self._why_not(now, score)
                if reason is None:
                    alerts += self._consider_confirmed(one, ordinal, now, score, int(found.voices[i]), story, rule)
                else:
                    self._held.add(one.story, now, reason)
        if turn > 0.0:
            alerts += self._consider_turn(i, one, ordinal, now, found, story, rule)
        return alerts

    def _ceiling_per_day(self) -> float | None:
        kind, amount = self.ceiling.kind, self.ceiling.amount
        if kind == "rate":
            return amount
        return amount * self._per_day if kind == "share" else None

    def _price(self, now: float) -> float:
        """The score that the ladder asks for; dearer as the ceiling is spent."""
        per_day = self._ceiling_per_day()
        return self._ladder.price(now, per_day, self._pushed.spent(now, per_day))

    def _days(self, now: float) -> float:
        return 0.0 if self._clock.begun is None else (now - self._clock.begun) / DAY_SECONDS

    def _openers(
        self, new: Sequence[EventDocument], first: int, done: int, clock: Floats, found: Found, *, is_warm: bool
    ) -> dict[int, tuple[float, float, float]]:
        """When the documents came that nothing earlier is like, the chance that others follow, and how novel they are.

        None in the warm-up: of those it is only learnt whether others follow.
        """
        places = first + np.flatnonzero(found.is_opener[first:done])
        if not len(places):
            return {}
        openers, times, begin = places.tolist(), clock[places].tolist(), self._index.next - done
        novelties, rows = (1.0 - found.nearest[places]).tolist(), list[list[int]]()
        for i, now, novelty in zip(openers, times, novelties, strict=True):
            document = new[i].document
            rows.append(features(title_of(document), document.source, novelty))
            self._first_seen.wait(now, begin + i, rows[-1])
        if not is_warm:
            return {}
        chances = self._first_seen.chance.probabilities(rows)
        return dict(zip(openers, zip(times, chances, novelties, strict=True), strict=True))

    def _consider_opener(
        self, one: EventDocument, ordinal: int, now: float, chance: float, novelty: float
    ) -> list[Alert]:
        rank = self._first_seen.consider(now, chance, novelty, self._ceiling_per_day())
        return [] if rank is None else [self._first_report(one, ordinal, now, chance, rank)]

    def _first_report(self, one: EventDocument, ordinal: int, now: float, chance: float, rank: float) -> Alert:
        writer = self._writer
        first = writer.document(ordinal)
        sentence = first_report(chance, first, self._clock.is_dated)
        return writer.write(
            "first_seen", one.story, [ordinal], first=first, headline=first, now=now, score=rank, terms=(),
            sentence=sentence,
        )  # fmt: skip

    def _why_not(self, now: float, score: float) -> str | None:
        """Why an event that passed the test is not alerted; None where it is."""
        if self._days(now) < WARM_UP_DAYS:
            return WARMING_UP
        if score < self._price(now):
            return BELOW_PRICE
        return None if self._pushed.has_room(now, self._ceiling_per_day()) else CEILING_SPENT

    def _consider_confirmed(
        self, one: EventDocument, ordinal: int, now: float, score: float, voices: int, story: RunningStory, rule: Rule
    ) -> list[Alert]:
        proof = self._proof(ordinal, rule)
        if goes_on(proof, one.story, ordinal, rule.watch_seconds, self._index, self._memory, self._running):
            self._held.add(one.story, now, ALREADY_ALERTED)
            return []
        event = gather(self._index, self._memory, ordinal, rule.watch_seconds, proof)
        self._held.remove(one.story)
        story.fired = now
        self._pushed.spend(now)
        writer, by_text = self._writer, self._voices.by_text or not len(self._voices)
        first = writer.document(event.first)
        within = writer.span(first, ordinal - event.first, now)
        sentence = told_by(voices, by_text, within, first, self._clock.is_dated)
        return [
            writer.write(
                "confirmed", one.story, sorted({event.first, *event.core}), first=first,
                headline=writer.document(event.headline), now=now, score=score, terms=(), sentence=sentence,
            )
        ]  # fmt: skip

    def _proof(self, ordinal: int, rule: Rule) -> Proof:
        told, kin = TOLD_WATCHES * rule.watch_seconds, KIN_DAYS * DAY_SECONDS
        return self._index.proof(ordinal, rule.watch_seconds, told, kin, KIN_STRENGTH)

    def _consider_turn(
        self,
        i: int,
        one: EventDocument,
        ordinal: int,
        now: float,
        found: Found,
        story: RunningStory,
        rule: Rule,
    ) -> list[Alert]:
        if story.fired is None and found.background[i] < LEAST_BACKGROUND:
            return []
        silent = SILENT_WATCH_SHARE * rule.watch_seconds
        if now - story.last_alert <= silent:
            return []
        ceiling = self._ceiling_per_day()
        least = least_score(float(found.opened_per_day[i]), FALSE_TURNS * self.false_alerts)
        new = self._turns.consider(i, found, one.story, story, now, least, ceiling)
        if not new or self._days(now) < WARM_UP_DAYS or not self._pushed.has_room(now, ceiling):
            return []
        # What people are not shown, a stop word, turns nothing.
        surfaces = one.surfaces()
        new = [term for term in new if term.column in surfaces]
        if not new:
            return []
        event = gather(self._index, self._memory, ordinal, rule.watch_seconds, self._proof(ordinal, rule))
        capacity, term = len(self._index.born), new[0].column
        recent = [j for j in event.core if now - self._index.born[j % capacity] <= silent]
        using = [j for j in recent if term in self._index.named(j)]
        story.turned = now
        story.note_turn([term.column for term in new])
        self._turns.ceiling.spend(now)
        self._pushed.spend(now)
        headline = event.headline if event.headline in using else using[-1]
        terms = tuple([_shown(surfaces[term.column]) for term in new[:MAX_TURN_TERMS]])
        writer = self._writer
        first = writer.document(using[0])
        within = writer.span(first, ordinal - using[0], now)
        sentence = turned(terms, new[0].voices, self._voices.by_text, within, first, self._clock.is_dated)
        return [
            writer.write(
                "turn", one.story, recent, first=first, headline=writer.document(headline), now=now,
                score=new[0].score, terms=terms, sentence=sentence,
            )
        ]  # fmt: skip

    # -- memory --------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        oldest = self._index.oldest
        self._memory.forget(oldest)
        now = self._clock.now
        self._held.forget(now)
        self._running.forget(now, self.max_documents)
        if len(self._voices) > 2 * self.max_documents + 1000:
            living = np.arange(oldest, self._index.next) % len(self._index.born)
            self._index.source[living] = self._voices.forget(self._index.source[living])

    def columns_in_use(self) -> Ints:
        """The columns that a remembered document has, and those that name formats."""
        extra = [c for one in self._running.values() for c in one.turn_terms] + self._turns.formats.columns()
        return np.union1d(self._index.columns_in_use(), np.array(extra, dtype=np.int64))

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that goes."""
        self._index.renumber(new)
        self._running.renumber(new)
        self._turns.formats.renumber(new)

    # -- status and state ----------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """Where the alerts stand, as JSON values."""
        now, per_day = self._clock.now, self._ceiling_per_day()
        spent = self._pushed.spent(now, per_day)
        days = self._days(now)
        turns = self._turns.ceiling.spent(now, per_day)
        return {
            "ceiling": self.ceiling.text,
            "ceiling_per_day": per_day,
            "false_alerts": self.false_alerts,
            "fired_last_day": {
                "confirmed": spent - turns,
                "turn": turns,
                "first_seen": self._first_seen.ceiling.spent(now, per_day),
            },
            "held_back_last_day": self._held.counts(),
            "least_score": round(least_score(self._opened_per_day, self.false_alerts), 2),
            "price": round(self._price(now), 2),
            "link_threshold": round(self._threshold.value, 2),
            "link_threshold_is_learnt": self._threshold.is_learnt,
            "warm_up": None if days >= WARM_UP_DAYS else f"{days:.2g} of {WARM_UP_DAYS:g} days seen",
            "first_seen_warm_up": self._first_seen.missing(days, self._index.next),
            "voices": self._voices.in_words(),
            "documents_per_day": round(self._per_day, 1),
            "documents_remembered": len(self._index),
        }

    def get_state(self) -> State:
        """Everything that the future depends on."""
        return {
            "settings": {
                "ceiling": [self.ceiling.kind, self.ceiling.amount, self.ceiling.text, self.ceiling.bucket],
                "false_alerts": self.false_alerts,
                "max_documents": self.max_documents,
            },
            "voices": self._voices.get_state(),
            "clock": self._clock.get_state(),
            "index": self._index.get_state(),
            "threshold": self._threshold.get_state(),
            "memory": self._memory.get_state(),
            "running": self._running.get_state(),
            "pushed": list(self._pushed.fired),
            "ladder": self._ladder.get_state(),
            "turns": self._turns.get_state(),
            "first_seen": self._first_seen.get_state(),
            "held": self._held.get_state(),
            "per_day": [self._per_day, self._opened_per_day],
            "n_alerts": self._writer.n_alerts,
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        settings = state["settings"]
        kind, amount, text, bucket = settings["ceiling"]
        alerts = cls(Budget(kind, amount, text, bucket), settings["false_alerts"], None, settings["max_documents"])
        alerts._voices = Voices.from_state(state["voices"])
        alerts._clock = AlertClock.from_state(state["clock"])
        alerts._index = LinkIndex.from_state(state["index"])
        alerts._threshold = LinkThreshold.from_state(state["threshold"])
        alerts._memory = EventMemory.from_state(state["memory"])
        alerts._running = RunningStories.from_state(state["running"])
        alerts._pushed.fired.extend(state["pushed"])
        alerts._ladder = Ladder.from_state(state["ladder"])
        alerts._turns = Turns.from_state(state["turns"])
        alerts._first_seen = FirstSeen.from_state(state["first_seen"])
        alerts._held = HeldBack.from_state(state["held"])
        alerts._per_day, alerts._opened_per_day = state["per_day"]
        alerts._writer = AlertWriter(alerts._memory, alerts._clock, state["n_alerts"])
        return alerts


def _checked(false_alerts: float) -> float:
    if not 0.0 < false_alerts < math.inf:
        raise ParameterError(
            owner="EventAlerts",
            parameter="false_alerts",
            allowed="a number above 0: alerts per day that chance alone may bring",
            received=false_alerts,
            remedy="Start with false_alerts=1.0.",
        )
    return float(false_alerts)


def _shown(surface: str) -> str:
    return harmless(surface.removesuffix("'s").removesuffix("’s"), MAX_TERM_CHARACTERS)
