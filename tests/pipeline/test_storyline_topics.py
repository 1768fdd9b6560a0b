"""Topics that are storylines: a great event is born once, with its name and date; numbers are the store's."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import firststory as fs
from firststory.pipeline.build import build_core
from firststory.pipeline.storyline_topics import StorylineTopics
from firststory.records import Batch, Document
from firststory.settings import load
from firststory.state import pack_state, unpack_state
from firststory.store.store import Store
from firststory.text.language import stop_words

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
BURST, N = 900, 1800
RUNNING = [
    "parliament votes on the budget as the minister defends tax plans before the {} committee",
    "the striker scored for {} and the league leaders won the match in the last minute",
    "shares of {} fell on the exchange after the central bank raised its interest rate",
    "doctors in the {} hospital report that the vaccine trial helped patients with malaria",
]
EVENT = [
    "Volcano erupts on Mount Kasari and villages near the {} river are evacuated",
    "Thousands flee as Mount Kasari volcano erupts; ash closes the {} airport",
    "Lava from the Mount Kasari volcano reaches {} and the ash cloud grows",
]
NAMES = [
    f"{first}{last}" for first in ("Bel", "Cor", "Dun", "Far", "Gal", "Hov") for last in ("ford", "mere", "wick", "ton")
]


def stream(n=N, timed=True):
    """A third tells of what always runs, from BURST on a third of the event, the rest of anything."""
    rng = np.random.default_rng(5)
    documents = []
    for i in range(n):
        kind = rng.random()
        text = " ".join(f"{name.lower()}{rng.integers(100, 999)}" for name in rng.choice(NAMES, 8))
        if kind < 0.35:
            text = f"{str(rng.choice(RUNNING)).format(rng.choice(NAMES))} {text[:10]}"
        elif kind < 0.7 and i >= BURST:
            text = f"{str(rng.choice(EVENT)).format(rng.choice(NAMES))} {text[:10]}"
        time = BEGIN + timedelta(hours=i) if timed else None
        documents.append(Document(f"d{i}", text, time, source=f"paper {i % 7}"))
    return documents


QUICK = {"detector": "neighbour", "language": "en", "step": 50, "topics": "storylines", "save_every": 3}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("topics") / "news.db"
    with fs.Monitor(store=path, **QUICK) as monitor:
        list(monitor.watch(stream()))
    return path


def about_the_event(events):
    return [event for event in events if "Kasari" in event.evidence]


def test_a_burst_among_running_topics_is_born_once_with_its_name_and_date(filled):
    with Store(f"sqlite:///{filled}") as store:
        births = [event for event in about_the_event(store.topic_events()) if event.kind in ("born", "grown")]
        topics = store.topics()
    assert [event.kind for event in births] == ["born"]
    began = BEGIN + timedelta(hours=BURST)
    assert began < births[0].time <= began + timedelta(hours=200)
    (topic,) = [topic for topic in topics if topic.id == births[0].topic]
    assert topic.label[0] == "Mount Kasari" and 1 < len(topic.label) <= 3
    assert topic.since == births[0].time and topic.born == births[0].step
    assert topic.share_before == 0.0 or topic.before >= began


def test_what_runs_from_the_start_is_not_born_later(filled):
    with Store(f"sqlite:///{filled}") as store:
        events = [event for event in store.topic_events() if event.kind == "born" and "Kasari" not in event.evidence]
    assert events and all(event.time <= BEGIN + timedelta(hours=800) for event in events)


def test_shares_are_those_of_the_store(filled):
    with Store(f"sqlite:///{filled}") as store:
        (_, _, topics) = store.topic_history(limit=1)[-1]
        line = {story.id: story.storyline for story in store.stories(merged=True)}
        told = [one for one in store.verdicts() if one.duplicate_of is None]
    assert len(told) == N  # the last look is at the last document
    counts = Counter(line[one.story] for one in told[-1000:])
    assert topics and [topic.share for topic in topics] == [counts[topic.id] / 1000 for topic in topics]
    assert sorted((topic.share for topic in topics), reverse=True) == [topic.share for topic in topics]
    month_ago = [one for one in told if one.document.time <= topics[0].before][-1000:]
    before = Counter(line[one.story] for one in month_ago)
    assert topics[0].before <= told[-1].document.time - timedelta(days=30)
    assert [topic.share_before for topic in topics] == [before[topic.id] / len(month_ago) for topic in topics]


def test_no_stop_word_begins_or_ends_what_is_shown(filled):
    with Store(f"sqlite:///{filled}") as store:
        shown = {term for _, _, topics in store.topic_history() for topic in topics for term, _ in topic.terms}
    ends = {word for term in shown for word in (term.lower().split()[0], term.lower().split()[-1])}
    assert shown and not ends & stop_words("en")


def steps_of(core, documents, begin=0):
    return [core.step(Batch(begin + i // 50, tuple(documents[i : i + 50]))) for i in range(0, len(documents), 50)]


def test_a_state_that_went_through_bytes_has_the_same_future():
    documents = stream(1200)
    whole = build_core(load(QUICK))
    steps = steps_of(whole, documents)
    first = build_core(load(QUICK))
    steps_of(first, documents[:950])
    again = build_core(load(QUICK))
    again.set_state(unpack_state(pack_state(first.get_state())))
    later = steps_of(again, documents[950:], begin=19)
    assert [(step.topics, step.topic_events) for step in later] == [(s.topics, s.topic_events) for s in steps[19:]]
    assert any(step.topics for step in later)
    assert pack_state(again.get_state()) == pack_state(whole.get_state())


def test_a_stream_without_times_has_steps_instead_of_dates():
    steps = steps_of(build_core(load(QUICK)), stream(1400, timed=False))
    topics = [step.topics for step in steps if step.topics][-1]
    (topic,) = [topic for topic in topics if "Mount Kasari" in topic.label]
    assert topic.since is None and topic.before is None and topic.share_before == 0.0
    assert BURST // 50 < topic.born <= BURST // 50 + 4


def test_nothing_is_told_before_a_timestep_is_full_and_something_is_at_exactly_that_many():
    documents = stream(200)
    topics = StorylineTopics(timestep=200)
    assert topics.report(0, None, None) == ((), ())
    assert not any(step.topics for step in steps_of(build_core(load(QUICK)), documents[:199]))
    assert any(step.topics for step in steps_of(build_core(load(QUICK)), documents))


def test_topics_without_a_store(filled):
    monitor = fs.Monitor(**QUICK)
    list(monitor.watch(stream(1200)))
    assert any("Mount Kasari" in topic.label for topic in monitor.topics())
    assert json.dumps([topic.label for topic in monitor.topics()])
