"""Compressed files: whole, cut anywhere, several in one, and made to fill memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tracemalloc

import pytest
import zstandard

from firststory.errors import SourceError
from firststory.records import Quarantined
from firststory.sources.compression import open_binary
from firststory.sources.files import read

COMPRESS = {"gz": gzip.compress, "zst": zstandard.compress, "bz2": bz2.compress, "xz": lzma.compress}
LINES = b"".join(
    b'{"id": "%d", "text": "%s"}\n' % (i, random.Random(i).randbytes(60).hex().encode()) for i in range(8000)
)


def opened(data):
    return open_binary(io.BufferedReader(io.BytesIO(data)))


@pytest.mark.parametrize("name", COMPRESS)
def test_what_was_compressed_comes_back(name):
    assert opened(COMPRESS[name](LINES)).read() == LINES
    assert opened(COMPRESS[name](LINES) + COMPRESS[name](b"more\n")).read() == LINES + b"more\n"
    assert opened(COMPRESS[name](b"")).read() == b""


def test_a_zstd_frame_without_its_size_is_read():
    made = zstandard.ZstdCompressor().compressobj()
    assert opened(made.compress(LINES) + made.flush()).read() == LINES


@pytest.mark.parametrize("name", COMPRESS)
@pytest.mark.parametrize("part", [0.5, 0.9, 0.999])
def test_a_file_that_ends_early_is_damaged_and_what_comes_before_is_used(tmp_path, name, part):
    data = COMPRESS[name](LINES)
    path = tmp_path / f"cut.jsonl.{name}"
    path.write_bytes(data[: int(len(data) * part)])
    if name == "bz2" and part == 0.5:  # bzip2 works in blocks of 900 kB: there is nothing before the damage
        with pytest.raises(SourceError, match="damaged"):
            list(read(str(path)))
        return
    *good, last = read(str(path))
    assert isinstance(last, Quarantined) and last.reason == "damaged-file"
    assert [document.id for document, _ in good] == [str(i) for i in range(len(good))] and good


@pytest.mark.parametrize("name", COMPRESS)
def test_the_next_run_goes_on_where_the_damaged_file_stopped(tmp_path, name):
    data = COMPRESS[name](LINES)
    path = tmp_path / "growing.jsonl"
    path.write_bytes(data[: len(data) // 2])
    try:
        *good, last = read(str(path))
        after = last.position
    except SourceError:
        good, after = [], None
    path.write_bytes(data)
    rest = list(read(str(path), after=after))
    assert len(good) + len(rest) == 8000


@pytest.mark.parametrize("name", ["zst", "bz2", "xz"])
def test_a_small_file_that_unpacks_to_much_does_not_fill_memory(name):
    """100 MB of zeros in a few kB: only pieces of it are ever held."""
    bomb = COMPRESS[name](bytes(100_000_000))
    assert len(bomb) < 100_000
    stream = opened(bomb)
    tracemalloc.start()
    total = 0
    while piece := stream.read1(1 << 16):
        total += len(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 100_000_000 and peak < 70_000_000


OTHERS = {
    "PNG": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "ZIP": b"PK\x03\x04" + bytes(100),
    "program": b"\x7fELF" + bytes(100),
    "SQLite": b"SQLite format 3\0" + bytes(100),
    "PDF": b"%PDF-1.7\nabc",
    "binary": random.Random(1).randbytes(5000),
    "encoding": ("Наводнение закрыло мост в Бремене, сообщает полиция. " * 4).encode("cp1251"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_text_is_one_error(tmp_path, kind):
    path = tmp_path / "x.jsonl"
    path.write_bytes(OTHERS[kind])
    with pytest.raises(SourceError, match=kind):
        list(read(str(path)))
    path.write_bytes(gzip.compress(OTHERS[kind]))
    with pytest.raises(SourceError, match=kind):
        list(read(str(path)))


@pytest.mark.parametrize(
    "line", ["Überflutung in Köln, Brücke gesperrt " * 5, "洪水で橋が閉鎖された" * 10, "a\x1b[31mred\tb\n" * 20]
)
def test_text_is_never_taken_for_something_else(tmp_path, line):
    path = tmp_path / "x.txt"
    for encoding in ("utf-8", "latin-1"):
        path.write_bytes(line.encode(encoding, "replace"))
        assert list(read(str(path)))
