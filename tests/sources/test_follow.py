"""Files that others write to while they are read: appended to, rotated, truncated."""

from __future__ import annotations

import json

import pytest

from firststory.errors import SourceError
from firststory.records import Idle, Quarantined
from firststory.sources.follow import FollowedFile, open_files
from firststory.sources.opening import identity_of, open_sources, with_folders
from firststory.sources.source import Options

OPTIONS = Options(follow=True, max_document_bytes=1_000, read_file={"format": "auto", "max_document_bytes": 1_000})


def line(n):
    return json.dumps({"id": f"d{n}", "text": f"Text {n}"}) + "\n"


class Reader:
    """Reads a followed file up to the moment when there is nothing more."""

    def __init__(self, path, after=None):
        self.after = after
        self._arrivals = FollowedFile(str(path), OPTIONS).read(after)

    def ids(self):
        found = []
        for arrival in self._arrivals:
            if isinstance(arrival, Idle):
                return found
            if isinstance(arrival, Quarantined):
                found.append(arrival.reason)
                self.after = arrival.position
            else:
                found.append(arrival[0].id)
                self.after = arrival[1]
        raise AssertionError("a followed file has no end")


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "news.jsonl"
    made.write_text(line(0) + line(1))
    return made


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def test_what_is_appended_is_read_and_unfinished_lines_wait(path):
    reader = Reader(path)
    assert reader.ids() == ["d0", "d1"] and reader.ids() == []
    append(path, line(2) + line(3)[:9])
    assert reader.ids() == ["d2"] and reader.ids() == []
    append(path, line(3)[9:] + "\n\n" + line(4))
    assert reader.ids() == ["d3", "d4"]
    append(path, "nonsense\n" + line(5))
    assert reader.ids() == ["wrong-json", "d5"]


def test_a_rotated_file_is_read_to_its_end_first(path):
    reader = Reader(path)
    reader.ids()
    path.rename(path.with_name("news.jsonl.1"))
    append(path.with_name("news.jsonl.1"), line(2))
    assert reader.ids() == ["d2"]
    path.write_text(line(3))
    assert reader.ids() == ["d3"] and reader.ids() == []


def test_rotation_while_nobody_reads_loses_nothing(path):
    reader = Reader(path)
    reader.ids()
    append(path, line(2))
    path.rename(path.with_name("news.jsonl.1"))
    path.write_text(line(3))
    assert Reader(path, reader.after).ids() == ["d2", "d3"]


def test_a_truncated_file_is_read_from_its_start(path):
    reader = Reader(path)
    reader.ids()
    path.write_text(line(7))
    assert reader.ids() == ["d7"]
    path.write_text(line(8) + line(9) + line(10))
    assert reader.ids() == ["d8", "d9", "d10"]


def test_every_position_can_be_gone_on_from(path):
    append(path, "\n" + line(2) + "nonsense\n" + line(3))
    reader, seen = FollowedFile(str(path), OPTIONS).read(None), []
    for arrival in reader:
        if isinstance(arrival, Idle):
            break
        seen.append(arrival)
    ids = [one.reason if isinstance(one, Quarantined) else one[0].id for one in seen]
    assert ids == ["d0", "d1", "d2", "wrong-json", "d3"]
    for i, one in enumerate(seen):
        position = one.position if isinstance(one, Quarantined) else one[1]
        assert Reader(path, position).ids() == ids[i + 1 :]


def test_a_line_that_is_too_long_is_quarantined_when_it_ends(path, monkeypatch):
    monkeypatch.setattr("firststory.sources.follow.PIECE", 2_000)
    reader = Reader(path)
    reader.ids()
    append(path, "x" * 10_000)
    assert reader.ids() == []
    append(path, "x\n" + line(2))
    assert reader.ids() == ["too-long", "d2"]


def test_folders_are_the_files_in_them(tmp_path, path):
    (tmp_path / "a.jsonl").write_text(line(5))
    (tmp_path / ".hidden").write_text("x")
    assert with_folders([str(tmp_path), "redis://host/x"]) == [str(tmp_path / "a.jsonl"), str(path), "redis://host/x"]
    assert len(open_sources([str(tmp_path)], OPTIONS)) == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="with files in it"):
        with_folders([str(tmp_path / "empty")])


def test_a_store_has_one_identity_however_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["news.db", "sqlite:///news.db", str(tmp_path / "news.db"), f"sqlite:///{tmp_path}/news.db"]
    assert len({identity_of(name) for name in names}) == 1
    assert identity_of("news.db") != identity_of("other.db") != identity_of("postgresql://host/news")


def test_a_database_has_one_identity_on_every_host(monkeypatch):
    """A stream of a fleet may move to another host, and a password may change: the consumer group stays the same."""
    names = ("postgresql://db/news", "postgresql://me:secret@db/news", "postgresql+psycopg://you:other@db/news")
    here = {identity_of(name) for name in names}
    file = identity_of("news.db")
    monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
    assert {identity_of(name) for name in names} == here and len(here) == 1
    assert identity_of("news.db") != file  # the same path on another host is another file
    assert len({identity_of(f"postgresql://{rest}") for rest in ("db/news", "db/other", "two/news", "db:1/news")}) == 4


def test_only_lines_can_be_followed_and_standard_input_cannot(tmp_path):
    (tmp_path / "a.csv").write_text("text\nx\n")
    with pytest.raises(SourceError, match="JSON lines"):
        open_files(str(tmp_path / "a.csv"), OPTIONS)
    with pytest.raises(SourceError, match="Standard input"):
        open_files("-", OPTIONS)
