"""Same input, same bytes, whatever is installed; and word of what changed where something did."""

from __future__ import annotations

import importlib.util

import pytest

from firststory.pipeline import made_with
from firststory.pipeline.runner import Runner
from firststory.records import Document, Position
from firststory.store.store import Store
from firststory.text import segmentation

TEXTS = [
    "北京大学的桥被洪水关闭",
    "Flood 洪水 closes the bridge 桥",
    "東京で火事がありました",
    "Fire in Oslo 大学",
    "น้ำท่วมปิดสะพาน",
]


def run(settings, path, texts=TEXTS):
    said = []
    with Store(str(path)) as store:
        runner = Runner(settings, store, said.append)
        given = [(Document(id=f"{path.name}{i}", text=t), Position("f", {"line": i})) for i, t in enumerate(texts)]
        scores = [v.novelty for step in runner.run(given) for v in step.verdicts]
        return scores, said, store.settings()


def test_scores_do_not_depend_on_whether_icu_is_installed(quick, tmp_path, monkeypatch):
    found = importlib.util.find_spec

    def without(name, *more):
        return None if name == "icu" else found(name, *more)

    if found("icu") is None:
        pytest.skip("needs PyICU, to be without it in the second run")
    with_icu = run(quick(language="auto"), tmp_path / "a.db")[0]
    monkeypatch.setattr(segmentation, "find_spec", without)
    assert segmentation.best_segmenter() == "bigrams"
    assert run(quick(language="auto"), tmp_path / "b.db")[0] == with_icu
    monkeypatch.undo()
    chosen, _, kept = run(quick(language="auto", segmenter="icu"), tmp_path / "c.db")
    assert chosen != with_icu and kept["segmenter"] == "icu" and kept["made_with"]["ICU"]


def test_what_results_depend_on_is_recorded_and_told_once_when_it_changes(quick, tmp_path, monkeypatch):
    _, said, kept = run(quick(), tmp_path / "a.db")
    assert kept["made_with"]["PyStemmer"][0].isdigit() and kept["made_with"]["firststory"]
    assert not any("made with" in one for one in said)
    version = made_with.version
    monkeypatch.setattr(made_with, "version", lambda name: "99.1" if name == "PyStemmer" else version(name))
    _, said, kept = run(quick(), tmp_path / "a.db", ["Strike in Hull"])
    (told,) = [one for one in said if "made with" in one]
    assert "PyStemmer" in told and "99.1" in told and "numpy" not in told
    assert kept["made_with"]["PyStemmer"] == "99.1"
    assert not any("made with" in one for one in run(quick(), tmp_path / "a.db", [])[1])


def test_the_table_of_word_vectors_is_recorded(quick):
    assert made_with.TABLE in made_with.made_with(quick(detector="fused"))
    assert made_with.TABLE not in made_with.made_with(quick())
