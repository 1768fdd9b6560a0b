"""Planted events: what must be alerted, when, how often, and what must not."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.events.planted_stream import BEGIN, background, document, event, fired
from firststory.alerts.budget import parse_budget
from firststory.alerts.events.engine import EventAlerts

# The fewer false alerts are allowed, the more voices it takes: two, three, four.
VOICES = {1.0: 2, 1e-3: 3, 1e-5: 4}


@pytest.mark.parametrize(("false_alerts", "k"), VOICES.items())
@settings(max_examples=12, deadline=None)
@given(order=st.permutations(range(6)), step=st.sampled_from([1, 7, 50]))
def test_an_event_fires_once_at_the_kth_source_for_any_order_of_equal_times(false_alerts, k, order, step):
    told = event(6)
    stream = [*background(200), *(told[i] for i in order)]
    (alert,) = fired(EventAlerts(20.0, false_alerts), stream, step)
    assert alert.documents == tuple(f"e{i}" for i in order[:k])
    assert alert.first.id == f"e{order[0]}"
    assert alert.sources == tuple(f"voice {i}" for i in order[:k])
    assert alert.fired_at == BEGIN + timedelta(hours=50) and alert.delay == timedelta(0)
    assert alert.id == "a1" and alert.story == "event"


def test_the_alert_points_at_the_first_report():
    told = event(4, gap=0.5)
    (alert,) = fired(EventAlerts(20.0, 1e-3), [*background(200), *told])
    assert (alert.first.id, alert.delay) == ("e0", timedelta(hours=1))
    assert alert.sentence == "Told by 3 sources within 1.0 hours; first seen here: voice 0, 02:00."


def test_one_source_reposting_its_text_a_hundred_times_confirms_nothing():
    (told,) = event(1)
    reposts = [document(f"r{i}", 50 + i / 10, told.columns, "voice 0", "event") for i in range(100)]
    assert not fired(EventAlerts(20.0), [*background(200), told, *reposts], kind=None)
    marked = [document(f"r{i}", 50 + i / 10, [], "voice 0", "event", duplicate_of="e0") for i in range(100)]
    assert not fired(EventAlerts(20.0), [*background(200), told, *marked], kind=None)


def test_one_source_telling_it_in_many_words_is_one_voice():
    told = event(30, gap=0.1, sources=["voice 0"] * 30)
    assert not fired(EventAlerts(20.0), [*background(200), *told], kind=None)


def test_duplicates_in_other_papers_are_no_voices_but_their_sources_are_listed():
    told = event(2, gap=2.0)
    near = [document(f"n{i}", 50.1, told[0].columns, f"paper {i}", "event") for i in range(20)]
    same = [document(f"d{i}", 50.2, [], f"reprint {i}", "event", duplicate_of="e0") for i in range(3)]
    assert not fired(EventAlerts(20.0), [*background(200), told[0], *near, *same])
    (alert,) = fired(EventAlerts(20.0), [*background(200), told[0], *near, *same, told[1]])
    assert alert.sentence.startswith("Told by 2 sources")
    assert {"reprint 0", "reprint 1", "reprint 2", "paper 3"} <= set(alert.sources)
    assert {"d0", "n3", "e1"} <= set(alert.documents)


def test_families_are_one_voice():
    told = event(3, sources=["CNN", "CNN Politics", "BBC"], gap=0.2)
    families = {"CNN Politics": "CNN"}
    stream = [*background(200), *told]
    (alert,) = fired(EventAlerts(20.0, 1.0), stream)
    assert alert.documents == ("e0", "e1")
    (alert,) = fired(EventAlerts(20.0, 1.0, families), stream)
    assert alert.documents == ("e0", "e1", "e2")
    assert alert.sentence.startswith("Told by 2 sources")


@pytest.mark.parametrize("sources", [0, 1])
def test_with_one_source_or_none_different_texts_count_and_it_is_said(sources):
    told = event(6, sources=["source 0" if sources else None] * 6, gap=0.1)
    alerts = EventAlerts(20.0, 1e-3)
    (alert,) = fired(alerts, [*background(200, sources=sources), *told])
    assert len(alert.documents) == VOICES[1e-3]
    assert "different texts" in alert.sentence
    assert "every different text counts as one voice" in alerts.status()["voices"]


def test_without_times_a_thousand_documents_are_a_day():
    stream = background(1500, timed=False)
    told = event(6, at=None)
    for place, one in zip((900, 910, 930, 931, 932, 933), told, strict=True):
        stream.insert(place, one)
    alerts = EventAlerts(20.0, 1e-3)
    (alert,) = fired(alerts, stream)
    assert (alert.first.id, alert.fired_at, alert.delay) == ("e0", None, None)
    assert alert.sentence == "Told by 4 sources within 31 documents; first seen here: voice 0."


def test_times_that_come_after_documents_without_any_do_not_lose_the_past():
    told = event(4, gap=0.1)
    stream = [*background(900, timed=False), *background(50, seed=3, begin=49, hours=1), *told]
    (alert,) = fired(EventAlerts(20.0, 1e-3), stream)
    assert alert.first.id == "e0"


def test_silence_in_silence_out():
    alerts = EventAlerts(20.0)
    assert alerts.observe([]) == []
    alerts.end_step({})
    assert not fired(alerts, background(600, hours=200), kind=None)


def test_late_documents_have_no_negative_delay():
    told = event(3)
    told[2] = document("late", 20.0, told[2].columns, "voice 2", "event")
    (alert,) = fired(EventAlerts(20.0, 1e-3), [*background(200), *told])
    assert alert.delay == timedelta(0) and alert.fired_at == BEGIN + timedelta(hours=50)


def test_nothing_is_confirmed_in_the_warm_up_and_it_is_said_why():
    alerts = EventAlerts(20.0)
    assert not fired(alerts, [*background(50, hours=5), *event(4, at=6)])
    status = alerts.status()
    assert status["held_back_last_day"] == {"warm-up": 1}
    assert status["warm_up"] == "0.25 of 0.5 days seen"


def test_stories_that_merge_are_one_event():
    told = event(5, gap=0.1)
    apart = [
        document(one.document.id, 50 + i / 10, one.columns, one.document.source, f"s{i}")
        for i, one in enumerate(told[:4])
    ]
    last = document("last", 51, told[4].columns, "voice 9", "s3")
    between = background(16, seed=5, begin=50.5, hours=0.1)
    stream = [*background(200), *apart, *between, last]
    assert not fired(EventAlerts(20.0), stream[:-1])
    merges = {10: {"s0": "s1", "s1": "s3", "s2": "s3"}}
    (alert,) = fired(EventAlerts(20.0, 1e-3), stream, merges=merges)
    assert (alert.first.id, alert.story, len(alert.documents)) == ("e0", "s3", 5)
    assert not fired(EventAlerts(20.0, 1e-3), stream)


def test_a_story_that_was_alerted_makes_the_one_it_goes_into_alerted():
    told, other = event(3), event(3, seed=2000, at=52, story="other", prefix="o")
    between = background(17, seed=5, begin=50.5, hours=0.1)
    stream = [*background(200), *told, *between, *other]
    assert len(fired(EventAlerts(20.0), stream)) == 2
    assert len(fired(EventAlerts(20.0), stream, merges={10: {"event": "other"}})) == 1


def test_a_second_story_of_an_event_that_was_alerted_is_held_back_and_it_is_said():
    told = event(6)
    told[3:] = [document(one.document.id, 52, one.columns, one.document.source, "other") for one in told[3:]]
    alerts = EventAlerts(20.0)
    assert len(fired(alerts, [*background(200), *told])) == 1
    assert alerts.status()["held_back_last_day"] == {"part of an event already alerted": 1}


def test_the_ceiling_of_a_threshold_budget_is_none_and_a_share_counts_documents():
    told = [one for i in range(6) for one in event(3, seed=2000 + i, at=50 + i, story=f"s{i}", prefix=f"e{i}-")]
    stream = [*background(200), *told]
    assert len(fired(EventAlerts(parse_budget(0.8)), stream)) == 6
    assert len(fired(EventAlerts(parse_budget("1%")), stream)) == 1
    assert len(fired(EventAlerts(parse_budget("2/week")), stream)) == 1
    assert np.isclose(EventAlerts(parse_budget("2/week")).ceiling.amount, 2 / 7)
