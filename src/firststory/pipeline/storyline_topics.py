"""Topics that are storylines: what a part of the latest documents tells, from its birth on.

A storyline is a topic once `TOPIC_SHARE` of the latest documents belong to it. If most of its documents are among
these it is born; otherwise it has been told before and has grown. What falls below half of that has faded, and is the
same topic when it comes back. Topics are judged every `timestep` documents.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Self

from firststory.pipeline.past_shares import PastShares, Shares
from firststory.records import Story, Storyline, Topic, TopicEvent, TopicEventKind
from firststory.state import State
from firststory.text.phrases.found import ReadDocuments
from firststory.text.phrases.labels import WINDOW, Labelled, TopicLabels
from firststory.text.phrases.reader import PhraseReader

TOPIC_SHARE = 0.02
"""Part of the latest documents from which on a storyline is a topic: chosen by reading the births on headlines, and
counted on labelled crises (`firststory reproduce topic-births`)."""
LEAST_DOCUMENTS = 10
FADED_PART = 0.5
"""Of `TOPIC_SHARE`: a topic that has less has faded."""
BORN_PART = 0.5
"""Part of its documents that must be among the latest, for a storyline to be born and not grown."""
MAX_TOPICS = 20
"""Told at a time, the largest."""
MAX_KNOWN = 2_000
"""Topics that are remembered after they faded."""
N_TERMS, N_LABEL = 6, 3
LOOKS_PER_NAME = 3
"""Looks at a topic that keeps its size, until it is named anew."""


@dataclass(slots=True)
class Life:
    """What is remembered of a topic, shown or faded."""

    born: int
    """The step in which it became a topic."""
    since: float | None
    """When that was."""
    peak: float = 0.0
    """Its largest share."""
    is_shown: bool = True
    phrases: tuple[Labelled, ...] = ()
    """How it was named last."""
    named_by: int = 0
    """The documents that it had then."""
    looks: int = 0
    """How often it was looked at since."""

    @property
    def label(self) -> tuple[str, ...]:
        """The first phrases."""
        return tuple(phrase.text for phrase in self.phrases[:N_LABEL])

    def needs_name(self, n: int) -> bool:
        """Whether it has changed by a quarter, or half of the window has, since it was named: names take time."""
        return self.looks >= LOOKS_PER_NAME or abs(n - self.named_by) > self.named_by / 4


class StorylineTopics:
    """The storylines that make up a good part of the latest documents.

    Parameters
    ----------
    timestep : int, default=200
        Documents from one look at the topics to the next.
    window : int, default=1000
        The latest documents, of which shares are parts.
    """

    def __init__(self, timestep: int = 200, window: int = WINDOW) -> None:
        self.timestep = int(timestep)
        self.window = max(int(window), self.timestep)
        self._stories: deque[str | None] = deque(maxlen=self.window)
        """The story of each of the latest documents."""
        self._lines: dict[str, str | None] = {}
        """The storyline of each of these stories."""
        self._sizes: dict[str, int] = {}
        """Documents of each of these storylines, older ones too."""
        self._labels = TopicLabels(self.window)
        self._past = PastShares()
        self._known: dict[str, Life] = {}
        self._merged_stories: dict[str, str] = {}
        self._merged: list[tuple[str, str]] = []
        """Storylines that went into others since the topics were told."""
        self._waiting = 0

    # -- one step ------------------------------------------------------------------------------------------

    def learn(
        self, stories: Sequence[str | None], read: ReadDocuments, places: Sequence[int], languages: Sequence[str]
    ) -> None:
        """Documents have come to their stories; `read` has their phrases and `languages` theirs, each at its place."""
        self._stories.extend(stories)
        self._labels.learn(read, places, languages)
        self._waiting += len(stories)

    def follow(self, stories: Iterable[Story], storylines: Iterable[Storyline]) -> None:
        """Take in what changed in a step: which story is part of which storyline, and which became one with another."""
        for story in stories:
            self._lines[story.id] = story.storyline
            if story.merged_into:
                self._merged_stories[story.id] = story.merged_into
        for line in storylines:
            self._sizes[line.id] = line.size
            if line.merged_into:
                self._merged.append((line.id, line.merged_into))

    def report(
        self, step: int, seconds: float | None, reader: PhraseReader
    ) -> tuple[tuple[Topic, ...], tuple[TopicEvent, ...]]:
        """The topics and what happened to them, if it is time to look; nothing otherwise. `seconds` is now."""
        if self._waiting < self.timestep:
            return (), ()
        self._waiting = 0
        self._forget_old()
        tell = _Telling(step, _time(seconds))
        self._merge(tell)
        begins = not self._past
        lines = [self._lines.get(story) if story else None for story in self._stories]
        documents: dict[str, list[int]] = {}
        for place, line in enumerate(lines):
            if line is not None:
                documents.setdefault(line, []).append(place)
        now = Shares(seconds, len(lines), {line: len(places) for line, places in documents.items()})
        self._past.add(now)
        least = max(TOPIC_SHARE * len(lines), LEAST_DOCUMENTS)
        large = sorted((line for line in documents if self._is_large(line, now, least)), key=now.order)
        names = self._names({line: documents[line] for line in large}, reader)
        topics, before = [], self._past.a_month_ago()
        for line in large:
            life = self._known.get(line)
            if line in names and not names[line]:
                continue  # what no phrase names is a format or a page's furniture, and no topic
            if life is None:
                life = self._known[line] = Life(step, seconds)
                tell.begun(line, names[line][:N_LABEL], now, self._sizes.get(line, 0), begins=begins)
            if line in names:
                life.phrases, life.named_by, life.looks = names[line], now.counts[line], 0
            life.is_shown, life.peak, life.looks = True, max(life.peak, now.of(line)), life.looks + 1
            topics.append(self._topic(line, life, before))
        for line, life in self._known.items():
            if life.is_shown and now.counts.get(line, 0) < FADED_PART * least:
                life.is_shown = False
                tell.faded(line, now.of(line), life)
        return tuple(topics[:MAX_TOPICS]), tuple(tell.events)

    def _is_large(self, line: str, now: Shares, least: float) -> bool:
        """Whether a storyline is a topic: one that is already is so until it has half of what it takes."""
        life = self._known.get(line)
        is_shown = life is not None and life.is_shown
        return now.counts[line] >= (FADED_PART * least if is_shown else least)

    def _names(self, documents: Mapping[str, Sequence[int]], reader: PhraseReader) -> dict[str, tuple[Labelled, ...]]:
        """Phrases for the topics that need a name."""
        lives = {line: self._known.get(line) for line in documents}
        unnamed = [line for line, life in lives.items() if life is None or life.needs_name(len(documents[line]))]
        if not unnamed:
            return {}
        labels = self._labels.labels(reader, (documents[line] for line in unnamed), N_TERMS)
        return dict(zip(unnamed, labels, strict=True))

    def _topic(self, line: str, life: Life, before: Shares | None) -> Topic:
        trend = self._past.trend(line)
        return Topic(
            id=line,
            terms=tuple((phrase.text, round(phrase.share, 4)) for phrase in life.phrases),
            share=trend[-1],
            trend=trend,
            born=life.born,
            label=life.label,
            since=_time(life.since),
            share_before=None if before is None else before.of(line),
            before=None if before is None else _time(before.seconds),
        )

    def _merge(self, tell: _Telling) -> None:
        """A topic whose storyline went into another is that one from now on, and as old as the older of the two."""
        for gone, into in self._merged:
            self._past.merge(gone, into)
            life = self._known.pop(gone, None)
            if life is None:
                continue
            other = self._known.get(into)
            if other is not None and other.is_shown and life.is_shown:
                tell.merged(gone, into, life, other)
            self._known[into] = _older(life, other)
        self._merged = []

    def _forget_old(self) -> None:
        """What no document of the window needs; and of faded topics the oldest."""
        if self._merged_stories:
            merged, self._merged_stories = self._merged_stories, {}
            self._stories = deque([_last(merged, story) for story in self._stories], maxlen=self.window)
        present = set(self._stories)
        self._lines = {story: line for story, line in self._lines.items() if story in present}
        lines = set(self._lines.values())
        self._sizes = {line: size for line, size in self._sizes.items() if line in lines}
        faded = [line for line, life in self._known.items() if not life.is_shown and line not in lines]
        for line in faded[: max(len(self._known) - MAX_KNOWN, 0)]:
            del self._known[line]

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """All that the future depends on."""
        return {
            "timestep": self.timestep,
            "window": self.window,
            "stories": list(self._stories),
            "lines": list(self._lines.items()),
            "sizes": list(self._sizes.items()),
            "labels": self._labels.get_state(),
            "past": self._past.get_state(),
            "known": [[line, _life_state(life)] for line, life in self._known.items()],
            "merged_stories": list(self._merged_stories.items()),
            "merged": [list(pair) for pair in self._merged],
            "waiting": self._waiting,
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        made = cls(state["timestep"], state["window"])
        made._stories.extend(state["stories"])
        made._lines, made._sizes = dict(state["lines"]), dict(state["sizes"])
        made._labels = TopicLabels.from_state(state["labels"])
        made._past = PastShares.from_state(state["past"])
        for line, life in state["known"]:
            phrases = tuple(Labelled(text, share) for text, share in life["phrases"])
            made._known[line] = Life(**life | {"phrases": phrases})
        made._merged_stories = dict(state["merged_stories"])
        made._merged = [(gone, into) for gone, into in state["merged"]]
        made._waiting = state["waiting"]
        return made


class _Telling:
    """Events of one look at the topics, in words."""

    def __init__(self, step: int, time: datetime | None) -> None:
        self.step, self.time = step, time
        self.events: list[TopicEvent] = []

    def begun(self, line: str, label: Sequence[Labelled], now: Shares, size: int, *, begins: bool) -> None:
        share, n = now.of(line), now.counts[line]
        name = ", ".join(phrase.text for phrase in label)
        if begins:
            self._add("born", line, share, f"{name}: there from the start")
            return
        told = f"{name}: {n} of the latest {now.n_documents:,} documents"
        is_born = n >= BORN_PART * size
        self._add("born" if is_born else "grown", line, share, told if is_born else f"{told}, {size:,} in all")

    def faded(self, line: str, share: float, life: Life) -> None:
        self._add("faded", line, share, f"{', '.join(life.label)}: share {share:.1%}, once {life.peak:.1%}")

    def merged(self, line: str, into: str, life: Life, other: Life) -> None:
        self._add("merged", line, 0.0, f"{', '.join(life.label)}: now part of {', '.join(other.label)}", (into,))

    def _add(self, kind: TopicEventKind, line: str, weight: float, why: str, others: tuple[str, ...] = ()) -> None:
        self.events.append(TopicEvent(self.step, kind, line, others, round(weight, 6), why, self.time))


def _last(merged: Mapping[str, str], story: str | None) -> str | None:
    while story is not None and story in merged:
        story = merged[story]
    return story


def _older(one: Life, other: Life | None) -> Life:
    if other is None:
        return one
    first = min(one, other, key=lambda life: life.born)
    is_shown = one.is_shown or other.is_shown
    return replace(other, born=first.born, since=first.since, peak=max(one.peak, other.peak), is_shown=is_shown)


def _life_state(life: Life) -> State:
    return asdict(life) | {"phrases": [list(phrase) for phrase in life.phrases]}


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, tz=UTC)
