"""Data frames and files into a monitor, frames and pages out of it."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import firststory as fs
from firststory.errors import ParameterError, SourceError
from firststory.records import Document, Evidence, Story, Term, Verdict

QUICK = {"detector": "neighbour", "topics": "none", "language": "en", "step": 10}


@pytest.fixture
def rows(news):
    return [
        {"id": i, "text": d.text, "title": None if i % 3 else d.title, "time": d.time if i % 4 else None, "page": i / 2}
        for i, d in enumerate(news[:30])
    ]


def judged(documents, **settings):
    with fs.Monitor(**QUICK | settings) as monitor:
        return [
            (v.document.id, v.document.text, v.document.title, v.document.time, v.document.extra, v.novelty)
            for v in monitor.watch(documents)
        ]


def frames(rows):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(rows)
    yield "pandas", frame
    yield "pandas, the ids as index", frame.set_index("id")
    yield "pandas, newer types", frame.convert_dtypes()
    yield "pandas, rows", (row for _, row in frame.iterrows())
    yield "pandas, pairs", frame.iterrows()
    yield "pandas, tuples", frame.itertuples(index=False)
    yield "pandas, dictionaries", frame.to_dict("records")
    yield "polars", polars.DataFrame(rows)
    yield "polars, lazy", polars.DataFrame(rows).lazy()
    yield "Arrow", arrow.Table.from_pylist(rows)
    yield "Arrow, batches", arrow.Table.from_pylist(rows).to_reader(max_chunksize=7)
    yield "Arrow, one batch", arrow.RecordBatch.from_pylist(rows)


def test_frames_of_every_library_are_the_same_documents(rows):
    expected = judged([{key: value for key, value in row.items() if value is not None} for row in rows])
    assert len(expected) == 30
    for name, frame in frames(rows):
        assert judged(frame) == expected, name


def test_columns_of_a_frame_under_other_names(rows):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows).rename(columns={"text": "body", "id": "nr"})
    assert judged(frame, columns={"text": "body", "id": "nr"}) == judged(rows)
    with pytest.warns(UserWarning, match="could be read .missing-text 30.*If body holds it.*columns="):
        assert judged(frame) == []


@pytest.mark.parametrize("name", ["news.jsonl", "news.csv", "news.parquet"])
def test_a_file_by_its_name_goes_on_where_it_stopped(tmp_path, rows, name):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / name
    frame = pandas.DataFrame(rows)
    {
        "news.jsonl": lambda: frame.to_json(path, orient="records", lines=True, date_format="iso"),
        "news.csv": lambda: frame.to_csv(path, index=False),
        "news.parquet": lambda: frame.to_parquet(path),
    }[name]()
    assert [one[0] for one in judged(str(path))] == [str(i) for i in range(30)]
    store = str(tmp_path / "a.db")
    assert len(judged(path, store=store)) == 30
    assert judged(path, store=store) == []
    if name == "news.jsonl":
        with path.open("a") as file:
            file.write(json.dumps({"id": "more", "text": "Fire in Oslo"}) + "\n")
        assert [one[0] for one in judged(path, store=store)] == ["more"]


def test_what_is_neither_a_file_nor_documents_is_refused():
    with fs.Monitor(**QUICK) as monitor:
        with pytest.raises(SourceError, match="does not exist"):
            list(monitor.watch("nowhere.jsonl"))
        with pytest.raises(ParameterError, match="in a list"):
            list(monitor.watch("Flood closes the harbour bridge"))
        for one in (b"bytes", {"text": "a"}, Document(id="1", text="a"), 7, None):
            with pytest.raises(ParameterError, match="an iterable of documents"):
                list(monitor.watch(one))


def test_verdicts_as_a_frame(rows, tmp_path):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    with fs.Monitor(store=tmp_path / "a.db", **QUICK) as monitor:
        verdicts = list(monitor.watch(rows))
        frame = monitor.verdicts_frame(verdicts)
        assert isinstance(frame, pandas.DataFrame) and list(frame["id"]) == [v.document.id for v in verdicts]
        assert list(frame["is_novel"]) == [v.is_novel for v in verdicts]
        assert list(monitor.verdicts_frame()["id"]) == [v.document.id for v in reversed(verdicts)]
        assert len(monitor.verdicts_frame(limit=4)) == 4
        assert monitor.verdicts_frame(novel=True)["is_novel"].all()
        other = monitor.verdicts_frame(verdicts, library="polars")
        assert isinstance(other, polars.DataFrame) and other["title"].to_list() == [v.document.title for v in verdicts]
        assert list(monitor.verdicts_frame([])) == list(frame)
        with pytest.raises(ParameterError, match="pandas"):
            monitor.verdicts_frame(library="panda")
    with fs.Monitor(**QUICK) as monitor, pytest.raises(ParameterError, match="no store"):
        monitor.verdicts_frame()


def test_a_verdict_as_a_dictionary_is_json_with_title_link_and_source(news):
    with fs.Monitor(**QUICK) as monitor:
        for verdict in monitor.watch(news[:20]):
            told = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
            document = verdict.document
            assert (told["id"], told["title"], told["source"]) == (document.id, document.title, document.source)
            assert told["time"].endswith("Z") and told["story"] == verdict.story and "url" in told


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e<img src=x onerror=alert(2)>\"'&"


def test_pages_of_a_notebook_are_escaped():
    document = Document(id=HOSTILE, text=HOSTILE, title=HOSTILE, source=HOSTILE, url="javascript:alert(3)")
    evidence = Evidence(terms=(Term(HOSTILE, 1.0),), sentence=HOSTILE)
    verdict = Verdict(document, 0.9, 0.01, True, story="s1", evidence=evidence)
    story = Story(HOSTILE, HOSTILE, None, None, 1, "x", sources=(HOSTILE,), key_terms=(HOSTILE,))
    for page in (verdict._repr_html_(), story._repr_html_()):
        assert "<script" not in page and "<img" not in page and "&lt;script&gt;" in page
        assert "\x1b" not in page and "\u202e" not in page and "javascript:" not in page
    assert "1 document<" in story._repr_html_() or "1 document " in story._repr_html_()
    linked = Verdict(Document(id="1", text="a", url='https://example.org/"><script>'), 0.1, None, False)
    assert "<script" not in linked._repr_html_() and 'href="https://example.org/' in linked._repr_html_()


def test_a_monitor_says_what_it_is(tmp_path, news):
    with fs.Monitor(store=tmp_path / "x.db", **QUICK) as monitor:
        list(monitor.watch(news[:25]))
        assert repr(monitor).startswith("<Monitor store=") and "x.db" in repr(monitor) and "3 steps" in repr(monitor)
    assert "no store" in repr(fs.Monitor(**QUICK))


def test_numbers_of_numpy_are_ids_and_nan_is_nothing(news):
    given = [
        {"id": np.int64(i), "text": d.text, "title": float("nan"), "source": np.nan} for i, d in enumerate(news[:5])
    ]
    with warnings.catch_warnings(), fs.Monitor(**QUICK) as monitor:
        warnings.simplefilter("error")
        found = [v.document for v in monitor.watch(given)]
    assert [d.id for d in found] == list("01234") and {(d.title, d.source) for d in found} == {(None, None)}
