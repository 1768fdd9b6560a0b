"""`--vectors` on the command line: the encoder is used, says how fast it was, and is found again by the next run."""

from __future__ import annotations

import json
import shutil

import pytest

from firststory.cli.main import main
from firststory.store.store import Store
from tiny_encoder import make_encoder

TEXTS = ["storm floods harbour", "mayor resigns", "gale floods port", "bridge closed", "vote"]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(TEXTS)))
    return path


def call(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return stopped.value.code or 0


def test_run_says_how_fast_the_encoder_was_and_the_next_run_finds_it(lines, tmp_path, capsys):
    folder, store = make_encoder(tmp_path / "tiny"), tmp_path / "news.db"
    rest = ("--language", "en", "--topics", "none")
    assert call("run", lines, "--store", store, "--vectors", folder, *rest) == 0
    assert "Vectors: 5 texts by" in (said := capsys.readouterr().out) and "texts/s" in said
    with lines.open("a") as file:
        file.write(json.dumps({"id": "more", "text": "mayor vote"}) + "\n")
    assert call("run", lines, "--store", store) == 0
    assert "Vectors: 1 text by" in capsys.readouterr().out
    with Store(store, create=False) as opened:
        assert all(verdict.document.vector is not None for verdict in opened.verdicts())
    shutil.rmtree(folder)
    assert call("run", lines, "--store", store) == 2
    assert "There is no folder" in (said := capsys.readouterr().err) and "--vectors" in said


def test_score_says_how_fast_the_encoder_was_on_standard_error(lines, tmp_path, capsys):
    assert call("score", lines, "--vectors", make_encoder(tmp_path / "tiny"), "--language", "en") == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == len(TEXTS) and "texts/s" in said.err


def test_a_folder_without_a_model_says_what_must_be_there(lines, tmp_path, capsys):
    assert call("run", lines, "--store", tmp_path / "news.db", "--vectors", tmp_path) == 2
    assert "has no model.onnx and no tokenizer.json" in capsys.readouterr().err
    assert not (tmp_path / "news.db").exists()
