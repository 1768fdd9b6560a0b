"""The report: figures right, text harmless, and in a real browser nothing runs and nothing is loaded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from firststory.alerts.budget import parse_budget
from firststory.datasets.streams import TextStream
from firststory.evaluate import Evaluation, compare
from firststory.evaluate.budget_kept import budget_kept
from firststory.evaluate.report import render_report, write_report
from firststory.records import Alert, Document

EVIL = "<script>document.title='owned'</script><img src=http://127.0.0.1:9/x onerror=alert(1)>\u202e\x1b[2J"


def comparison(name="mine", n=60, stream="test stream"):
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=n)
    start = datetime(2020, 1, 1, tzinfo=UTC)
    documents = (
        Document(id=str(i), text="", time=start + timedelta(hours=8 * i), label=str(label))
        for i, label in enumerate(labels)
    )
    made = TextStream(stream, tuple(documents))
    first = np.array([label not in labels[:i] for i, label in enumerate(labels)])
    good = first + 0.1 * rng.random(n)
    runs = [
        Evaluation.from_scores(name, made, good, good > 0.5, labels, seconds=0.5),
        Evaluation.from_scores("guess", made, rng.random(n), rng.random(n) > 0.9, np.arange(n)),
    ]
    return compare(stream, runs, "1/day", n_bootstrap=20)


def test_figures_of_a_perfect_and_a_guessing_detector():
    result = comparison()
    perfect, guess = result.scores
    assert perfect.cost.topic_weighted == 0.0 and perfect.auc == 1.0 and perfect.precision == 1.0
    assert perfect.delay.at_once == perfect.delay.ever == 1.0 and perfect.delay.median_documents == 0.0
    assert perfect.stories.f1 == 1.0 and perfect.documents_per_second == 120.0
    assert guess.cost.topic_weighted > 0.3 and result.best is perfect
    assert [row["detector"] for row in result.table()] == ["mine", "guess"]


def test_budget_is_counted_by_week():
    times = np.arange(0, 28 * 86400, 3600.0)
    for per_day, kept in ((2, 1.0), (3, 0.0)):
        novel = (np.arange(times.size) % 24) < per_day
        told = budget_kept(times, novel, parse_budget("2/day"))
        assert told.per_day == per_day and told.full_weeks == 3 and told.kept_weeks == kept


@pytest.mark.parametrize(
    ("n", "per_day", "unit"), [(1, 1.0, "in all"), (400, 400.0, "in all"), (4000, 1000.0, "per thousand documents")]
)
def test_a_short_file_without_times_is_not_blown_up_to_a_day(n, per_day, unit):
    kept = budget_kept(np.full(n, np.nan), np.ones(n, dtype=bool), parse_budget("100%"))
    assert (kept.per_day, kept.allowed, kept.unit) == (per_day, per_day, unit)


def test_a_few_days_are_days_too():
    kept = budget_kept(np.arange(6) * 43200.0, np.array([1, 0, 1, 0, 1, 0], dtype=bool), parse_budget("1/day"))
    assert (kept.per_day, kept.unit, kept.by_week) == (1.0, "per day with documents", ())


def test_the_page_tells_the_delay_in_words_and_in_its_table():
    page = render_report(comparison())
    assert "without any delay" in page and "<dt>Delay</dt>" in page
    assert '<td>0 <span class="interval">0.0 days</span></td>' in page


def test_the_tables_fit_a_window_of_1100_pixels(tmp_path: Path, looked_at):
    path = write_report(comparison("mixture-of-words"), tmp_path / "report.html")

    def look(page):
        page.set_viewport_size({"width": 1100, "height": 900})
        fits = "[...document.querySelectorAll('.scroll')].map(box => box.scrollWidth <= box.clientWidth)"
        assert page.evaluate(fits) == [True, True, True]

    looked_at(path, look)


def test_page_is_one_file_without_scripts_and_its_style_is_allowed():
    page = render_report(comparison(EVIL, stream=EVIL))
    assert "<script" not in page and "<img" not in page and "onerror=alert(1)>" not in page
    assert not set(page) & set("\u202e\x1b")
    assert "http://" not in page.replace("http://127.0.0.1:9", "") and "https://" not in page
    assert "&lt;script&gt;" in page and "default-src" in page and "none" in page


def test_in_a_browser_nothing_runs_and_nothing_is_loaded(tmp_path: Path, looked_at):
    path = write_report(comparison(EVIL, stream=EVIL), tmp_path / "report.html")

    def look(page):
        assert page.title().startswith("firststory: <script>")  # as text
        assert (
            page.locator("table").first.locator("tbody tr").count() == 2 and page.locator("svg polyline").count() == 4
        )
        # The style sheet was let through by its hash: the body is not in the browser's own font size and colours.
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(244, 246, 248)"

    asked, said = looked_at(path, look)
    assert asked == [path.as_uri()]
    assert not [text for text in said if "Refused" in text or "violates" in text or "dialog" in text]


def test_the_page_judges_alerts_and_storylines():
    start = datetime(2020, 1, 1, tzinfo=UTC)
    documents = tuple(
        Document(str(i), "", start + timedelta(hours=3 * i), label=label, source=source)
        for i, (label, source) in enumerate([("fire", "A"), ("fire", "B"), ("flood", "A"), ("flood", "B")])
    )
    what = {"sources": (), "terms": (), "story": None, "storyline": None, "score": 1.0, "sentence": ""}
    alert = Alert(
        "a1", "confirmed", documents[0], documents[1], documents[1].time, timedelta(hours=3), ("0", "1"), **what
    )
    said = Evaluation.from_scores(
        "mine", TextStream("made", documents), [1.0, 0.0, 1.0, 0.0], [True, False, True, False],
        ["s1", "s1", "s2", "s2"], alerts=[alert], storyline=["l1"] * 4,
    )  # fmt: skip
    result = compare("made", [said], "1/day", n_bootstrap=20)
    page = render_report(result)
    assert "They found 1 of the 2 events, 1 of the 2 that a second source tells of within two days" in page
    assert "<td>1 of 2</td>" in page and "<td>0, 1, 1</td>" in page and "<td>storylines</td>" in page
    (row,) = result.table()
    assert list(row["alerts"]) == ["confirmed"] and row["alerts"]["confirmed"]["delay_hours"] == 3.0
    assert row["stories"]["f1"] == 1.0 and row["storylines"]["precision"] == 0.5
    turn = replace(said, alerts=(alert, replace(alert, kind="turn"), replace(alert, kind="first_seen")))
    (row,) = compare("made", [turn], "1/day", n_bootstrap=20).table()
    assert {name: one["n_alerts"] for name, one in row["alerts"].items()} == {
        "confirmed": 1, "confirmed and turns": 2, "first seen": 1,
    }  # fmt: skip
