"""Turns of running stories, and formats that are none."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from alerts.events.planted_stream import background, document, fired
from firststory.alerts.events import turn
from firststory.alerts.events.engine import EventAlerts
from firststory.alerts.events.turn import FormatTerms
from firststory.units import DAY_SECONDS


def running_story(story, seed, *, days=5, turn_at=None, term=None, begin=0.0):
    """Three reports a day, then, where it turns, six sources that all use a term."""
    rng = np.random.default_rng(seed)
    words = rng.choice(2000, 5, replace=False)

    def report(name, at, extra):
        own = np.concatenate([words, 2000 + rng.choice(1900, 3, replace=False), extra])
        return document(f"{story}-{name}", at, own, f"source {rng.integers(10)}", story)

    told = [report(i, begin + 8.0 * i, np.array([], int)) for i in range(3 * days)]
    if turn_at is not None:
        for i in range(6):
            told.append(report(f"turn{i}", turn_at + 0.2 * i, np.array([term])))
            told[-1].document = type(told[-1].document)(
                told[-1].document.id, "x", told[-1].document.time, source=f"voice {i}"
            )
    return told


def in_order(stream):
    return sorted(stream, key=lambda one: one.seconds)


def test_a_term_that_sources_begin_to_use_together_turns_a_running_story():
    stream = [*background(1200, hours=168), *running_story("trial", 1, turn_at=125.0, term=3990)]
    (alert,) = fired(EventAlerts(20.0), in_order(stream), kind="turn")
    assert alert.terms == ("w3990",) and alert.story == "trial"
    assert alert.first.id == "trial-turn0"
    assert alert.sentence.startswith("A turn of a running story: ") and "“w3990”" in alert.sentence
    assert all(name.startswith("trial-turn") for name in alert.documents)


def test_a_story_that_goes_on_as_before_does_not_turn():
    stream = [*background(1200, hours=168), *running_story("trial", 1, days=7)]
    assert not fired(EventAlerts(20.0), in_order(stream), kind="turn")


def test_a_word_that_turns_one_story_after_another_becomes_dearer():
    scores = {}
    for same in (True, False):
        stream = background(1200, hours=168)
        for i in range(8):
            stream += running_story(f"s{i}", i, turn_at=100.0 + 6 * i, term=3990 if same else 3990 - i)
        turned = fired(EventAlerts(40.0), in_order(stream), kind="turn")
        scores[same] = {one.story: (one.score, len(one.documents)) for one in turned}
    assert set(scores[True]) <= set(scores[False]) and len(scores[False]) >= 6
    for story in set(scores[True]) - {"s0", "s1"}:
        (dear, needed), (cheap, enough) = scores[True][story], scores[False][story]
        assert needed > enough or dear < cheap - 0.2


def test_a_stop_word_turns_nothing():
    told = running_story("trial", 1, turn_at=125.0, term=3990)
    for one in told:
        one.surfaces = dict  # nothing of it is shown to people
    stream = in_order([*background(1200, hours=168), *told])
    assert not fired(EventAlerts(20.0), stream, kind="turn")


def test_formats_are_forgotten_follow_merges_and_come_back():
    terms = FormatTerms()
    terms.note(3, "s1", 0.0)
    terms.note(3, "s2", 20 * DAY_SECONDS)
    assert terms.cost(3, "s9", 25 * DAY_SECONDS) > terms.cost(3, "s9", 35 * DAY_SECONDS) > 0
    terms.note(3, "s4", 35 * DAY_SECONDS)
    terms.merge({"s4": "s2"})
    assert FormatTerms.from_state(terms.get_state()).cost(3, "s9", 36 * DAY_SECONDS) == terms.cost(
        3, "s8", 36 * DAY_SECONDS
    )
    terms.renumber(np.array([-1, -1, -1, 0]))
    assert terms.columns() == [0] and terms.cost(0, "s2", 36 * DAY_SECONDS) == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_formats_follow_merges_as_a_plain_table_does(seed, monkeypatch):
    monkeypatch.setattr(turn, "MAX_FORMAT_TERMS", 6)
    monkeypatch.setattr(turn, "MAX_FORMAT_STORIES", 4)
    chance, terms, plain = random.Random(seed), FormatTerms(), dict[int, dict[str, float]]()
    for hour in range(400):
        now, column, story = hour * DAY_SECONDS / 4, chance.randrange(8), f"s{chance.randrange(9)}"
        if chance.random() < 0.2:
            into = f"s{chance.randrange(9)}"
            merged = {} if into == story else {story: into}
            terms.merge(merged)
            for stories in plain.values():
                if merged and story in stories:
                    stories.setdefault(into, stories[story])
                    del stories[story]
        elif chance.random() < 0.4:
            stories = plain.get(column, {})
            while stories and now - next(iter(stories.values())) > turn.FORMAT_DAYS * DAY_SECONDS:
                del stories[next(iter(stories))]
            assert terms.cost(column, story, now) == math.log10(1 + len(stories) - (story in stories))
        else:
            terms.note(column, story, now)
            stories = plain.pop(column, {})
            stories.pop(story, None)
            plain[column] = stories | {story: now}
            if len(plain[column]) > 4:
                del plain[column][next(iter(plain[column]))]
            if len(plain) > 6:
                del plain[next(iter(plain))]
        if chance.random() < 0.05:
            terms = FormatTerms.from_state(terms.get_state())
        assert terms.get_state() == [[one, list(map(list, stories.items()))] for one, stories in plain.items()]
