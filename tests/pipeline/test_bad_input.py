"""Every kind of bad input through the whole stream into the store: right answers or clear errors, and it goes on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from firststory.errors import StoreFullError
from firststory.pipeline.runner import Runner
from firststory.sources.files import read_all
from firststory.store.store import Store


def run(settings, store_path, *sources, said=None):
    """Run files into a store; its status."""
    with Store(str(store_path)) as store:
        runner = Runner(settings, store)
        options = {"format": settings.format, "max_document_bytes": settings.max_document_bytes}
        for _ in runner.run(read_all([str(s) for s in sources], store.positions(), (said or []).append, **options)):
            pass
        return store.status()


def lines(path, *values):
    text = "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values)
    path.write_text(text + "\n", encoding="utf-8", errors="surrogatepass")
    return path


def test_an_empty_file(tmp_path, quick):
    told = run(quick(), tmp_path / "a.db", lines(tmp_path / "e.jsonl"))
    assert (told["documents"], told["steps"], told["quarantined"]) == (0, 0, 0)


def test_bad_lines_have_reason_and_position_and_the_good_ones_verdicts(tmp_path, quick):
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(
        b'{"id": "1", "text": "Flood in Bremen"}\n'
        b'{"id": "2"}\n{"text": \n{"text": "caf\xe9"}\n{"text": "a\x00b"}\n'
        b'{"id": "3", "text": "Fire in Oslo"}\n'
    )
    told = run(quick(), tmp_path / "a.db", path)
    assert told["documents"] == 3 and told["counts"]["seen"] == 6
    assert told["quarantine_reasons"] == {"broken-utf8": 1, "missing-text": 1, "wrong-json": 1}
    with Store(str(tmp_path / "a.db")) as store:
        assert sorted(bad.position.at["line"] for bad in store.quarantined()) == [2, 3, 4]
        assert all(bad.position.source == str(path) for bad in store.quarantined())


def test_halves_of_surrogate_pairs_anywhere(tmp_path, quick):
    path = lines(
        tmp_path / "half.jsonl",
        *(r'{"text": "Flood in Bremen", "label": "\ud800"}', r'{"text": "Fire in Oslo", "page": {"\ud800": "\udfff"}}'),
        *(r'{"text": "Strike in Hull", "time": "\ud800"}', r'{"\ud800": "no text"}', r'{"text": "\ud800 \u0000"}'),
    )
    told = run(quick(), tmp_path / "a.db", path)
    assert told["documents"] == 3
    assert told["quarantine_reasons"] == {"bad-time": 1, "missing-text": 1}
    with Store(str(tmp_path / "a.db")) as store:
        assert [v.document.label for v in store.verdicts()] == ["�", None, None]
        assert store.verdicts()[1].document.extra == {"page": {"�": "�"}}


def test_a_file_whose_name_is_no_utf8_is_read_once(tmp_path, quick):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl")
    with open(path, "w") as file:  # noqa: PTH123
        file.write('{"text": "Flood in Bremen"}\n')
    assert run(quick(), tmp_path / "a.db", path)["documents"] == 1
    again = run(quick(), tmp_path / "a.db", path)
    assert again["counts"]["seen"] == 1
    with Store(str(tmp_path / "a.db")) as store:
        assert list(store.positions()) == [f"{tmp_path}/caf\\xe9.jsonl"]


def test_a_line_of_50_mb(tmp_path, quick):
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": "1", "text": "Flood in Bremen"}\n{"text": "')
        for _ in range(50):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n{"id": "2", "text": "Fire in Oslo"}\n')
    told = run(quick(), tmp_path / "a.db", path)
    assert told["documents"] == 2 and told["quarantine_reasons"] == {"too-long": 1}


def test_stop_words_only(tmp_path, quick):
    path = lines(tmp_path / "s.jsonl", {"id": "1", "text": "the of and"}, {"id": "2", "text": "Flood in Bremen"})
    told = run(quick(), tmp_path / "a.db", path)
    assert told["counts"]["empty"] == 1 and told["documents"] == 2
    with Store(str(tmp_path / "a.db")) as store:
        (verdict,) = store.verdicts(ids=["1"])
    assert not verdict.is_novel and verdict.story is None


def test_time_zones_mixed_missing_and_time_running_backwards(tmp_path, quick):
    times = ["2026-11-15T12:00:00+02:00", "2026-11-15T11:00:00", 1_800_000_000_000, None, "2026-11-15T03:00:00-05:00"]
    texts = ["Flood in Bremen", "Fire in Oslo", "Strike in Hull", "Quake in Lima", "Fever in Accra"]
    values = [
        {"id": str(i), "text": text, "time": time} for i, (text, time) in enumerate(zip(texts, times, strict=True))
    ]
    told = run(quick(step="1h"), tmp_path / "a.db", lines(tmp_path / "t.jsonl", *values))
    assert told["documents"] == 5
    assert (told["counts"]["assumed_utc"], told["counts"]["untimed"], told["counts"]["late"]) == (1, 1, 1)
    with Store(str(tmp_path / "a.db")) as store:
        found = [verdict.document.time for verdict in store.verdicts()]
    assert [time and time.isoformat() for time in found] == [
        "2026-11-15T10:00:00+00:00", "2026-11-15T11:00:00+00:00", "2027-01-15T08:00:00+00:00", None,
        "2026-11-15T08:00:00+00:00",
    ]  # fmt: skip


def test_duplicate_ids_and_reposted_texts(tmp_path, quick):
    values = [
        {"id": "1", "text": "Flood in Bremen harbour"},
        {"id": "1", "text": "Another text under the same id"},
        {"id": "2", "text": "FLOOD in Bremen harbour!"},
    ]
    told = run(quick(), tmp_path / "a.db", lines(tmp_path / "d.jsonl", *values))
    assert (told["documents"], told["counts"]["redelivered"], told["counts"]["duplicates"]) == (2, 1, 1)
    with Store(str(tmp_path / "a.db")) as store:
        assert store.verdicts(ids=["2"])[0].duplicate_of == "1"


def test_ids_are_known_for_as_long_as_the_store_is(tmp_path, quick, news):
    many = [{"id": d.id, "text": d.text} for d in news[:60]]
    path = lines(tmp_path / "m.jsonl", *many, many[0])
    told = run(quick(window=10), tmp_path / "a.db", path)
    assert told["documents"] == 60 and told["counts"]["redelivered"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> flood",
        "\u202eevil\u202c flood",
        "zero\u200bwidth flood",
        "word " * 200_000,
        "x" * 1_000_000,
    ],
    ids=["markup", "bidi", "zero-width", "one word often", "one long word"],
)
def test_hostile_text_gets_a_verdict_and_harmless_evidence(tmp_path, quick, text):
    values = [{"id": "0", "text": "Fire in Oslo"}, {"id": "1", "text": text, "title": text[:5000]}]
    run(quick(budget="100%", step=1), tmp_path / "a.db", lines(tmp_path / "h.jsonl", *values))
    with Store(str(tmp_path / "a.db")) as store:
        (verdict,) = store.verdicts(ids=["1"])
        (story,) = [story for story in store.stories() if story.id == verdict.story] or [None]
    assert verdict.document.text == text
    shown = [verdict.evidence.sentence, *(t.text for t in verdict.terms), *(n.title for n in verdict.nearest)]
    shown += [story.title, *story.key_terms] if story else []
    assert all(len(one) < 1000 and not any(c in one for c in "\u202e\u202c\u200b\x1b") for one in shown)


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_fills_loses_nothing_and_the_run_goes_on_when_there_is_room(small_disk, tmp_path, quick, news):
    path = lines(tmp_path / "n.jsonl", *({"id": d.id, "text": d.text * 20, "time": d.time.isoformat()} for d in news))
    store = small_disk / "a.db"
    with pytest.raises(StoreFullError, match="Make room and run again"):
        run(quick(), store, path)
    with Store(str(store)) as opened:
        done = opened.status()
    assert 0 <= done["documents"] < 200 and done["documents"] == 20 * done["steps"]
    subprocess.run(["mount", "-o", "remount,size=100m", str(small_disk)], check=True)
    run(quick(), store, path)
    run(quick(), tmp_path / "whole.db", path)
    with Store(str(store)) as first, Store(str(tmp_path / "whole.db")) as second:
        assert first.dump() == second.dump()
