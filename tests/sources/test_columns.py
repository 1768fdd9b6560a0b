"""Other people's files: columns under other names, other separators, values that are not there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pytest

from firststory.errors import DocumentError, SourceError
from firststory.sources.absent import is_absent
from firststory.sources.files import read
from firststory.sources.parse import document_from

COLUMNS = {"text": "body", "title": "headline", "id": "nr"}
ROWS = [
    {"nr": "1", "headline": "Flood", "body": "Bridge closed; traffic stops", "page": "4"},
    {"nr": "2", "headline": "Oslo", "body": "The mayor, at last, resigned", "page": "5"},
]


def table(separator):
    quoted = [[f'"{value}"' for value in row.values()] for row in ROWS]
    return "\n".join(separator.join(row) for row in [list(ROWS[0]), *quoted]) + "\n"


def parquet(path):
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    pyarrow.parquet.write_table(arrow.Table.from_pylist(ROWS), path)


FILES = {
    "a.jsonl": lambda path: path.write_text("".join(json.dumps(row) + "\n" for row in ROWS)),
    "a.csv": lambda path: path.write_text(table(",")),
    "semicolons.csv": lambda path: path.write_text(table(";")),
    "tabs.csv": lambda path: path.write_text(table("\t")),
    "bars.csv": lambda path: path.write_text(table("|")),
    "a.tsv": lambda path: path.write_text(table("\t")),
    "a.parquet": parquet,
}


@pytest.mark.parametrize("name", FILES)
def test_columns_of_other_names_are_read_from_every_kind_of_file(tmp_path, name):
    FILES[name](tmp_path / name)
    found = list(read(str(tmp_path / name), columns=COLUMNS))
    assert [(d.id, d.title, d.text) for d, _ in found] == [
        tuple(row[k] for k in ("nr", "headline", "body")) for row in ROWS
    ]
    assert [d.extra for d, _ in found] == [{"page": "4"}, {"page": "5"}]
    # It goes on from any position, the separator known again from the header.
    assert list(read(str(tmp_path / name), columns=COLUMNS, after=found[0][1])) == found[1:]


@pytest.mark.parametrize("name", [name for name in FILES if name != "a.jsonl"])
def test_a_table_without_text_is_one_error_that_names_the_near_miss(tmp_path, name):
    FILES[name](tmp_path / name)
    with pytest.raises(SourceError, match=r"no column text: nr, headline, body, page.*--map text=body"):
        list(read(str(tmp_path / name)))
    with pytest.raises(SourceError, match=r"no column b\b.*columns"):
        list(read(str(tmp_path / name), columns={"text": "b"}))


@pytest.mark.parametrize(
    ("keys", "near"),
    [(["Text", "body"], "Text"), (["id", "BODY"], "BODY"), (["content", "title"], "content"), (["Full Text"], None)],
)
def test_a_line_without_text_names_the_near_miss(keys, near):
    with pytest.raises(DocumentError) as error:
        document_from(dict.fromkeys(keys, "Flood"))
    assert error.value.reason == "missing-text"
    assert (f"--map text={near}" in str(error.value)) == (near is not None)


def test_a_dot_leads_into_an_object():
    found = document_from({"data": {"body": "Flood", "at": 7}}, {"text": "data.body", "time": "data.at"})
    assert found.text == "Flood" and found.time == datetime(1970, 1, 1, 0, 0, 7, tzinfo=UTC)


def test_another_column_of_our_name_is_not_taken_for_the_field():
    assert document_from({"body": "Flood", "title": "x", "headline": None}, COLUMNS).title is None


def nothings():
    yield from (None, float("nan"), np.float64("nan"), np.float32("nan"), np.datetime64("NaT"), Decimal("NaN"))
    pandas = pytest.importorskip("pandas")
    yield from (pandas.NaT, pandas.NA)


def test_what_is_absent_is_absent_everywhere():
    for nothing in nothings():
        assert is_absent(nothing)
        fields = dict.fromkeys(("id", "time", "title", "source", "url", "label", "vector"), nothing)
        found = document_from({"text": "Flood", **fields})
        assert found.id.startswith("c-")
        assert {found.time, found.title, found.source, found.url, found.label, found.vector} == {None}
        with pytest.raises(DocumentError) as error:
            document_from({"text": nothing})
        assert error.value.reason == "missing-text"
        if nothing is not None:
            assert document_from({"text": "Flood", "page": nothing}).extra == {}
    for something in (0, 0.0, "", "nan", False, [], np.array([1.0, np.nan]), float("inf")):
        assert not is_absent(something)


@pytest.mark.parametrize(
    ("given", "identity"), [(np.int64(7), "7"), (np.uint8(7), "7"), (7.0, "7"), (7, "7"), (" 7 ", "7")]
)
def test_whole_numbers_are_ids(given, identity):
    assert document_from({"text": "x", "id": given}).id == identity


@pytest.mark.parametrize("given", [7.5, True, ["7"], float("inf")])
def test_other_values_are_no_ids(given):
    with pytest.raises(DocumentError) as error:
        document_from({"text": "x", "id": given})
    assert error.value.reason == "bad-id"


def test_times_of_numpy_and_pandas():
    pandas = pytest.importorskip("pandas")
    moment = datetime(2026, 11, 15, 22, tzinfo=UTC)
    for given in (
        np.datetime64("2026-11-15T22:00"), np.datetime64("2026-11-15T22:00:00.000000001"), pandas.Timestamp(moment),
        pandas.Timestamp("2026-11-15T22:00:00.000000001Z"), np.float64(moment.timestamp()),
        np.int64(moment.timestamp()), np.float32(0) + np.int64(moment.timestamp()),
    ):  # fmt: skip
        found = document_from({"text": "x", "time": given}).time
        assert type(found) is datetime and found == moment


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "1e400"])
def test_an_infinite_time_is_bad_and_nan_is_absent(tmp_path, number):
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"text": "a", "time": {number}}}\n{{"text": "b", "time": NaN}}\n')
    bad, (document, _) = read(str(path))
    assert bad.reason == "bad-time" and document.time is None
