"""Engines are opened by what people type, and compute pieces in order."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

import firststory as fs
from engines.pieces import refuse, squared
from firststory.engines import open_engine
from firststory.errors import EngineError, MissingExtraError, ParameterError
from firststory.settings import load


@pytest.mark.parametrize("text", ["serial", "threads", "threads:1", "threads:3"])
def test_results_come_in_the_order_of_the_pieces(text):
    with open_engine(text) as engine:
        assert engine.map(squared, list(range(50)), 7) == [i * i + 7 for i in range(50)]
        assert engine.map(squared, [], 7) == []
        assert engine.name == text


@pytest.mark.parametrize("text", ["serial", "threads:2"])
def test_what_the_function_raises_is_raised(text):
    with open_engine(text) as engine, pytest.raises(ValueError, match="piece 1"):
        engine.map(refuse, [1, 2])


@pytest.mark.parametrize(
    "text",
    ["", "thread", "threads:0", "threads:x", "dask", "dask://", "dask://host", "dask://host:0", "dask://host:99999",
     "dask://local:0", "dask://host:8786?deadline=x", "dask://host:8786/x", "spark://host:1"],
)  # fmt: skip
def test_what_is_no_engine_is_refused_with_what_is(text):
    with pytest.raises(ParameterError, match="dask://HOST:PORT"):
        open_engine(text)


def test_a_missing_extra_is_named(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "firststory.engines.opening.find_spec", lambda name: None if name == "distributed" else find(name)
    )
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[dask\]'"):
        open_engine("dask://127.0.0.1:1")


def test_a_scheduler_that_is_not_there_is_told_in_a_sentence(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("firststory.engines.dask_cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(EngineError, match=r"No dask scheduler answers at tcp://127\.0\.0\.1:9"):
        open_engine("dask://127.0.0.1:9")


def test_a_detector_that_has_no_blocks_refuses_an_engine():
    with pytest.raises(ParameterError, match="computes on one core"):
        fs.Monitor(detector="neighbour", topics="none", engine="threads:2")


def test_the_engine_is_a_setting_like_any_other(tmp_path):
    file = tmp_path / "firststory.toml"
    file.write_text('engine = "threads:2"\n')
    assert load({}, config=file).engine == "threads:2"
    assert load({}, environment={"FIRSTSTORY_ENGINE": "threads"}, config=file).engine == "threads"
    assert "engine" not in load().model()


def test_nobody_who_does_not_ask_for_dask_loads_it():
    code = (
        "import sys, firststory as fs; import firststory.engines\n"
        "fs.OnlineL1Dictionary, fs.Monitor\n"
        "assert not {'dask', 'distributed'} & set(sys.modules), 'dask is loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
