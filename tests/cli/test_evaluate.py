"""`evaluate`: planted stories are judged through the production step, for several detectors side by side."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from firststory.cli.main import main
from firststory.datasets import make_story_stream
from firststory.datasets.streams import TextStream
from firststory.evaluate import evaluate_stream
from firststory.settings import Settings


def call(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return stopped.value.code or 0


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "planted.jsonl"
    lines = [
        json.dumps({"id": d.id, "text": d.text, "time": d.time.isoformat(), "label": d.label})
        for d in make_story_stream(150, 25, sentences=3).documents
    ]
    path.write_text("\n".join([*lines, "{broken", lines[0]]))
    return path


def test_a_table_curves_and_a_report(labelled, tmp_path, capsys):
    out = tmp_path / "out"
    options = ("--detector", "neighbour", "--detector", "clustering", "--language", "en", "--out", out)
    assert call("evaluate", labelled, *options) == 0
    said = capsys.readouterr()
    assert "neighbour" in said.out and "clustering" in said.out and "25 stories" in said.out
    heads = " ".join(said.out.split())
    assert all(words in heads for words in ("delay,", "weeks in", "delay: documents and days")) and "…" not in said.out
    assert "1 line could not be read" in said.err
    assert (out / "det.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "report.html").read_text()
    assert "Content-Security-Policy" in page and "neighbour" in page
    assert call("evaluate", labelled, *options, "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["detector"] for row in rows] == ["neighbour", "clustering"]
    assert all(row["auc"] > 0.8 and row["cost_topic"] < 1.0 for row in rows)


def test_the_command_and_the_library_agree(tmp_path, capsys):
    """On a stream with several labels, with none, and with a document that is delivered twice."""
    documents = [
        replace(d, label=[d.label, "s0"] if i % 7 == 3 else None if i % 11 == 5 else d.label)
        for i, d in enumerate(make_story_stream(150, 25, sentences=3).documents)
    ]
    documents.insert(80, documents[10])
    path = tmp_path / "several.jsonl"
    lines = (json.dumps({"id": d.id, "text": d.text, "time": d.time.isoformat(), "label": d.label}) for d in documents)
    path.write_text("\n".join(lines))
    options = ("--detector", "neighbour", "--language", "en", "--budget", "5%", "--out", tmp_path, "--json")
    assert call("evaluate", path, *options) == 0
    (row,) = json.loads(capsys.readouterr().out)

    settings = Settings(detector="neighbour", language="en", budget="5%", topics="none")
    said = evaluate_stream(TextStream("several", tuple(documents)), settings)
    delay, kept, stories = said.delay(), said.budget_kept("5%"), said.story_scores()
    expected = {
        "cost_topic": said.cost().topic_weighted, "cost_story": said.cost().story_weighted, "auc": said.auc(),
        "found_at_once": delay.at_once, "found": delay.ever,
        "delay_documents": delay.median_documents, "delay_days": delay.median_days,
        "novel_per_day": kept.per_day, "stories": stories._asdict(),
    }  # fmt: skip
    assert 0 < delay.at_once < 1  # there is something to disagree about
    assert {name: row[name] for name in expected} == expected


def test_numbers_that_are_none_are_null_in_json(tmp_path, capsys):
    path = tmp_path / "one.jsonl"
    path.write_text('{"text": "Flood in Bremen", "label": "a"}\n{"text": "Fire in Oslo", "label": "b"}\n')
    options = ("--detector", "neighbour", "--language", "en", "--out", tmp_path, "--json")
    assert call("evaluate", path, *options) == 0
    (row,) = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    # Of the first documents of a stream only a part may alert: here one of two.
    assert row["weeks_kept"] is None and row["delay_days"] is None and row["found"] == 0.5


def test_labels_may_be_objects(tmp_path, capsys):
    path = tmp_path / "objects.jsonl"
    labels = ({"a": 1, "b": 2}, {"b": 2, "a": 1}, [{"a": 1}], 7, "seven")
    path.write_text(
        "\n".join(json.dumps({"text": f"Flood {n} in Bremen", "label": one}) for n, one in enumerate(labels))
    )
    assert call("evaluate", path, "--detector", "neighbour", "--language", "en", "--out", tmp_path) == 0
    assert "5 with a label, 4 stories" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["taken", "taken/inside"])
def test_a_folder_that_cannot_be_made_is_said_before_the_work(name, labelled, tmp_path, capsys):
    (tmp_path / "taken").write_text("a file")
    assert call("evaluate", labelled, "--detector", "neighbour", "--out", tmp_path / name) == 1
    said = capsys.readouterr().err
    assert "--out" in said and "fault of firststory" not in said and "documents in" not in said


def test_the_detector_may_come_from_the_settings_file_or_the_environment(labelled, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "firststory.toml").write_text('detector = "clustering"\nlanguage = "en"\n')
    assert call("evaluate", labelled, "--json") == 0
    monkeypatch.setenv("FIRSTSTORY_DETECTOR", "neighbour")
    assert call("evaluate", labelled, "--json") == 0
    assert call("evaluate", labelled, "--json", "--detector", "l1") == 0
    used = [json.loads(line)[0]["detector"] for line in capsys.readouterr().out.splitlines()]
    assert used == ["clustering", "neighbour", "l1"]


def test_a_file_without_labels_says_what_is_missing(tmp_path, capsys):
    path = tmp_path / "plain.jsonl"
    path.write_text('{"text": "flood"}\n')
    assert call("evaluate", path, "--detector", "neighbour", "--out", tmp_path) == 1
    assert '"label"' in capsys.readouterr().err
