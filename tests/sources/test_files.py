"""Files as documents: every format, every compression, and all the ways in which input can be bad."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import sys
import tracemalloc
from datetime import UTC, datetime

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.errors import MissingExtraError, SourceError
from firststory.records import Document, Position, Quarantined
from firststory.sources.files import expand, read, read_all, source_name
from firststory.sources.times import ASSUMED_UTC

DOCUMENTS = [
    {"id": str(i), "text": f"Text number {i}\nsecond line", "time": "2026-11-15T22:00:00Z", "page": i} for i in range(7)
]


def jsonl(values=DOCUMENTS) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def documents(path, **options) -> list[Document]:
    return [item[0] for item in read(str(path), **options) if not isinstance(item, Quarantined)]


def quarantined(path, **options) -> list[Quarantined]:
    return [item for item in read(str(path), **options) if isinstance(item, Quarantined)]


def write(tmp_path, data: bytes, name="news.jsonl"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def as_csv(delimiter=",") -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "text", "time", "page"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(DOCUMENTS)
    return out.getvalue().encode()


def as_parquet(path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    parquet.write_table(pa.Table.from_pylist(DOCUMENTS), path, row_group_size=2)
    return path


COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}


def make(tmp_path, kind, suffix):
    if kind == "parquet":
        return as_parquet(tmp_path / "news.parquet")
    data = {"jsonl": jsonl, "csv": as_csv, "tsv": lambda: as_csv("\t")}[kind]()
    return write(tmp_path, COMPRESSIONS[suffix](data), f"news.{kind}{suffix}")


CASES = [(kind, suffix) for kind in ("jsonl", "csv", "tsv") for suffix in COMPRESSIONS] + [("parquet", "")]


@pytest.mark.parametrize(("kind", "suffix"), CASES)
def test_every_format_gives_the_same_documents(tmp_path, kind, suffix):
    found = documents(make(tmp_path, kind, suffix))
    assert [(d.id, d.text, d.time) for d in found] == [
        (d["id"], d["text"], datetime(2026, 11, 15, 22, tzinfo=UTC)) for d in DOCUMENTS
    ]
    assert [int(d.extra["page"]) for d in found] == list(range(7))


@pytest.mark.parametrize(("kind", "suffix"), CASES)
def test_every_format_resumes_after_every_document(tmp_path, kind, suffix):
    path = str(make(tmp_path, kind, suffix))
    whole = list(read(path))
    said = []
    for i, (_, position) in enumerate(whole):
        assert list(read(path, after=position, say=said.append)) == whole[i + 1 :]
    assert said == []


def test_compression_is_told_by_content_not_by_name(tmp_path):
    assert len(documents(write(tmp_path, gzip.compress(jsonl()), "news.jsonl"))) == 7


def test_several_gzip_members_and_zstd_frames(tmp_path):
    for suffix in (".gz", ".zst"):
        data = COMPRESSIONS[suffix](jsonl()) * 2
        assert len(documents(write(tmp_path, data, "twice.jsonl" + suffix))) == 14


def test_an_appended_file_gives_only_the_new(tmp_path):
    path = write(tmp_path, jsonl())
    *_, (_, position) = read(str(path))
    with path.open("ab") as file:
        file.write(b'{"id": "new", "text": "more"}\n')
    assert [d.id for d in documents(path, after=position)] == ["new"]


@pytest.mark.parametrize("change", ["truncated", "replaced"])
@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_changed_file_is_noticed_said_and_read_again(tmp_path, change, suffix):
    path = make(tmp_path, "jsonl", suffix)
    position = list(read(str(path)))[4][1]
    data = jsonl(DOCUMENTS[:2]) if change == "truncated" else jsonl([{**d, "id": "x" + d["id"]} for d in DOCUMENTS])
    path.write_bytes(COMPRESSIONS[suffix](data))
    said = []
    assert len(documents(path, after=position, say=said.append)) == (2 if change == "truncated" else 7)
    assert len(said) == 1 and "from the start" in said[0]


def test_a_last_line_that_is_still_being_written_is_read_again(tmp_path):
    path = write(tmp_path, jsonl() + b'{"id": "half", "te')
    *_, bad = read(str(path))
    assert bad.reason == "wrong-json"
    with path.open("ab") as file:
        file.write(b'xt": "whole now"}\n')
    assert [d.id for d in documents(path, after=bad.position)] == ["half"]


BAD_LINES = {
    "wrong-json": b'{"text": "unfinished',
    "not-an-object": b'["text"]',
    "missing-text": b'{"id": "1", "title": "no text"}',
    "text-not-a-string": b'{"text": 17}',
    "empty-text": b'{"text": "  \\n "}',
    "broken-utf8": b'{"text": "caf\xe9 \xff"}',
    "bad-time": b'{"text": "x", "time": "yesterday-ish"}',
    "bad-id": b'{"text": "x", "id": {"a": 1}}',
}


@pytest.mark.parametrize("reason", BAD_LINES)
def test_a_bad_line_is_put_aside_with_reason_and_position_and_the_stream_goes_on(tmp_path, reason):
    path = write(tmp_path, jsonl(DOCUMENTS[:2]) + BAD_LINES[reason] + b"\n" + jsonl(DOCUMENTS[2:]))
    assert [d.id for d in documents(path)] == [d["id"] for d in DOCUMENTS]
    (bad,) = quarantined(path)
    assert bad.reason == reason
    assert bad.position.source == str(path) and bad.position.at["line"] == 3
    assert bad.message and "\0" not in bad.excerpt


def test_nul_characters_are_left_out_and_very_deep_json_is_quarantined(tmp_path):
    nul = b'{"text": "a\0b"}\n{"text": "c\\u0000d", "title": "\\u0000", "id": "e\\u0000f"}\n'
    path = write(tmp_path, nul + b'{"text": ' + b"[" * 100_000 + b"\n" + jsonl(DOCUMENTS[:1]))
    assert [bad.reason for bad in quarantined(path)] == ["wrong-json"]
    assert [(d.text, d.title) for d in documents(path)][:2] == [("ab", None), ("cd", None)]
    assert documents(path)[1].id == "ef" and len(documents(path)) == 3


def test_the_number_of_a_bad_last_line_is_its_own(tmp_path):
    path = write(tmp_path, jsonl(DOCUMENTS[:2]) + b'{"text": "unfin')
    (bad,) = quarantined(path)
    assert bad.position.at["bad_line"] == 3 and bad.position.at["line"] == 2  # shown, and gone on from


def test_a_line_of_50_mb_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.write(jsonl(DOCUMENTS[:1]) + b'{"text": "')
        for _ in range(50):
            file.write(b"word " * 200_000)
        file.write(b'"}\n' + jsonl(DOCUMENTS[1:]))
    tracemalloc.start()
    found = list(read(str(path), max_document_bytes=100_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [type(item).__name__ for item in found] == ["tuple", "Quarantined"] + ["tuple"] * 6
    assert found[1].reason == "too-long" and "50,000,013 bytes" in found[1].message
    assert peak < 8_000_000


def test_a_huge_csv_field_and_broken_utf8_in_csv(tmp_path):
    path = write(tmp_path, b"id,text\n1,fine\n2," + b"x" * 5000 + b"\n3,caf\xe9\n4,a,b,c\n5,fine\n", "news.csv")
    assert [d.id for d in documents(path, max_document_bytes=1000)] == ["1", "5"]
    assert [bad.reason for bad in quarantined(path, max_document_bytes=1000)] == [
        "too-long",
        "broken-utf8",
        "wrong-csv",
    ]


def test_csv_without_a_text_column_says_what_to_rename(tmp_path):
    with pytest.raises(SourceError, match="--map text=body"):
        documents(write(tmp_path, b"id,body\n1,x\n", "news.csv"))


def test_an_empty_file_has_no_documents(tmp_path):
    for name in ("empty.jsonl", "empty.csv", "empty.txt"):
        assert list(read(str(write(tmp_path, b"", name)))) == []


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_cut_off_archive_gives_what_it_has(tmp_path, suffix):
    rows = [{"id": str(i), "text": f"{i * i} {i} and more"} for i in range(20_000)]
    data = COMPRESSIONS[suffix](jsonl(rows))
    path = write(tmp_path, data[: len(data) // 2], "cut.jsonl" + suffix)
    found = list(read(str(path)))
    assert isinstance(found[-1], Quarantined)
    assert len(found) > 1000


def test_times_of_all_kinds(tmp_path):
    moment = datetime(2017, 7, 14, 2, 40, tzinfo=UTC)
    same = ["2017-07-14T02:40:00Z", "2017-07-14T04:40:00+02:00", "2017-07-14 02:40:00", 1500000000, 1500000000000,
            "1500000000", 1.5e9, "Fri, 14 Jul 2017 02:40:00 GMT", "Fri Jul 14 02:40:00 +0000 2017"]  # fmt: skip
    found = documents(write(tmp_path, jsonl([{"text": "x", "time": time, "n": n} for n, time in enumerate(same)])))
    assert [d.time for d in found] == [moment] * len(same)
    assert [d.time.tzinfo is ASSUMED_UTC for d in found] == [time == "2017-07-14 02:40:00" for time in same]
    assert documents(write(tmp_path, jsonl([{"text": "x"}])))[0].time is None


def test_documents_without_an_id_get_a_stable_one_of_their_content(tmp_path):
    path = write(tmp_path, b'{"text": "a", "b": 1}\n{"b": 1, "text": "a"}\n{"text": "a", "b": 2}\n')
    first, second, third = documents(path)
    assert first.id == second.id != third.id
    assert first.id == "c-" + hashlib.sha256(b'{"b": 1, "text": "a"}').hexdigest()[:20]


def test_lone_surrogates_cannot_break_what_comes_after(tmp_path):
    (document,) = documents(write(tmp_path, b'{"text": "a \\ud83d b \\ud83d\\ude00", "title": "\\udc00"}\n'))
    assert document.text == "a � b 😀"
    document.title.encode()


def test_plain_lines(tmp_path):
    assert [d.text for d in documents(write(tmp_path, "früh\n\nspät".encode(), "notes.txt"))] == ["früh", "spät"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(jsonl())))))
    found = [item[0].id for item in read("-")]
    assert found == [d["id"] for d in DOCUMENTS]


def test_globs_are_sorted_and_each_file_keeps_its_own_position(tmp_path):
    for name in ("b", "a"):
        write(tmp_path, jsonl([{"id": name + str(i), "text": "x"} for i in range(3)]), f"{name}.jsonl")
    pattern = str(tmp_path / "*.jsonl")
    assert [d.id for d, _ in read_all([pattern], {}, print)] == ["a0", "a1", "a2", "b0", "b1", "b2"]
    at = list(read(str(tmp_path / "a.jsonl")))[1][1]
    assert [d.id for d, _ in read_all([pattern], {at.source: at}, print)] == ["a2", "b0", "b1", "b2"]


@pytest.mark.parametrize("name", ["no-such.jsonl", "*.nothing", "rss+https://example.org/feed", "."])
def test_sources_that_cannot_be_read_say_what_to_do(name):
    with pytest.raises(SourceError) as error:
        expand([name])
    assert error.value.remedy


def test_utf16_and_json_arrays_are_said_at_once(tmp_path):
    with pytest.raises(SourceError, match="iconv"):
        documents(write(tmp_path, '{"text": "x"}\n'.encode("utf-16")))
    with pytest.raises(SourceError, match="jq"):
        documents(write(tmp_path, b'[{"text": "x"}]'))


def test_byte_order_mark_is_no_part_of_the_text(tmp_path):
    assert len(documents(write(tmp_path, b"\xef\xbb\xbf" + jsonl()))) == 7
    assert len(documents(write(tmp_path, b"\xef\xbb\xbf" + as_csv(), "bom.csv"))) == 7


def test_missing_parquet_extra_says_what_to_type(tmp_path, monkeypatch):
    path = as_parquet(tmp_path / "news.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[parquet\]'"):
        documents(path)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["jsonl", "csv", "text"]))
def test_no_bytes_whatever_stop_the_stream(tmp_path_factory, data, kind):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(data)
    try:
        for item in read(str(path), format=kind, max_document_bytes=64):
            if isinstance(item, Quarantined):
                item.excerpt.encode()
            else:
                item[0].text.encode()
                assert isinstance(item[1], Position)
    except SourceError as error:
        assert error.remedy


def test_the_position_names_the_file_from_everywhere(tmp_path, monkeypatch):
    path = write(tmp_path, jsonl())
    monkeypatch.chdir(tmp_path)
    assert source_name("news.jsonl") == str(path)
