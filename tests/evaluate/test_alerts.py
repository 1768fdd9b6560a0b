"""Alerts made by hand against events made by hand: every figure can be counted on fingers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from firststory.datasets.streams import TextStream
from firststory.evaluate import alert_scores, events_of_labels, known_event
from firststory.records import Alert, Document

START = datetime(2026, 1, 1, tzinfo=UTC)


def stream_of(*documents, timed=True):
    """Each document as (label, hours since the start, source)."""
    return TextStream(
        "made",
        tuple(
            Document(str(i), "", START + timedelta(hours=hours) if timed else None, label=label, source=source)
            for i, (label, hours, source) in enumerate(documents)
        ),
    )


def alert(stream, *documents, first=None, kind="confirmed"):
    """An alert that the last of its documents brings."""
    told = {document.id: document for document in stream.documents}
    opener, last = told[str(documents[0] if first is None else first)], told[str(documents[-1])]
    return Alert(
        id="a",
        kind=kind,
        first=opener,
        headline=opener,
        fired_at=last.time,
        delay=None if last.time is None else last.time - opener.time,
        documents=tuple(str(one) for one in documents),
        sources=(),
        terms=(),
        story=None,
        storyline=None,
        score=1.0,
        sentence="",
    )


STREAM = stream_of(
    ("fire", 0, "A"), ("fire", 2, "B"), ("flood", 3, "A"), ("fire", 4, "C"),
    ("flood", 13, "B"), ("strike", 20, "A"), ("vote", 30, "A"), ("strike", 100, "B"), ("quiz", 101, "A"),
    ("quiz", 102, "A"), (None, 103, "D"),
)  # fmt: skip
"""Fire and flood: followed within two days. Strike: after 80 hours. Vote: one document. Quiz: one source."""


def test_the_events_of_a_labelled_stream():
    known = events_of_labels(STREAM)
    assert {event.name: event.is_followed for event in known.events} == {"fire": True, "flood": True, "strike": False}
    assert [event.name for event in known.one_source] == ["quiz"]
    assert [name for name, is_first in known.is_first.items() if is_first] == ["0", "2", "5", "6", "8"]
    assert (known.n_days, known.unit) == (3.0, "per day with documents")  # 1, 2 and 5 January


def test_found_delay_and_exact_firsts():
    scores = alert_scores([alert(STREAM, 0, 1), alert(STREAM, 4, 2, 4, first=4)], events_of_labels(STREAM))
    assert (scores.n_alerts, scores.n_events, scores.n_found) == (2, 3, 2)
    assert (scores.n_followed, scores.n_followed_found) == (2, 2)
    assert scores.n_within == (0, 1, 2)  # fire after 2 hours, flood after 10
    assert (scores.delay_hours, scores.delay_hours_90) == (6.0, pytest.approx(9.2))
    assert scores.n_exact == 1  # the second alert points at the later report of the flood
    assert (scores.true_first, scores.n_true_first_judged) == (0.5, 2)
    assert scores.per_day == pytest.approx(2 / 3) and scores.n_duplicates == 0
    assert scores.delay_documents == 1.0  # one document of each had come before


def test_the_same_event_again_is_a_duplicate_and_the_first_alert_counts():
    alerts = [alert(STREAM, 0, 1), alert(STREAM, 0, 1, 3), alert(STREAM, 3)]
    scores = alert_scores(alerts, events_of_labels(STREAM))
    assert (scores.n_found, scores.n_duplicates, scores.delay_hours) == (1, 2, 2.0)


def test_a_turn_of_an_event_that_had_an_alert_is_no_duplicate():
    alerts = [alert(STREAM, 2, 4, kind="turn"), alert(STREAM, 0, 1), alert(STREAM, 1, 3, kind="turn")]
    scores = alert_scores(alerts, events_of_labels(STREAM))
    assert (scores.n_found, scores.n_duplicates, scores.n_turns) == (2, 0, 1)


def test_precision_counts_alerts_whose_documents_are_of_one_event():
    known = events_of_labels(STREAM)
    cases = {
        (0, 1): 1.0,
        (0, 1, 2): 1.0,  # two of three
        (0, 2): 1.0,  # half
        (0, 2, 6): 0.0,  # three labels
        (6,): 0.0,  # nothing else tells of it
        (8, 9): 1.0,  # one source, but one event
    }
    for documents, expected in cases.items():
        scores = alert_scores([alert(STREAM, *documents)], known)
        assert (scores.precision, scores.n_judged) == (expected, 1)
    assert alert_scores([alert(STREAM, 8, 9)], known).n_found == 0
    unknown = alert_scores([alert(STREAM, 10)], known)
    assert np.isnan(unknown.precision) and np.isnan(unknown.true_first) and unknown.n_judged == 0


def test_an_alert_that_points_at_a_first_report_finds_its_event_whatever_else_it_holds():
    known = events_of_labels(STREAM)
    mixed = alert(STREAM, 0, 2, 6)
    assert alert_scores([mixed], known).n_found == 1  # the fire, at once: it names its first report
    elsewhere = alert(STREAM, 6, 0, 2, first=6)
    assert alert_scores([elsewhere], known).n_found == 0
    assert alert_scores([elsewhere], known, anywhere=True).n_found == 1
    larger = alert(STREAM, 2, 1, 3, first=2)  # two fires, but the first report of the flood
    scores = alert_scores([larger], known)
    assert (scores.n_found, scores.n_exact, scores.delay_hours) == (1, 0, 4.0)


def test_a_stricter_share():
    known = events_of_labels(STREAM)
    half = alert(STREAM, 1, 4, first=4)
    assert alert_scores([half], known).n_found == 1
    assert alert_scores([half], known, share=0.6).n_found == 0


def test_reports_of_the_same_time_are_all_first():
    stream = stream_of(("fire", 0, "A"), ("fire", 0, "B"), ("fire", 24, "C"))
    scores = alert_scores([alert(stream, 1, 2)], events_of_labels(stream))
    assert (scores.n_exact, scores.true_first) == (1, 1.0)


def test_without_times_delay_is_in_documents():
    stream = stream_of(("fire", 0, None), ("flood", 0, None), ("fire", 0, None), ("fire", 0, None), timed=False)
    known = events_of_labels(stream)
    scores = alert_scores([alert(stream, 0, 2, 3)], known)
    assert (scores.n_events, scores.n_followed, scores.n_found) == (1, 1, 1)
    assert np.isnan(scores.delay_hours) and scores.n_within == (0, 0, 0)
    assert (scores.delay_documents, scores.unit, scores.per_day) == (2.0, "in all", 1.0)
    assert known.is_first == {"0": True, "1": True, "2": False, "3": False}


def test_a_document_with_several_labels_belongs_to_each_event():
    stream = stream_of((["fire", "strike"], 0, "A"), ("fire", 1, "B"), ("strike", 2, "B"))
    known = events_of_labels(stream)
    assert [sorted(event.documents) for event in known.events] == [["0", "1"], ["0", "2"]]
    scores = alert_scores([alert(stream, 0, 1), alert(stream, 0, 2)], known)
    assert (scores.n_found, scores.n_duplicates) == (2, 0)


def test_no_alerts_and_no_events():
    scores = alert_scores([], events_of_labels(STREAM))
    assert (scores.n_alerts, scores.n_found, scores.n_events) == (0, 0, 3)
    assert np.isnan(scores.delay_hours) and np.isnan(scores.precision)
    nothing = alert_scores([alert(STREAM, 6)], events_of_labels(stream_of(("vote", 0, "A"))))
    assert (nothing.n_events, nothing.n_found) == (0, 0)


def test_a_known_first_report_stands_even_where_others_have_its_time():
    documents = stream_of(("fire", 0, "A"), ("fire", 0, "B")).documents
    assert known_event("fire", documents, first=documents[1]).firsts == {"1"}


def test_figures_by_name():
    row = alert_scores([alert(STREAM, 0, 1)], events_of_labels(STREAM)).as_dict()
    assert (row["n_within_1h"], row["n_within_6h"], row["n_within_24h"]) == (0, 1, 1) and "n_within" not in row
