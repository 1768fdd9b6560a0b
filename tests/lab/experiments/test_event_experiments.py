"""The yardsticks of the event experiments on planted streams, and the tables that they print."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from firststory.datasets.editor import CoveredEvent, EditorLabels, JudgedDocument
from firststory.datasets.streams import TextStream
from firststory.evaluate import alert_scores
from firststory.lab.experiments import event_settings, events
from firststory.lab.experiments.covered_events import WORDS, events_of_editor
from firststory.lab.experiments.event_baselines import novelty_top, story_growth, term_pairs
from firststory.lab.experiments.event_streams import StreamRun, has_clock, shuffled, without_sources
from firststory.lab.experiments.event_tables import missed, quiet_rows
from firststory.records import Document, Step, Story, Verdict

START = datetime(2018, 10, 1, tzinfo=UTC)

needs_data = pytest.mark.skipif(not os.environ.get("FIRSTSTORY_DATA"), reason="needs the corpora (FIRSTSTORY_DATA)")


def run_of(*told, **more):
    """Each document as (hours since the start, source, text, story, novelty)."""
    documents = tuple(
        Document(str(i), text, START + timedelta(hours=hours), source=source)
        for i, (hours, source, text, _, _) in enumerate(told)
    )
    verdicts = tuple(
        Verdict(document, novelty, None, False, story=story)
        for document, (_, _, _, story, novelty) in zip(documents, told, strict=True)
    )
    return StreamRun(TextStream("head", documents), [Step(0, verdicts, **more)])


BURST = run_of(
    (0, "A", "Quiet morning report", "s0", 0.2),
    (1, "A", "Explosion rocks Crimea college", "s1", 0.9),
    (2, "B", "Crimea college explosion kills ten", "s1", 0.3),
    (3, "C", "Crimea college blast", "s1", 0.2),
    (40, "A", "Crimea votes", "s1", 0.1),
    (41, "B", "Quiet morning report", "s0", 0.8),
)


def test_the_most_novel_documents_are_alerts_of_their_own_in_order():
    assert [alert.documents for alert in novelty_top(BURST, 2)] == [("1",), ("5",)]


def test_a_story_grows_when_enough_sources_come_in_time():
    alerts, k = story_growth(BURST, 1)
    assert k == 2 and [alert.documents for alert in alerts] == [("1", "2")]  # s0 has its two sources 41 hours apart
    assert alerts[0].fired_at == START + timedelta(hours=2) and alerts[0].first.id == "1"


def test_a_merged_story_grows_with_what_it_got():
    told = [(0, "A", "x", "s1", 0.0), (1, "B", "x", "s2", 0.0)]
    merged = Story("s2", "", None, None, 1, "", status="merged", merged_into="s1")
    first = run_of(*told, stories=(merged,))
    later = Verdict(Document("2", "x", START + timedelta(hours=2), source="C"), 0.0, None, False, story="s1")
    run = StreamRun(first.stream, [*first.steps, Step(1, (later,))])
    (alert,) = story_growth(run, 1)[0]
    assert alert.documents == ("0", "1", "2")


def test_terms_that_sources_begin_to_use_together_raise_one_alert():
    (alert,) = term_pairs(BURST, 1)
    assert alert.first.id == "1" and set(alert.documents) <= {"1", "2", "3"}


def test_terms_that_are_used_together_every_day_raise_an_alert_only_while_there_is_no_past():
    usual = [(6.0 * i, "ABCD"[i % 4], "Morning weather outlook", "s0", 0.0) for i in range(40)]
    new = [(240.0, "A", "Dam burst", "s1", 0.0), (241.0, "B", "Dam burst kills", "s1", 0.0)]
    alerts = term_pairs(run_of(*usual, *new), 2)
    assert [alert.documents for alert in alerts] == [("0", "1"), ("40", "41")]


def test_documents_of_covered_events_are_found_by_words_and_days():
    told = [
        (1, "A", "Blast at a college in Crimea", None, 0.0),
        (2, "B", "Crimean shooting: what we know", None, 0.0),
        (3, "B", "Somewhere else", None, 0.0),
        (100, "C", "Crimea again", None, 0.0),
    ]
    stream = run_of(*told).stream
    labels = EditorLabels(
        (JudgedDocument("head", "product", "2", "NOT_EVENT", False, ""),),
        (CoveredEvent("head", "Crimea college", "0"),),
    )
    known = events_of_editor(stream, labels)
    (event,) = known.events
    assert event.documents == {"0", "1"} and event.firsts == {"0"} and event.is_followed
    assert known.is_first == {"2": False} and not known.labelled
    assert missed([], known, 0.6) == "Crimea college"
    scores = alert_scores(novelty_top(run_of(*told), 4), known, share=0.6, anywhere=True)
    assert (scores.n_found, scores.n_exact, scores.n_duplicates, scores.true_first) == (1, 1, 1, 0.0)
    assert np.isnan(scores.precision)


def test_a_shuffled_stream_has_the_same_times_and_the_same_texts_elsewhere():
    stream = run_of(*[(i, "AB"[i % 2], f"text {i}", None, 0.0) for i in range(50)]).stream
    mixed = shuffled(stream)
    assert [d.time for d in mixed.documents] == [d.time for d in stream.documents]
    assert sorted(d.id for d in mixed.documents) == sorted(d.id for d in stream.documents)
    assert all(d.source == "AB"[int(d.id) % 2] and d.text == f"text {d.id}" for d in mixed.documents)
    assert sum(a.id == b.id for a, b in zip(mixed.documents, stream.documents, strict=True)) < 10
    assert has_clock(stream) and {d.source for d in without_sources(stream).documents} == {None}


def test_days_without_an_alert_are_counted():
    told = [(24 * i, "A", "x", None, 0.0) for i in range(10)]
    run = run_of(*told)
    alerts = tuple(novelty_top(run, 3))
    rows = quiet_rows(StreamRun(run.stream, [Step(0, (), alerts=alerts)]), "made")
    assert rows[0] == "| made | confirmed | 3 | 0.3 | 0, 0, 1 | 7 of 10 | 33 % |"
    assert rows[1] == "| made | turn | 0 | 0.0 | 0, 0, 0 | 10 of 10 | – |"


@needs_data
def test_every_covered_event_has_its_words():
    from firststory.datasets.editor import load_editor_labels

    assert {(event.stream, event.event) for event in load_editor_labels().events} == set(WORDS)


@needs_data
@pytest.mark.parametrize("module", [events, event_settings])
def test_the_tables_are_printed(module, tmp_path):
    told = module.run(quick=True, out=tmp_path)
    assert "| news17 |" in told and "| head |" in told and "missing" not in told
