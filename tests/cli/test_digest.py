"""`firststory digest`, `report` and `story`: what they print and write, for people and for programs."""

from __future__ import annotations

import json

import pytest

from digest import told
from firststory.cli.main import main
from firststory.digest.gather import digest_of
from firststory.digest.pages import html_page
from firststory.store.store import Store


def call(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return stopped.value.code or 0


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return told.write(tmp_path / "news.db")


def test_the_digest_of_yesterday_is_the_default(store, capsys):
    assert call("digest", "--store", store) == 0
    said = capsys.readouterr().out
    assert said.startswith("What happened since 2026-11-14\nUntil 2026-11-15 12:00: ")
    heads = [said.index(word) for word in ("Confirmed ·", "Turns ·", "First seen ·")]
    assert heads == sorted(heads)
    assert (
        "Report f-1\n"
        "  Told by 3 sources within 1.0 hours.\n"
        "  First report: AP, 2026-11-15 09:00: Report f-3\n"
        "  Sources: AP, dpa, Reuters\n"
        "  Also confirmed 2026-11-15 10:00: Report f-2\n"
        "  Also turn 2026-11-15 12:00: Report f0\n"
        "  flood\n"
        "  confirmed 2026-11-15 11:00 · a5 · story s1 · storyline l1\n"
        "  https://example.org/f-1\n"
    ) in said


@pytest.mark.parametrize(
    ("since", "ids"), [("12h", ["a5"]), ("all", ["a5", "a1"]), ("2026-11-13", ["a5", "a1"]), ("1min", [])]
)
def test_periods(store, since, ids, capsys):
    assert call("digest", "--store", store, "--since", since, "--format", "json") == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)["confirmed"]] == ids


def test_json_has_exactly_the_documented_keys(store, capsys):
    assert call("digest", "--store", store, "--since", "12h", "--format", "json") == 0
    value = json.loads(capsys.readouterr().out)
    assert list(value) == [
        "since", "until", "documents", "sources", "confirmed", "turns", "growing", "first_seen",
        "n_confirmed", "n_turns", "n_growing", "n_first_seen",
    ]  # fmt: skip
    assert list(value["growing"][0]) == [
        "story", "headline", "first", "latest", "documents", "documents_before", "sources",
    ]  # fmt: skip
    assert (value["since"], value["until"]) == ("2026-11-15T00:00:00Z", "2026-11-15T12:00:00Z")


@pytest.mark.parametrize(("form", "begins"), [
    ("text", "What happened"), ("html", "<!doctype html>"), ("markdown", "# What happened"), ("json", "{"),
])  # fmt: skip
def test_a_file_has_what_would_be_printed(store, form, begins, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert call("digest", "--store", store, "--format", form) == 0
    printed = capsys.readouterr().out
    assert call("digest", "--store", store, "--format", form, "--out", tmp_path / "out") == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "out").read_text().strip() == printed.strip() and printed.strip().startswith(begins)


def test_html_is_the_page_of_the_digest(store, capsys):
    assert call("digest", "--store", store, "--since", "12h", "--format", "html") == 0
    with Store(str(store)) as opened:
        assert capsys.readouterr().out == html_page(digest_of(opened, told.SINCE))


@pytest.mark.parametrize(("command", "remedy"), [
    (("digest", "--format", "pdf"), "text, html, markdown, json"),
    (("digest", "--since", "soon"), "yesterday"),
    (("digest", "--out", "no/such/folder/x"), "cannot be written"),
    (("report", "--out", "no/such/folder/x"), "cannot be written"),
    (("story", "s99"), "The store has no story s99."),
    (("stories", "s99", "--search", "flood"), "The store has no story s99."),
])  # fmt: skip
def test_mistakes_are_one_line_with_a_remedy(store, command, remedy, capsys):
    is_usage = command[1] in ("--format", "--since")
    assert call(*command, "--store", store) == (2 if is_usage else 1)
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and remedy in said.err


def test_an_empty_store_has_an_empty_digest_and_report(tmp_path, capsys):
    Store(str(tmp_path / "empty.db")).close()
    assert call("digest", "--store", tmp_path / "empty.db") == 0
    assert "Nothing happened" in capsys.readouterr().out
    assert call("report", "--store", tmp_path / "empty.db", "--out", tmp_path / "r.html") == 0
    assert "None: nothing was told by enough sources." in (tmp_path / "r.html").read_text()


def test_the_report_is_named_after_the_store_and_tells_each_alert_once(store, tmp_path, capsys):
    assert call("report", "--store", store) == 0
    assert capsys.readouterr().out == "Written: news.html\n"
    page = (tmp_path / "news.html").read_text()
    assert "What was new in news" in page and "default-src 'none'" in page and "unsafe" not in page
    for name in ("a1", "a4", "a5"):
        assert page.count(f"· {name} ·") == 1
    assert call("report", "--store", store, "--name", "the wire", "--out", tmp_path / "w.html") == 0
    assert "What was new in the wire" in (tmp_path / "w.html").read_text()


def test_a_story_begins_with_its_title_and_shows_its_turning_points_in_time(store, capsys):
    assert call("story", "s1", "--store", store) == 0
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[:5] == [
        "Story of s1",
        "  s1 · open · storyline l1 (6 stories): Floods of the north",
        "  4 documents, 2026-11-15 09:00 to 2026-11-15 12:00",
        "  first report: AP, 2026-11-15 09:00 · Report f-3",
        "  3 sources: AP, Reuters, dpa",
    ]
    assert "before it in the storyline: s4, 2026-11-15 06:00 · Story of s4" in said and "holds s7" in said
    row = lines.index(next(line for line in lines if line.startswith("  2026-11-15 11:00")))
    assert lines[row].endswith(" 2")  # with the duplicate
    assert lines[row + 1] == "    confirmed a5 11:00: Report f-1"
    assert "    merged s7 12:00: A flood too · the same flood" in lines
    assert "Report f-3 (duplicate)" in said


def test_stories_with_an_id_is_the_same(store, capsys):
    for more in ((), ("--json",), ("--limit", "2")):
        assert call("story", "s1", "--store", store, *more) == 0
        one = capsys.readouterr().out
        assert call("stories", "s1", "--store", store, *more) == 0
        assert capsys.readouterr().out == one
    assert "The latest 2 of 5; more with --limit." in one


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("command", [("digest", "--since", "all"), ("story", "s1"), ("story", "s7")])
def test_lines_fit_the_screen(store, width, command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    assert call(*command, "--store", store) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= width
