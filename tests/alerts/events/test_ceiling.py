"""The ceiling is never exceeded, and false alerts come at the rate that was asked for."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.events.planted_stream import background, document, event, fired
from firststory.alerts.events import held_back
from firststory.alerts.events import ladder as ladder_module
from firststory.alerts.events.engine import EventAlerts
from firststory.alerts.events.ladder import Ceiling, Ladder
from firststory.errors import ParameterError
from firststory.units import DAY_SECONDS


def most_in_a_day(alerts):
    times = sorted(one.fired_at for one in alerts)
    return max((sum(a <= b < a + timedelta(days=1) for b in times) for a in times), default=0)


@settings(max_examples=15, deadline=None)
@given(
    per_day=st.integers(1, 8), starts=st.lists(st.floats(14.0, 90.0), min_size=5, max_size=25), seed=st.integers(0, 99)
)
def test_never_more_than_the_ceiling_in_any_day(per_day, starts, seed):
    stream = background(400, hours=96, seed=seed)
    for i, start in enumerate(starts):
        stream += event(5, seed=500 + i, at=start, gap=0.2, story=f"event {i}", prefix=f"e{i}-")
    stream.sort(key=lambda one: one.seconds)
    alerts = fired(EventAlerts(float(per_day)), stream, kind=None)
    pushed = [one for one in alerts if one.kind != "first_seen"]
    assert most_in_a_day(pushed) <= per_day
    assert most_in_a_day([one for one in alerts if one.kind == "first_seen"]) <= per_day


def test_what_is_held_back_is_said_with_the_reason():
    stream = background(200)
    for i in range(9):
        stream += event(4, seed=500 + i, at=50 + i, story=f"event {i}", prefix=f"e{i}-")
    alerts = EventAlerts(3.0)
    n = len(fired(alerts, stream))
    status = alerts.status()
    assert 1 <= n <= 3 and status["fired_last_day"]["confirmed"] == n
    assert sum(status["held_back_last_day"].values()) == 9 - n
    assert set(status["held_back_last_day"]) <= {"below the price", "the ceiling is spent"}
    assert (status["ceiling"], status["false_alerts"]) == ("3/day", 1.0)


def test_less_than_one_per_day_is_one_in_several_days():
    ceiling = Ceiling()
    ceiling.spend(0.0)
    assert not ceiling.has_room(3 * DAY_SECONDS, 0.25)
    assert ceiling.has_room(4 * DAY_SECONDS, 0.25)


def test_the_price_is_what_so_many_events_per_day_reached():
    ladder = Ladder()
    for day in range(7):
        for score in np.linspace(1.5, 10.0, 18):
            ladder.note(day * DAY_SECONDS, 0.0, float(score))
    now = 7 * DAY_SECONDS
    for per_day in (2.0, 5.0, 9.0):
        price = ladder.price(now, per_day)
        assert sum(score >= price for score in np.linspace(1.5, 10.0, 18)) <= per_day
        assert sum(score >= price - 0.5 for score in np.linspace(1.5, 10.0, 18)) > per_day
    assert ladder.price(now, 5.0, spent=4) > ladder.price(now, 5.0)
    assert ladder.price(now, None) == 0.0
    assert Ladder.from_state(ladder.get_state()).price(now, 5.0) == ladder.price(now, 5.0)


def test_a_busy_ladder_reaches_back_as_far_as_it_has_room(monkeypatch):
    """Ten times as many events as it notes: the price is that of the time which the latest of them are from."""
    scores = np.linspace(1.5, 10.0, 18)
    monkeypatch.setattr(ladder_module, "MOST_CLIMBS", 10**9)
    whole, short = Ladder(), Ladder()
    for hour in range(7 * 24):
        for score in scores:
            whole.note(hour * 3600.0, 0.0, float(score))
    monkeypatch.setattr(ladder_module, "MOST_CLIMBS", 12 * 18)
    for hour in range(7 * 24):
        for score in scores:
            short.note(hour * 3600.0, 0.0, float(score))
    assert len(whole._climbs) == 7 * 24 * 18 and len(short._climbs) == 12 * 18
    now = 7 * DAY_SECONDS - 1800.0
    for per_day in (24.0, 60.0, 200.0):
        assert short.price(now, per_day) == pytest.approx(whole.price(now, per_day), abs=0.5)
    assert Ladder.from_state(short.get_state()).price(now, 60.0) == short.price(now, 60.0)


def test_without_a_ceiling_what_fired_is_remembered_up_to_a_number(monkeypatch):
    monkeypatch.setattr(ladder_module, "MOST_FIRED", 10)
    ceiling = Ceiling()
    for second in range(100):
        assert ceiling.has_room(float(second), None)
        ceiling.spend(float(second))
    assert len(ceiling.fired) == 10
    assert not ceiling.has_room(100.0, per_day=1e9)


def test_held_back_stories_are_remembered_up_to_a_number(monkeypatch):
    monkeypatch.setattr(held_back, "MOST_STORIES", 3)
    held = held_back.HeldBack()
    for number in range(10):
        held.add(f"s{number}", float(number), held_back.BELOW_PRICE)
    assert [story for story, *_ in held.get_state()] == ["s7", "s8", "s9"]


def shuffled_topics(n, hours, seed):
    """Texts of eighty topics that never burst: each document's topic and source are drawn at random."""
    rng = np.random.default_rng(seed)
    words = np.array([rng.choice(4000, 12, replace=False) for _ in range(80)])
    stream = []
    for i in range(n):
        topic = int(rng.integers(80))
        own = np.union1d(rng.choice(words[topic], 5, replace=False), rng.choice(4000, 4, replace=False))
        stream.append(document(f"d{i}", hours * i / n, own, f"source {rng.integers(25)}", f"topic {topic}"))
    return stream


@pytest.mark.parametrize("seed", [0, 1])
def test_a_stream_shuffled_in_time_fires_at_most_at_the_nominal_rate(seed):
    days = 20
    stream = shuffled_topics(200 * days, 24.0 * days, seed)
    # The first days teach the link threshold and the background.
    alerts = [one for one in fired(EventAlerts(50.0, 1.0), stream, step=100) if one.fired_at.day > 8]
    assert len(alerts) <= 1.5 * (days - 7)


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf")])
def test_false_alerts_are_a_number_above_zero(wrong):
    with pytest.raises(ParameterError, match="false_alerts"):
        EventAlerts(20.0, wrong)
    with pytest.raises(ParameterError, match="false_alerts"):
        EventAlerts(20.0).change(EventAlerts(20.0).ceiling, wrong, {})
