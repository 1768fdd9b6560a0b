"""`firststory alerts` and `storylines`: what they print, for people and for programs; what is followed as it comes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from firststory.cli.alert_lines import alert_lines
from firststory.cli.alerts import following
from firststory.cli.demo import _show_day
from firststory.cli.main import main
from firststory.cli.output import console
from firststory.digest.report import report_page
from firststory.digest.shapes import alert_json
from firststory.records import Alert, Document, Step, Story, Storyline, Verdict
from firststory.store.store import Store

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOSTILE = "\x1b[31mred\x07 [bold]mark-up[/bold] \u202e<script>x</script>"
KEYS = ["id", "kind", "first", "headline", "fired_at", "delay_s", "documents", "sources", "terms", "story",
        "storyline", "score", "sentence", "summary", "kinds"]  # fmt: skip


def call(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return stopped.value.code or 0


def document(n, **changes):
    values = {"title": f"Flood closes bridge number {n} in Bremen", "source": f"paper {n}"}
    return Document(f"d{n}", f"Text {n}", **{"time": NOON + timedelta(hours=n), **values, **changes})


def alert(n, **changes):
    first, headline = document(n), document(n + 1)
    return Alert(**{
        "id": f"a{n}", "kind": "confirmed", "first": first, "headline": headline, "fired_at": headline.time,
        "delay": timedelta(hours=2.9), "documents": (first.id, headline.id), "sources": ("Reuters", "AP"),
        "terms": ("flood", "bridge"), "story": "s1", "storyline": "l1", "score": 3.2, "sentence": f"Why {n}.",
        **changes,
    })  # fmt: skip


def step(index, *alerts, **changes):
    """A step with the documents that its alerts are the first to name."""
    named = {one.id: one for shown in alerts for one in (shown.headline, *([] if index else [shown.first]))}
    return Step(index, tuple(Verdict(one, 0.5, 0.5, False) for one in named.values()), alerts=alerts, **changes)


STORY = Story("s1", "Flood in Bremen", NOON, NOON + timedelta(days=3), 12, "d1", sources=("Reuters", "AP"),
              duplicates=2, growth=1.5, key_terms=("flood", "bridge", "Bremen"), storyline="l1")  # fmt: skip
LINE = Storyline(
    "l1", "Floods of the north", NOON, NOON + timedelta(days=9), 40, 7, ("Reuters", "AP", "dpa"), ("flood",)
)


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "news.db"
    with Store(str(path)) as opened:
        opened.write_step(step(0, alert(0, kind="first_seen")))
        opened.write_step(step(1, alert(24), stories=(STORY,), storylines=(LINE,)))
        opened.write_step(step(2, alert(48, kind="turn")), alerts_status={"ceiling": "20/day", "voices": "by source"})
    return path


def json_of(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_json_has_exactly_the_documented_shape(store, capsys):
    assert call("alerts", "--store", store, "--kind", "confirmed", "--json") == 0
    (told,) = json_of(capsys)
    assert list(told) == KEYS
    assert told == {
        "id": "a24", "kind": "confirmed",
        "first": {"id": "d24", "time": None, "title": "d24", "source": None, "url": None},
        "headline": {
            "id": "d25", "time": "2026-11-16T13:00:00Z", "title": document(25).title, "source": "paper 25", "url": None,
        },
        "fired_at": "2026-11-16T13:00:00Z", "delay_s": 10440.0, "documents": ["d24", "d25"],
        "sources": ["Reuters", "AP"], "terms": ["flood", "bridge"], "story": "s1", "storyline": "l1", "score": 3.2,
        "sentence": "Why 24.", "summary": "", "kinds": [],
    }  # fmt: skip
    timeless = alert_json(alert(1, fired_at=None, delay=None, story=None, storyline=None))
    assert list(timeless) == KEYS and timeless["delay_s"] is timeless["fired_at"] is None
    untitled = replace(document(1), title=None)
    assert alert_json(alert(1, first=untitled))["first"]["title"] == "Text 1"


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ((), ["a24", "a48"]),
        (("--kind", "first_seen"), ["a0"]),
        (("--kind", "all"), ["a0", "a24", "a48"]),
        (("--since", "24h"), ["a24", "a48"]),
        (("--since", "23h"), ["a48"]),
        (("--since", "yesterday", "--kind", "all"), ["a24", "a48"]),
        (("--since", "2026-11-17"), ["a48"]),
        (("--since", "2026-11-18"), []),
        (("--limit", "1"), ["a48"]),
    ],
)
def test_alerts_are_chosen_by_kind_and_time(store, options, ids, capsys):
    assert call("alerts", "--store", store, "--json", *options) == 0
    assert [one["id"] for one in json_of(capsys)] == ids


def test_people_read_the_headline_first(store, capsys):
    assert call("alerts", "--store", store) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == [
        "Flood closes bridge number 25 in Bremen",
        "  confirmed 2026-11-16 13:00 · a24 · story s1 · storyline l1",
        "  first seen: 2.9 h earlier · d24",
        "  2 sources: Reuters, AP",
        "  flood, bridge",
        "  Why 24.",
    ]
    assert lines[-1] == "1 first report that nothing confirms: --kind first_seen"
    first = alert_lines(alert(1), 80).plain.splitlines()[2]
    assert first == "  first seen: paper 1, 2.9 h earlier · Flood closes bridge number 1 in Bremen"
    # Without sources, times and other documents there is nothing to say of the first.
    lone = document(1, source=None, time=None)
    bare = alert(1, first=lone, headline=lone, fired_at=None, delay=None, sources=(), story=None, storyline=None)
    assert alert_lines(bare, 80).plain.splitlines()[1:3] == ["  confirmed · a1", "  2 documents"]


def test_what_is_not_shown_is_said(store, tmp_path, capsys):
    assert call("alerts", "--store", store, "--limit", "1") == 0
    assert "1 of 2 alerts; more with --limit or --since." in capsys.readouterr().out
    assert call("alerts", "--store", store, "--since", "2026-11-18") == 0
    assert "No alerts since 2026-11-18; the stream ends at 2026-11-17 13:00." in capsys.readouterr().out
    Store(str(tmp_path / "empty.db")).close()
    assert call("alerts", "--store", tmp_path / "empty.db", "--since", "24h") == 0
    first, hint = capsys.readouterr().out.splitlines()
    assert first == "No alerts." and hint.endswith(f"firststory status --store {tmp_path / 'empty.db'}")


@pytest.mark.parametrize(
    ("wrong", "remedy"), [(("--kind", "gossip"), "first_seen"), (("--since", "soon"), "24h, 90min, 7d")]
)
def test_mistakes_are_one_line_with_a_remedy(store, wrong, remedy, capsys):
    assert call("alerts", "--store", store, *wrong) == 2
    said = capsys.readouterr()
    assert (
        said.out == "" and said.err.count("\n") == 1 and remedy in said.err and wrong[0].removeprefix("--") in said.err
    )


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("command", ["alerts", "stories", "storylines"])
def test_tables_and_lines_fit_the_screen(store, width, command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    with Store(str(store)) as opened:
        long = alert(72, sources=tuple(f"newspaper number {n}" for n in range(40)), sentence="x " * 200)
        many = tuple(replace(STORY, id=f"s{n}", title="Very long title " * 9, size=10**n) for n in range(1, 6))
        lines = tuple(replace(LINE, id=f"l{n}", title="Very long title " * 9) for n in range(1, 6))
        opened.write_step(step(3, long, stories=many, storylines=lines))
    assert call(command, "--store", store) == 0
    shown = capsys.readouterr().out.splitlines()
    assert max(map(len, shown)) <= width
    if command != "alerts":
        head = shown[0].split()
        assert head[0] == "title" and {"sources", "size", "line"} <= set(head)
        assert any("Very long" in line for line in shown) and not any(line.endswith("…") for line in shown)


def test_hostile_text_is_harmless_on_screen_and_exact_in_json(tmp_path, capsys):
    path = tmp_path / "h.db"
    bad = document(1, title=HOSTILE, source=HOSTILE)
    shown = alert(1, first=bad, headline=bad, sources=(HOSTILE,), terms=(HOSTILE,), sentence=HOSTILE)
    line = replace(LINE, title=HOSTILE, key_terms=(HOSTILE,))
    with Store(str(path)) as opened:
        told = replace(STORY, title=HOSTILE, key_terms=(HOSTILE,), reason=HOSTILE, merged_into="s2", status="merged")
        opened.write_step(step(0, shown, stories=(told,), storylines=(line,)), alerts_status={"voices": HOSTILE})
        (tmp_path / "h.html").write_text(report_page(opened, HOSTILE))
        _show_day(console(), step(0, shown, replace(shown, id="a2", kind="first_seen")))
    for command in (["alerts"], ["storylines"], ["storylines", "l1"], ["stories", "--merged"], ["status"]):
        assert call(*command, "--store", path) == 0
    said = capsys.readouterr().out
    assert not any(sign in said for sign in ("\x1b", "\x07", "\u202e")) and "[bold]mark-up[/bold]" in said
    page = (tmp_path / "h.html").read_text()
    assert (
        "The alerts that most sources tell" in page
        and "<script" not in page
        and "\x1b" not in page
        and "\u202e" not in page
    )
    assert call("alerts", "--store", path, "--json") == 0
    line = capsys.readouterr().out
    assert line.strip().isprintable() and json.loads(line)["sources"] == [HOSTILE]


def test_what_fires_later_is_followed_once_and_in_order(store):
    with Store(str(store)) as writer, Store(str(store), create=False) as reader:
        waits = iter([
            lambda: None,
            lambda: writer.write_step(step(3, alert(72), alert(73, kind="first_seen"), alert(74, kind="turn"))),
            lambda: None,
            lambda: writer.write_step(step(4, alert(96))),
        ])  # fmt: skip

        def wait():
            return (happens := next(waits, None)) is not None and (happens() or True)

        assert [one.id for one in following(reader, ("confirmed", "turn"), "a48", wait)] == ["a72", "a74", "a96"]


def test_following_another_process_until_it_is_interrupted(store):
    command = [sys.executable, "-m", "firststory.cli.main", "alerts", "--follow", "--json", "--since", "1h"]
    command += ["--store", str(store)]
    # Where the tests run in the background, signals to interrupt are ignored, and children inherit that.
    listens = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listens
    ) as process:
        assert json.loads(process.stdout.readline())["id"] == "a48"
        with Store(str(store)) as writer:
            writer.write_step(step(3, alert(72)))
        assert json.loads(process.stdout.readline())["id"] == "a72"
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate(timeout=60)
    assert process.returncode == 130 and rest == "" and said == "firststory: interrupted.\n"


def test_storylines_as_table_as_json_and_one_with_its_stories(store, capsys):
    assert call("storylines", "--store", store, "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["id"], told["n_stories"], told["sources"]) == ("l1", 7, ["Reuters", "AP", "dpa"])
    assert call("storylines", "l1", "--store", store, "--json") == 0
    one = json.loads(capsys.readouterr().out)
    assert one["title"] == LINE.title and [story["storyline"] for story in one["stories"]] == ["l1"]
    assert call("storylines", "l1", "--store", store) == 0
    said = capsys.readouterr().out
    assert "l1, open: Floods of the north" in said and "Flood in Bremen" in said
    assert call("storylines", "l9", "--store", store) == 1
    assert "The store has no storyline l9." in capsys.readouterr().err
    assert call("storylines", "--order", "beauty", "--store", store) == 2


def test_status_shows_where_the_alerts_stand_without_a_running_process(store, capsys):
    assert call("status", "--store", store) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "alerts 1 confirmed, 1 turn, 1 first seen" in said and "ceiling 20/day; in the last day none" in said
    assert "voices by source" in said and "1 in 1 storyline" in said
    assert call("status", "--store", store, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["alerts"] == {"ceiling": "20/day", "voices": "by source"}
    assert told["alert_counts"] == {"confirmed": 1, "turn": 1, "first_seen": 1}
