"""The commands with the packages that `pip install firststory` brings and no others."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from firststory.datasets import make_story_stream

ROOT = Path(__file__).parents[2]
ALONE = """
import importlib.metadata, json, sys
from importlib.machinery import PathFinder

allowed = set(json.loads(sys.argv.pop(1)))
owners = importlib.metadata.packages_distributions()
normal = lambda name: name.lower().replace("_", "-").replace(".", "-")
blocked = {module for module, names in owners.items() if not allowed & set(map(normal, names))} - {"firststory"}

class Core(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in blocked else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Core
from firststory.cli.main import main

main()
"""


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def core_packages():
    """The dependencies that pyproject.toml names, and theirs, as installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    waiting = list(project["dependencies"])
    found = set()
    while waiting:
        required, _, condition = waiting.pop().partition(";")
        name = normal(re.match(r"[\w.-]+", required.strip()).group())
        if name in found or "extra ==" in condition:
            continue
        try:
            waiting += metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # a condition that does not hold here
            continue
        found.add(name)
    return found


@pytest.fixture(scope="module")
def core():
    names = core_packages()
    assert {"numpy", "typer", "joblib"} <= names and not {"matplotlib", "wordllama", "tokenizers", "requests"} & names

    def call(*arguments):
        command = [sys.executable, "-c", ALONE, json.dumps(sorted(names)), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert "Traceback" not in done.stderr and "fault of firststory" not in done.stderr, done.stderr
        return done

    return call


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    path = tmp_path_factory.mktemp("news") / "news.jsonl"
    documents = make_story_stream(60, 10, sentences=2).documents
    lines = (json.dumps({"id": d.id, "text": d.text, "time": d.time.isoformat(), "label": d.label}) for d in documents)
    path.write_text("\n".join(lines) + "\n")
    return path


MEANING = "pip install 'firststory[meaning]'"
PLOT = "pip install 'firststory[plot]'"


def test_run_with_the_default_detector_says_once_what_is_missing(core, news, tmp_path):
    done = core("run", news, "--store", tmp_path / "a.db", "--language", "en")
    assert done.returncode == 0 and "documents judged" in done.stdout and done.stderr.count(MEANING) == 1
    figure = core("topics", "--store", tmp_path / "a.db", "--plot", tmp_path / "topics.png")
    assert figure.returncode == 1 and PLOT in figure.stderr and figure.stderr.count("\n") == 1


def test_score_agrees_with_the_detector_that_compares_words_alone(core, news):
    fused = core("score", news, "--language", "en")
    words = core("score", news, "--language", "en", "--detector", "fused-words")
    assert fused.returncode == words.returncode == 0 and len(fused.stdout.splitlines()) == 60
    assert fused.stdout == words.stdout
    assert fused.stderr.count(MEANING) == 1 and MEANING not in words.stderr


def test_evaluate_writes_its_report_and_says_what_the_figure_needs(core, news, tmp_path):
    done = core("evaluate", news, "--detector", "fused", "--language", "en", "--out", tmp_path)
    assert done.returncode == 0 and (tmp_path / "report.html").is_file() and not (tmp_path / "det.png").exists()
    assert PLOT in done.stdout and done.stderr.count(MEANING) == 1


@pytest.mark.parametrize("arguments", [("reproduce", "tdt2", "--quick"), ("reproduce", "--list")])
def test_the_laboratory_says_what_it_needs(core, arguments):
    done = core(*arguments)
    assert done.returncode == 1 and "pip install 'firststory[lab]'" in done.stderr
