"""Alerts through the whole stream: a planted event fires once, and what is no event does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np
import pytest

import firststory as fs

START = datetime(2024, 3, 1, tzinfo=UTC)
SOURCES = [f"Paper {letter}" for letter in "ABCDEFGHIJKLMNOP"]
EVENT = ["kraken", "reactor", "tromsdal", "explosion", "fjord", "evacuated"]
SYLLABLES = ("bdfgklmnprstvz", ("alo", "eni", "iru", "oma", "usk"), "bdfgklmnprst", ("ane", "ort", "ing"))
WORDS = ["".join(parts) for parts in product(*SYLLABLES)]


def background(n_days: float, per_day: int = 80, seed: int = 0) -> list[fs.Document]:
    """Documents that have nothing to do with one another, at even times from random sources."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(5, len(WORDS) + 5)
    shares /= shares.sum()
    return [
        fs.Document(
            id=f"b{i}",
            text=" ".join(rng.choice(WORDS, size=9, p=shares)),
            time=START + timedelta(days=i / per_day),
            source=str(rng.choice(SOURCES)),
        )
        for i in range(int(n_days * per_day))
    ]


def event(
    at: float, sources: Sequence[str | None], hours: float = 0.25, words: Sequence[str] = EVENT
) -> list[fs.Document]:
    """One happening, told by each source in words of its own, one after the other."""
    rng = np.random.default_rng(7)
    return [
        fs.Document(
            id=f"{words[0]}{i}",
            text=" ".join([*rng.choice(words, size=len(words) - 1, replace=False), *rng.choice(WORDS[-400:], size=3)]),
            time=START + timedelta(days=at, hours=i * hours),
            source=source,
        )
        for i, source in enumerate(sources)
    ]


def in_order(*streams: Iterable[fs.Document]) -> list[fs.Document]:
    return sorted((one for stream in streams for one in stream), key=lambda one: one.time)


def watch(documents: Iterable[fs.Document], **settings) -> tuple[fs.Alert, ...]:
    options = {"detector": "fused-words", "topics": "none", "language": "en", "step": 20} | settings
    with fs.Monitor(**options) as monitor:
        for _ in monitor.watch(documents):
            pass
        return tuple(reversed(monitor.alerts(kind="confirmed")))


def of_event(alerts: Iterable[fs.Alert], word: str = EVENT[0]) -> list[fs.Alert]:
    return [alert for alert in alerts if any(name.startswith(word) for name in alert.documents)]


def test_a_planted_event_fires_once_and_points_at_its_first_report():
    documents = in_order(background(6), event(4.0, SOURCES[:8]))
    alerts = watch(documents)
    (alert,) = of_event(alerts)
    assert alert.first.id == "kraken0" and alert.first.source == "Paper A"
    assert alert.headline.id.startswith("kraken")
    assert set(alert.sources) <= set(SOURCES[:8]) and 2 <= len(alert.sources) < 8, "it did not wait for all of them"
    assert alert.delay == alert.fired_at - alert.first.time
    assert {word for term in alert.terms for word in term.lower().split()} & set(EVENT)
    assert alert.story is not None and "source" in alert.sentence
    assert len(alerts) <= 3, "chance brings hardly any in two days"


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_equal_times_does_not_matter_for_how_often_it_fires(seed):
    told = event(4.0, SOURCES[:6], hours=0.0)
    np.random.default_rng(seed).shuffle(told)
    (alert,) = of_event(watch(in_order(background(6), told)))
    assert alert.delay == timedelta(0)


def test_two_events_are_two_alerts():
    other = ["zeppelin", "collision", "harbour", "casino", "rescued", "divers"]
    alerts = watch(in_order(background(6), event(4.0, SOURCES[:6]), event(4.05, SOURCES[4:10], words=other)))
    assert len(of_event(alerts)) == len(of_event(alerts, "zeppelin")) == 1


def test_one_source_that_posts_its_text_a_hundred_times_confirms_nothing():
    (text,) = event(4.0, SOURCES[:1])
    posts = [
        fs.Document(
            id=f"kraken-again{i}",
            text=text.text + " update" * (i % 2),
            time=text.time + timedelta(minutes=i),
            source="Paper A",
        )
        for i in range(100)
    ]
    assert not of_event(watch(in_order(background(6), posts)))


def test_copies_of_an_agency_text_are_one_voice():
    (text,) = event(4.0, SOURCES[:1])
    copies = [
        fs.Document(id=f"kraken-copy{i}", text=text.text, time=text.time + timedelta(minutes=i), source=source)
        for i, source in enumerate(SOURCES)
    ]
    assert not of_event(watch(in_order(background(6), copies)))


def test_without_sources_texts_that_are_no_copies_count():
    documents = [
        fs.Document(id=one.id, text=one.text, time=one.time) for one in in_order(background(6), event(4.0, SOURCES[:8]))
    ]
    (alert,) = of_event(watch(documents))
    assert alert.sources == () and "texts" in alert.sentence


def test_without_times_the_order_of_arrival_does():
    documents = [
        fs.Document(id=one.id, text=one.text, source=one.source)
        for one in in_order(background(40), event(30.0, SOURCES[:8]))
    ]
    (alert,) = of_event(watch(documents))
    assert alert.fired_at is None and alert.delay is None


def test_families_are_one_voice():
    families = dict.fromkeys(SOURCES[:8], "Group")
    documents = in_order(background(6), event(4.0, SOURCES[:8]))
    assert not of_event(watch(documents, source_families=families))


def test_silence_in_silence_out():
    assert not watch([])
    assert not watch(background(6, per_day=3))


@pytest.mark.parametrize("cut", [-3, 0, 2, 4])
def test_a_restart_in_the_middle_of_an_event_fires_nothing_twice(tmp_path, cut):
    """The alerts of an interrupted stream are those of one that was not, whenever it stopped."""
    documents = in_order(background(5.5), event(4.0, SOURCES[:8]))
    middle = next(i for i, one in enumerate(documents) if one.id == "kraken2") // 20 * 20 + 20 * cut
    whole = watch(documents)
    options = {"detector": "fused-words", "topics": "none", "language": "en", "step": 20, "save_every": 3}
    for part in (documents[:middle], documents[middle:]):
        with fs.Monitor(store=tmp_path / "news.db", **options) as monitor:
            for _ in monitor.watch(part):
                pass
    with fs.Monitor(store=tmp_path / "news.db") as monitor:
        again = tuple(reversed(monitor.alerts(kind="confirmed")))
    assert [(one.id, one.fired_at, one.documents, one.score, one.story) for one in again] == [
        (one.id, one.fired_at, one.documents, one.score, one.story) for one in whole
    ]


def test_a_step_that_spans_weeks_is_judged_by_what_was_known_then():
    """The index forgets within the step; evidence is gathered before that."""
    documents = fs.datasets.make_story_stream(300, 30).documents
    for alert in watch(documents, budget="5%", step=150):
        assert alert.first.id in alert.documents and alert.headline.id in alert.documents
