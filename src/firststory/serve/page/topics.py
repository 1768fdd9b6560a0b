"""Topics: what the stream speaks of, and how that moved; one topic with its words, its descent and its documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from firststory.digest.topic_words import earlier, topic_name
from firststory.harmless import harmless
from firststory.records import Topic
from firststory.serve.page.charts import Spark, spark
from firststory.serve.page.clock import Clock
from firststory.serve.page.line_names import shared_of, told_apart
from firststory.serve.page.numbers import sentence
from firststory.serve.page.ranges import LENGTHS, names
from firststory.serve.page.story import DOCUMENTS, MORE_DOCUMENTS
from firststory.store.store import Store

RANGES = names("7d", "30d", "90d")
BANDS = 8
MOST_STEPS = 400
MOST_POINTS = 60
"""Points of the river: more are thinned out."""
KINDS = {
    "born": "Born",
    "grown": "Grown to a topic",
    "split": "Split off",
    "merged": "Merged",
    "faded": "Faded",
    "changed": "Changed its words",
}
History = Sequence[tuple[int, datetime | None, tuple[Topic, ...]]]


@dataclass(frozen=True, slots=True)
class Row:
    """A topic in the table."""

    topic: Topic
    name: str
    colour: int
    """Of its band in the river; 0 where it has none."""
    spark: Spark
    before: float | None
    born: datetime | None
    words_then: str
    words_now: str


def topics_facts(store: Store, clock: Clock, chosen: str) -> dict[str, Any]:
    """The river and the table."""
    history = _within(store.topic_history(limit=MOST_STEPS), clock.now - LENGTHS[chosen][2])
    _, now, current = history[-1] if history else (0, None, ())
    bands = _bands(history)
    colours = _colours(history, bands)
    called = _called(store, [*bands, *(topic.id for topic in current)])
    return {
        "rows": [_row(topic, history, colours, called) for topic in current],
        "river": _river(clock, history, bands, colours, called),
        "earlier": sentence(earlier(current[0], now)) if current else "",
        "since": history[0][1] if history else None,
        "until": now,
        "ranges": RANGES,
        "chosen": chosen,
        "settings": store.settings(),
        "n_documents": store.status()["documents"] if not history else 0,
    }


def _called(store: Store, topics: Sequence[str]) -> dict[str, str]:
    """Topics that are storylines bear their names, as everywhere on the page; others are called by their words."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(topics):
        line = store.storyline(store.current_storyline(name))
        if line is not None and (shared := shared_of(store, line)):
            found[name] = told_apart(shared, line, found.values())
    return found


def _within(history: History, since: datetime) -> History:
    kept = [one for one in history if one[1] is None or one[1] >= since]
    return kept or history[-1:]


def _bands(history: History) -> list[str]:
    """The topics of the river: those with most share in the range and now, so that what heads the table is in it."""
    mass: dict[str, float] = {}
    for _, _, topics in history:
        for topic in topics:
            mass[topic.id] = mass.get(topic.id, 0.0) + topic.share / len(history)
    for topic in history[-1][2] if history else ():
        mass[topic.id] += topic.share
    return sorted(mass, key=lambda name: (-mass[name], name))[:BANDS]


def _colours(history: History, bands: Sequence[str]) -> dict[str, int]:
    """The accent, number 6, is that of the topic that grows most."""
    if not history or not bands:
        return {}
    shares = [{topic.id: topic.share for topic in topics} for _, _, topics in history]
    third = max(len(shares) * 2 // 3 - 1, 0)

    def grown(name: str) -> float:
        return shares[-1].get(name, 0.0) - shares[third].get(name, 0.0)

    most = max(bands, key=grown)
    others = iter([n for n in range(1, BANDS + 1) if n != 6])
    return {name: 6 if name == most else next(others) for name in bands}


def _row(topic: Topic, history: History, colours: dict[str, int], called: dict[str, str]) -> Row:
    values = [next((one.share for one in topics if one.id == topic.id), 0.0) for _, _, topics in history]
    if len(values) < 3:
        values = list(topic.trend)
    then = next((one for _, _, topics in history for one in topics if one.id == topic.id), topic)
    return Row(
        topic=topic,
        name=called.get(topic.id) or sentence(topic_name(topic)),
        colour=colours.get(topic.id, 0),
        spark=spark(values[-MOST_POINTS:]),
        before=topic.share_before,
        born=topic.since,
        words_then=_words(then),
        words_now=_words(topic),
    )


def _words(topic: Topic) -> str:
    return harmless(", ".join(term for term, _ in topic.terms[:5]), 120)


def _river(
    clock: Clock, history: History, bands: Sequence[str], colours: dict[str, int], called: dict[str, str]
) -> dict[str, Any] | None:
    """What the script draws: one share per band and moment."""
    timed = [one for one in history if one[1] is not None]
    if len(timed) < 3 or not bands:
        return None
    every = max(1, -(-len(timed) // MOST_POINTS))
    shown = [one for n, one in enumerate(timed) if (len(timed) - 1 - n) % every == 0]
    latest = {topic.id: topic for _, _, topics in history for topic in topics}
    shares = {name: _shares(name, shown) for name in bands}
    told = [topic for _, _, topics in history for topic in topics]
    largest = {name: max((one for one in told if one.id == name), key=_share) for name in bands}
    return {
        "times": [(time or clock.now).isoformat() for _, time, _ in shown],
        "bands": [
            {
                "name": called.get(name) or sentence(topic_name(latest[name])),
                "short": _short(largest[name], called.get(name, "")),
                "shorter": _first_word(largest[name]),
                "colour": colours[name],
                "shares": [round(100 * share, 2) for share in shares[name]],
            }
            for name in bands
        ],
    }


def _short(topic: Topic, called: str) -> str:
    """What stands in its band: its name where it spoke of that when it was largest, else what it spoke of then."""
    first = called.partition(" and ")[0].partition(":")[0]
    if first and set(first.casefold().split()) <= _spoken(topic):
        return harmless(first, 24)
    return _first_word(topic)


def _spoken(topic: Topic) -> set[str]:
    return {word for phrase in (*topic.label, *dict(topic.terms)) for word in phrase.casefold().split()}


def _first_word(topic: Topic) -> str:
    """What stands in a band that is too narrow for its name."""
    return sentence(harmless(next(iter(topic.label or [term for term, _ in topic.terms]), topic.id), 24))


def _share(topic: Topic) -> float:
    return topic.share


def _shares(name: str, shown: History) -> list[float]:
    """The share of a topic over the shown moments; between those that tell it, its own trend fills in."""
    found = []
    for _, _, topics in shown:
        told = next((one.share for one in topics if one.id == name), None)
        found.append(told)
    known = [n for n, share in enumerate(found) if share is not None]
    first = known[0] if known else 0
    topic = next((one for one in shown[first][2] if one.id == name), None)
    if topic is not None and len(topic.trend) > 1:  # before it was a topic its storyline had a share already
        for back, share in enumerate(reversed(topic.trend[:-1]), 1):
            if first - back >= 0:
                found[first - back] = share
    return [share or 0.0 for share in found]


def topic_facts(store: Store, clock: Clock, name: str, before: int | None) -> dict[str, Any] | None:
    """One topic: words now and then, what happened to it, and its documents where it is a storyline."""
    history = store.topic_history(limit=MOST_STEPS)
    own = [
        (time, next(one for one in topics if one.id == name))
        for _, time, topics in history
        if any(one.id == name for one in topics)
    ]
    events = store.topic_events(name)
    if not own and not events:
        return None
    line = store.storyline(store.current_storyline(name))
    limit = MORE_DOCUMENTS if before else DOCUMENTS
    documents = () if line is None else store.brought_by("storyline", line.id, limit=limit + 1, before=before)
    shown = documents[:limit]
    first, last = (own[0], own[-1]) if own else (None, None)
    is_now = bool(history) and bool(own) and own[-1][0] == history[-1][1]
    return {
        "name": _called(store, [name]).get(name) or (sentence(topic_name(last[1])) if last else name),
        "topic": last[1] if last else None,
        "is_now": is_now,
        "words": _compared(first[1], last[1]) if first and last else [],
        "first_time": first[0] if first else None,
        "last_time": last[0] if last else None,
        "spark": spark(last[1].trend) if last else None,
        "events": events,
        "kinds": KINDS,
        "descent": descent(store, name, last[1] if last else None),
        "line": line,
        "documents": shown,
        "next_documents": shown[-1].number if shown and len(documents) > len(shown) else None,
        "names": _names(history),
    }


def _compared(then: Topic, now: Topic) -> list[tuple[str, float | None, float | None]]:
    """Words with their weight then and now, heaviest now first."""
    before, after = dict(then.terms), dict(now.terms)
    words = [*after, *(word for word in before if word not in after)]
    return [(harmless(word, 40), before.get(word), after.get(word)) for word in words[:10]]


def _names(history: History) -> dict[str, str]:
    return {topic.id: sentence(topic_name(topic)) for _, _, topics in history for topic in topics}


def descent(store: Store, name: str, topic: Topic | None) -> dict[str, Any] | None:
    """Where a topic came from and what merged into it, as nodes and links; None where nothing did."""
    names = _names(store.topic_history(limit=MOST_STEPS))
    links = []
    for event in store.topic_events(limit=2000):
        if event.topic != name and name not in event.others:
            continue
        if event.kind == "split" and event.others:
            links.append((event.others[0], event.topic, event.weight))
        elif event.kind == "merged" and event.others:
            links.append((event.topic, event.others[0], event.weight))
    links = [
        (a, b, weight)
        for n, (a, b, weight) in enumerate(links)
        if a != b and (a, b) not in {one[:2] for one in links[:n]} and (b, a) not in {one[:2] for one in links[:n]}
    ]
    if not links:
        return None
    nodes = list(dict.fromkeys(one for a, b, _ in links for one in (a, b)))
    return {
        "nodes": [{"id": one, "name": names.get(one, one), "is_this": one == name} for one in nodes],
        "links": [{"from": a, "to": b, "weight": round(max(weight, 0.01), 4)} for a, b, weight in links],
    }
