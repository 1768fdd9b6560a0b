"""First reports: the learnt chance that others follow, its floor, its warm-up."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from alerts.events.planted_stream import BEGIN, document, fired
from firststory.alerts.events.echo import EchoChance, features
from firststory.alerts.events.engine import EventAlerts
from firststory.alerts.events.first_seen import FirstSeen

AGENCY = "agency"


def stream_with_echoes(n=1500, seed=0, share=0.5, per_day=200):
    """Half of what the agency tells is told by another an hour later; what others tell is never followed."""
    rng = np.random.default_rng(seed)
    stream = []
    for i in range(n):
        at, own = 24.0 * i / per_day, rng.choice(4000, 8, replace=False)
        source = AGENCY if rng.random() < 0.2 else f"source {rng.integers(12)}"
        stream.append(document(f"d{i}", at, own, source, f"s{i}"))
        if source == AGENCY and rng.random() < share:
            other = np.union1d(own[:7], rng.choice(4000, 1))
            stream.append(document(f"d{i}-again", at + 1.0, other, f"source {rng.integers(12)}", f"s{i}"))
    return sorted(stream, key=lambda one: one.seconds)


def test_first_reports_that_others_follow_are_listed_and_not_in_the_warm_up():
    alerts = fired(EventAlerts(20.0), stream_with_echoes(), kind="first_seen")
    assert len(alerts) >= 20
    assert sum(one.first.source == AGENCY for one in alerts) >= 0.9 * len(alerts)
    assert min((one.fired_at - BEGIN).total_seconds() for one in alerts) > 2 * 86400
    assert all(one.documents == (one.first.id,) and one.sentence.startswith("Nothing earlier") for one in alerts)


def test_where_nothing_is_followed_nothing_is_listed():
    alerts = EventAlerts(20.0)
    assert not fired(alerts, stream_with_echoes(share=0.0), kind="first_seen")
    assert "first reports that others followed" in alerts.status()["first_seen_warm_up"]


def test_features_are_the_same_in_every_process():
    expected = [0, 840, 3149, 3157, 4874, 7046, 11182, 16350, 19074, 27007, 31221]
    assert features("Storm closes bridge?", "BBC", 0.95) == expected


def test_the_chance_is_learnt_and_comes_back():
    rng = np.random.default_rng(0)
    chance = EchoChance()
    for _ in range(600):
        is_flood = bool(rng.random() < 0.5)
        own = features("flood in the town" if is_flood else "recipe of the week", "BBC", rng.random())
        chance.learn([own], [is_flood])
    rows = [features("flood again", "BBC", 0.5), features("another recipe", "BBC", 0.5)]
    likely, unlikely = chance.probabilities(rows)
    assert likely > 0.75 and unlikely < 0.25
    assert 0.4 < chance.base_rate < 0.6
    again = EchoChance.from_state(chance.get_state())
    assert again.probabilities(rows) == [likely, unlikely] and again.base_rate == chance.base_rate


def test_what_can_have_no_label_any_more_does_not_wait_for_its_day():
    """In a fast stream the index forgets within minutes; what waits is bounded by it."""
    first_seen, learnt = FirstSeen(), []
    first_seen.chance.learn = lambda rows, echoed: learnt.extend(row[0] for row in rows)
    remembered = 100
    for ordinal in range(5_000):
        now = 60.0 * ordinal if ordinal < 3_000 else 60.0 * 3_000 + ordinal
        oldest = ordinal - 2_000 if ordinal < 3_000 else ordinal - remembered
        index = SimpleNamespace(oldest=max(oldest, 0), is_echoed=np.zeros(8, np.bool_), born=np.zeros(8))
        first_seen.learn(now, index)
        first_seen.wait(now, ordinal, [ordinal])
    assert len(first_seen.get_state()["waiting_times"]) <= remembered + 1
    # A day of the slow part had its labels, each once and in order.
    assert learnt == list(range(len(learnt))) and len(learnt) > 1_400
