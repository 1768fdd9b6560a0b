"""A restart changes nothing, and memory is bounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from alerts.events.planted_stream import VOCABULARY, background, document, event, fired
from firststory.alerts.events.engine import EventAlerts
from firststory.alerts.events.links import LinkIndex
from firststory.state import flatten, pack_state, unflatten, unpack_state


def restarted(alerts: EventAlerts) -> EventAlerts:
    """What comes back from a store."""
    return EventAlerts.from_state(unflatten(unpack_state(pack_state(flatten(alerts.get_state())))))


def busy_stream(seed=0):
    """Background with recurring terms, and an event every few hours: all kinds of state are in use."""
    rng = np.random.default_rng(seed)
    stream = background(900, seed=seed, hours=120)
    for i in range(30):
        at = 4 * i + 3.0
        told = event(5, seed=100 + i // 2, at=at, gap=0.3, story=f"event {i // 2}", prefix=f"e{i}-")
        stream += told[: rng.integers(2, 6)]
    stream.append(document("copy", 50.0, [], "reprint", "event 5", duplicate_of="e10-0"))
    return sorted(stream, key=lambda one: one.seconds)


def test_a_restart_at_every_step_changes_nothing():
    stream = busy_stream()
    straight, broken, expected, found = EventAlerts(12.0), EventAlerts(12.0), [], []
    for begin in range(0, len(stream), 25):
        part, merged = stream[begin : begin + 25], {f"event {begin // 100}": "event 12"} if begin % 100 == 75 else {}
        expected += straight.observe(part)
        found += broken.observe(part)
        straight.end_step(merged)
        broken.end_step(merged)
        broken = restarted(broken)
    assert found == expected and len({one.id for one in found}) == len(found) > 5
    assert pack_state(flatten(broken.get_state())) == pack_state(flatten(straight.get_state()))
    assert broken.status() == straight.status()


@pytest.mark.parametrize(("most", "step"), [(20_000, 100), (120, 100), (40, 250), (15, 60)])
def test_what_an_alert_tells_does_not_depend_on_the_documents_after_it(monkeypatch, most, step):
    """Also where they push out of memory what it tells of."""
    stream, found = busy_stream(3), []
    follow = LinkIndex.follow

    def one_after_the_other(self, rows, first, *others):
        return follow(self, rows._replace(clock=rows.clock[: first + 1]), first, *others)

    for way in (follow, one_after_the_other):
        monkeypatch.setattr(LinkIndex, "follow", way)
        alerts = EventAlerts(12.0, max_documents=most)
        found.append((fired(alerts, stream, step, None), alerts.status(), flatten(alerts.get_state())))
    assert found[0][:2] == found[1][:2] and len(found[0][0]) > 3
    assert pack_state(found[0][2]) == pack_state(found[1][2])


def test_a_restart_in_the_middle_of_an_event_fires_nothing_twice():
    alerts = EventAlerts(20.0)
    told = event(8, gap=0.1)
    assert len(fired(alerts, [*background(200), *told[:4]])) == 1
    alerts = restarted(alerts)
    assert not fired(alerts, told[4:])


def test_memory_is_bounded_by_a_count():
    alerts = EventAlerts(20.0, max_documents=150)
    for seed in range(4):
        fired(alerts, background(500, seed=seed, begin=5.0 * seed, hours=5, sources=400))
    state = alerts.get_state()
    assert alerts.status()["documents_remembered"] == 150
    memory = state["memory"]
    assert len(memory["documents"]["ids"]) == len(memory["stories"]) == len(alerts._memory.ordinal_of) == 150
    assert max(map(len, (memory["last"], memory["duplicates"], state["running"], state["held"]))) <= 150
    assert len(alerts._index.log_start) <= 256
    # What is linked and counted is only what is remembered.
    assert alerts.columns_in_use().max() < VOCABULARY
    assert len(alerts.columns_in_use()) <= 8 * 150


def test_sources_without_end_are_forgotten():
    alerts = EventAlerts(20.0, max_documents=50)
    stream = background(3000, hours=100)
    for i, one in enumerate(stream):
        one.document = replace(one.document, source=f"user {i}")
    fired(alerts, stream)
    assert len(alerts._voices) <= 2 * 50 + 1000 + 20
    # The voices that are still told apart are told apart rightly.
    index, voices = alerts._index, alerts._voices
    for ordinal, kept in alerts._memory.documents.items():
        assert index.source[ordinal % len(index.born)] == voices.number(kept.source) >= 0


def test_where_memory_reaches_back_hours_events_are_still_found():
    alerts = EventAlerts(20.0, max_documents=400)
    stream = background(3000, hours=30)
    told = event(5, at=29.0, gap=0.05)
    stream = sorted([*stream, *told], key=lambda one: one.seconds)
    (alert,) = fired(alerts, stream)
    assert alert.first.id == "e0"


def test_what_is_older_than_eight_days_is_forgotten():
    alerts = EventAlerts(20.0)
    fired(alerts, background(300, hours=24))
    fired(alerts, background(20, seed=1, begin=24 * 9.5, hours=1))
    assert alerts.status()["documents_remembered"] == 20


def test_renumbered_columns_change_nothing():
    stream = busy_stream(3)
    half = len(stream) // 2
    plain, renumbered = EventAlerts(12.0), EventAlerts(12.0)
    first = fired(plain, stream[:half], kind=None)
    assert fired(renumbered, stream[:half], kind=None) == first
    used = renumbered.columns_in_use()
    new = np.full(VOCABULARY, -1, np.int64)
    new[used] = np.arange(len(used))
    renumbered.renumber(new)
    fresh = iter(range(len(used), VOCABULARY))
    mapping = {int(c): int(n) for c, n in zip(used, new[used], strict=True)}
    moved = []
    for one in stream[half:]:
        columns = [mapping.setdefault(int(c), next(fresh) if int(c) not in mapping else -1) for c in one.columns]
        moved.append(replace(one, columns=np.sort(columns).astype(np.int32)))
    expected = fired(plain, stream[half:], kind=None)
    found = fired(renumbered, moved, kind=None)
    assert [(a.kind, a.documents, a.story) for a in found] == [(a.kind, a.documents, a.story) for a in expected]


@pytest.mark.parametrize("seed", range(3))
def test_the_index_comes_back_as_it_was(seed):
    alerts = EventAlerts(12.0, max_documents=300)
    fired(alerts, busy_stream(seed))
    index, again = alerts._index, LinkIndex.from_state(alerts._index.get_state())
    for ordinal in range(index.oldest, index.next):
        for part, same in zip(index.links_of(ordinal), again.links_of(ordinal), strict=True):
            assert part.tolist() == same.tolist()
