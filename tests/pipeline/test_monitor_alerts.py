"""Monitor.alerts and Monitor.storylines: with a store and without, on steps made by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import firststory as fs
from firststory.errors import ParameterError
from firststory.pipeline import monitor as monitor_module

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def step(n, kind, **changes):
    """A day with one document and one alert."""
    document = fs.Document(f"d{n}", f"Text {n}", time=NOON + timedelta(days=n))
    alert = fs.Alert(
        id=f"a{n}", kind=kind, first=document, headline=document, fired_at=document.time, delay=timedelta(0),
        documents=(document.id,), sources=(), terms=(), story="s1", storyline=None, score=1.0, sentence="",
    )  # fmt: skip
    return fs.Step(n, (fs.Verdict(document, 0.5, 0.5, False),), alerts=(alert,), counts={"seen": 1}, **changes)


def line(name, **changes):
    return fs.Storyline(name, "T", NOON, NOON, 3, 2, **changes)


STEPS = [
    step(0, "first_seen", storylines=(line("l1"), line("l2"))),
    step(1, "confirmed"),
    step(2, "turn", storylines=(line("l1", status="merged", merged_into="l2"), line("l2", key_terms=("x",)))),
]


@pytest.fixture(params=["store", "no store"])
def watched(request, tmp_path, monkeypatch):
    with_store = request.param == "store"
    path = str(tmp_path / "a.db") if with_store else None
    with fs.Monitor(store=path, detector="neighbour", topics="none") as monitor:

        def run(arrivals):
            for one in STEPS:
                if with_store:
                    monitor._store.write_step(one)
                yield one

        monkeypatch.setattr(monitor._runner, "run", run)
        assert [v.document.id for v in monitor.watch([])] == ["d0", "d1", "d2"]
        yield monitor


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({}, ["a2", "a1", "a0"]),
        ({"kind": "confirmed"}, ["a1"]),
        ({"kind": ("turn", "first_seen")}, ["a2", "a0"]),
        ({"since": "24h"}, ["a2", "a1"]),
        ({"since": timedelta(hours=23)}, ["a2"]),
        ({"since": "yesterday", "kind": "turn"}, ["a2"]),
        ({"since": NOON + timedelta(days=1)}, ["a2", "a1"]),
        ({"since": "2026-11-17T12:00:01Z"}, []),
    ],
)
def test_alerts_come_latest_first_by_time_and_kind(watched, asked, ids):
    found = watched.alerts(**asked)
    assert [one.id for one in found] == ids and all(isinstance(one, fs.Alert) for one in found)
    assert all(one.first.text.startswith("Text") for one in found)


def test_mistakes_are_said(watched):
    with pytest.raises(ParameterError, match="confirmed, turn, first_seen"):
        watched.alerts(kind="gossip")
    with pytest.raises(ParameterError, match="24h"):
        watched.alerts(since="soon")


def test_storylines_that_were_merged_are_gone(watched):
    assert watched.storylines() == (line("l2", key_terms=("x",)),)
    assert watched.storylines(limit=0) == ()


def test_status_counts_alerts_and_tells_where_they_stand(watched):
    told = watched.status()
    assert told["alert_counts"] == {"confirmed": 1, "turn": 1, "first_seen": 1}
    assert told["novelty"]["budget"] == "20/day" and told["alerts"]["ceiling"] == "20/day"


def test_without_a_store_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(monitor_module, "MAX_ALERTS", 3)
    with fs.Monitor(detector="neighbour", topics="none") as monitor:
        steps = [step(n, "turn", storylines=(line(f"l{n}"),)) for n in range(9)]
        monkeypatch.setattr(monitor._runner, "run", lambda arrivals: iter(steps))
        list(monitor.watch([]))
        assert [one.id for one in monitor.alerts()] == ["a8", "a7", "a6"]
        assert [one.id for one in monitor.storylines()] == ["l8", "l7", "l6"]
        assert monitor.status()["alert_counts"]["turn"] == 9
