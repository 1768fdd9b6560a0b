"""run, score, stories, topics and status: what they print, what they return, what they do with bad input."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from firststory import Monitor
from firststory.cli.main import main
from firststory.cli.topic_table import life_of, topic_table
from firststory.datasets import make_story_stream
from firststory.records import Document, Step, Story, Topic, TopicEvent, Verdict
from firststory.store.store import Store

QUICK = ["--detector", "neighbour", "--language", "en", "--step", "20"]
FIELDS = {"id", "time", "novelty", "p_value", "is_novel", "terms", "nearest", "story"}


def lines_of(documents):
    return [
        json.dumps({"id": d.id, "text": d.text, "time": d.time.isoformat(), "title": d.title, "source": d.source})
        for d in documents
    ]


@pytest.fixture(scope="module")
def news_lines():
    return lines_of(make_story_stream(120, 20, sentences=3).documents)


@pytest.fixture
def news(news_lines, tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("\n".join(news_lines) + "\n")
    return path


def call(*arguments):
    """The exit status of a command."""
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return stopped.value.code or 0


@pytest.fixture
def filled(news, tmp_path, capsys):
    store = tmp_path / "news.db"
    assert call("run", news, "--store", store, "--topics", "nmf", *QUICK) == 0
    capsys.readouterr()
    return store


def test_run_says_what_it_found_and_what_to_type_next(news, tmp_path, capsys):
    store = tmp_path / "news.db"
    assert call("run", news, "--store", store, *QUICK) == 0
    said = capsys.readouterr().out
    assert "documents judged" in said and f"firststory stories --store {store}" in said
    with Store(str(store)) as opened:
        fired = opened.alerts(kind=("confirmed", "turn"))
    confirmed = len([one for one in fired if one.kind == "confirmed"])
    assert confirmed and f"{confirmed} confirmed events" in " ".join(said.split())
    # What is pushed is what the command for alerts shows, in the same words.
    assert call("alerts", "--store", store, "--limit", 1000) == 0
    again = capsys.readouterr().out
    # A story may have joined its storyline after the alert fired.
    assert again.strip() and _without_storylines(said).startswith(_without_storylines(again))


def _without_storylines(said):
    return re.sub(r" · storyline l\d+", "", said)


def test_run_says_nothing_of_single_novel_documents(news, tmp_path, capsys):
    store = tmp_path / "news.db"
    assert call("run", news, "--store", store, "--budget", "100%", "--false-alerts", "1e-9", *QUICK) == 0
    said = capsys.readouterr().out
    with Store(str(store)) as opened:
        assert opened.status()["novel"] and not opened.alerts(kind="confirmed")
    assert "nearest (" not in said and said.split()[:3] == ["0", "confirmed", "events"]


def test_run_again_has_nothing_to_do_and_a_grown_file_goes_on(news, tmp_path, capsys):
    store = tmp_path / "news.db"
    assert call("run", news, "--store", store, *QUICK) == 0
    assert call("run", news, "--store", store) == 0
    assert "nothing new" in capsys.readouterr().out
    with news.open("a") as file:
        file.write('{"id": "new-one", "text": "Comet sighted over Tromso"}\n')
    assert call("run", news, "--store", store, "--quiet") == 0
    assert capsys.readouterr().out == ""
    with Store(str(store)) as opened:
        assert opened.known_ids(["new-one"])


def test_an_empty_file_is_no_error_and_says_so(tmp_path, capsys):
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    assert call("run", empty, "--store", tmp_path / "a.db", *QUICK) == 0
    assert "0 documents" in capsys.readouterr().out
    assert call("score", empty, *QUICK) == 0
    said = capsys.readouterr()
    assert said.out == "" and "0 documents" in said.err


def test_bad_lines_are_counted_kept_and_shown(news, tmp_path, capsys):
    store = tmp_path / "a.db"
    with news.open("ab") as file:
        file.write(b'{"broken\n{"id": 1}\n{"text": "caf\xe9"}\n{"text": "fine", "time": "2026-01-01"}\n')
    assert call("run", news, "--store", store, *QUICK) == 0
    said = capsys.readouterr().out
    assert "3 lines quarantined" in " ".join(said.split())
    assert "broken-utf8 1, missing-text 1, wrong-json 1" in " ".join(said.split())
    assert call("status", "--store", store, "--quarantine") == 0
    said = capsys.readouterr().out
    assert "line 121" in said.replace("\n", "") and "wrong-json" in said


def test_score_gives_one_line_a_document_in_order(news, news_lines, capsys):
    assert call("score", news, *QUICK) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["id"] for one in found] == [json.loads(line)["id"] for line in news_lines]
    assert all(set(one) >= FIELDS for one in found)
    novel = next(one for one in found if one["is_novel"] and one["terms"])
    text = {json.loads(line)["id"]: json.loads(line)["text"] for line in news_lines}[novel["id"]]
    term = novel["terms"][0]
    assert text[term["start"] : term["end"]] == term["text"]


def test_score_reads_standard_input_and_answers_at_once_with_window_1(news_lines):
    command = [sys.executable, "-m", "firststory.cli.main", "score", "-", *QUICK[:-1], "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for line in news_lines[:3]:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == json.loads(line)["id"]
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_score_agrees_with_what_run_stores(news, filled, capsys):
    assert call("score", news, *QUICK) == 0
    scored = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    with Store(str(filled)) as opened:
        stored = opened.verdicts()
        # In the store documents follow their story where it is merged.
        told = [(one["id"], one["novelty"], opened.current_story(one["story"])) for one in scored]
    assert told == [(v.document.id, round(v.novelty, 6), v.story) for v in stored]


def test_stories_as_table_as_json_one_of_them_and_by_words(filled, capsys):
    assert call("stories", "--store", filled, "--json", "--order", "size") == 0
    found = json.loads(capsys.readouterr().out)
    assert found and [one["size"] for one in found] == sorted((one["size"] for one in found), reverse=True)
    assert call("stories", "--store", filled) == 0
    assert capsys.readouterr().out.startswith("title and key terms")
    assert call("stories", found[0]["id"], "--store", filled, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    with Store(str(filled)) as opened:
        those = [v.document.id for v in opened.verdicts(story=found[0]["id"])]
        assert told["id"] == found[0]["id"] and [one["id"] for one in told["documents"]] == those
        assert len(those) == told["size"] + told["duplicates"] == told["n_documents"]
        with_word = {v.document.id for v in opened.verdicts() if "government" in v.document.text.lower()}
    assert call("stories", "--search", "government", "--store", filled, "--json", "--limit", "500") == 0
    assert {one["id"] for one in json.loads(capsys.readouterr().out)} == with_word != set()
    assert call("stories", "--order", "beauty", "--store", filled) == 2


def test_stories_that_were_merged_into_others_and_their_documents(tmp_path, capsys):
    path, now = tmp_path / "told.db", datetime(2026, 5, 1, tzinfo=UTC)
    kept = {"first_seen": now, "last_seen": now, "size": 3, "representative": "d1"}
    told = (
        Story("s1", "Flood in Bremen", **kept),
        Story("s2", "Storm over Bremen", **kept, status="merged", merged_into="s3"),
        Story("s3", "Dam breaks", **kept, status="merged", merged_into="s1"),
    )
    verdict = Verdict(Document(id="d1", text="Storm over Bremen"), 0.9, 0.1, True, story="s2")
    with Store(str(path)) as store:
        store.write_step(Step(0, (verdict,), stories=told))
    with Monitor(store=str(path)) as monitor:
        assert [one.id for one in monitor.stories()] == ["s1"]
        assert [one.id for one in monitor.stories(merged=True)] == ["s1", "s2", "s3"]
    assert call("stories", "--store", path) == 0
    table = capsys.readouterr().out
    assert "open" in table and "holds s3" in table and "Storm" not in table
    assert call("stories", "--merged", "--store", path) == 0
    table = capsys.readouterr().out
    assert "merged into s3" in table and "merged" in table
    assert call("stories", "--merged", "--json", "--store", path) == 0
    assert [one["merged_into"] for one in json.loads(capsys.readouterr().out)] == [None, "s3", "s1"]
    assert call("stories", "s2", "--store", path) == 0
    opened = capsys.readouterr().out
    assert "merged into s3; its documents are now in s1" in opened and "Storm over Bremen" in opened
    assert call("stories", "s1", "--store", path) == 0
    assert "Storm over Bremen" in capsys.readouterr().out


def test_words_are_looked_for_in_the_story_that_is_named(filled, capsys):
    with Store(str(filled)) as opened:
        everywhere = opened.verdicts()
    with_word = [v for v in everywhere if "government" in v.document.text]
    story = with_word[0].story
    inside = {v.document.id for v in with_word if v.story == story}
    assert 0 < len(inside) < len(with_word)
    assert call("stories", story, "--search", "government", "--json", "--limit", 500, "--store", filled) == 0
    assert {one["id"] for one in json.loads(capsys.readouterr().out)} == inside
    assert call("stories", story, "--search", "xylophone", "--store", filled) == 0
    assert "Nothing found" in capsys.readouterr().out


@pytest.mark.parametrize("more", [(), ("--json",), ("--search", "flood")])
def test_a_story_that_is_not_there_is_an_error(more, filled, capsys):
    assert call("stories", "nosuch", *more, "--store", filled) == 1
    said = capsys.readouterr()
    assert said.out == "" and "The store has no story nosuch." in said.err


def test_status_as_table_and_as_json(filled, capsys):
    assert call("status", "--store", filled, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["documents"] == 120 and told["settings"]["detector"] == "neighbour" and told["thresholds"]
    assert call("status", "--store", filled) == 0
    assert "120 in 6 steps" in capsys.readouterr().out


def test_topics(filled, news, tmp_path, capsys):
    assert call("topics", "--store", filled) == 0
    assert "No topics" in capsys.readouterr().out
    assert (
        call("run", news, "--store", tmp_path / "b.db", "--topics", "nmf", "--topic-step", 50, "--quiet", *QUICK) == 0
    )
    assert call("topics", "--store", tmp_path / "b.db", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(topic["share"] for topic in found) == pytest.approx(1.0)
    assert [event["kind"] for event in found[0]["events"]][-1] in ("born", "split")
    assert all(topic["since"].startswith("20") and topic["label"] for topic in found)
    assert call("topics", "--store", tmp_path / "b.db", "--events", 3, "--plot", tmp_path / "topics.png") == 0
    told = capsys.readouterr().out
    assert "share" in told and "born" in told and found[0]["label"][0] in told
    assert re.search(r"20\d\d-\d\d-\d\d  born", told) and "step" not in told
    assert f"Figure written to {tmp_path / 'topics.png'}" in "".join(told.splitlines())
    assert (tmp_path / "topics.png").stat().st_size > 10_000


def test_few_documents_have_no_topics_and_a_sentence_that_says_why(news, tmp_path, capsys):
    assert call("run", news, "--store", tmp_path / "few.db", "--quiet", *QUICK) == 0
    assert call("topics", "--store", tmp_path / "few.db") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "after every 200 distinct documents with words, and there are " in said
    assert call("run", news, "--store", tmp_path / "none.db", "--quiet", "--topics", "none", *QUICK) == 0
    assert call("topics", "--store", tmp_path / "none.db") == 0
    assert "--topics none" in capsys.readouterr().out


def test_a_number_of_events_below_none_is_a_wrong_command_line(filled):
    assert call("topics", "--store", filled, "--events", "-3") == 2


@pytest.mark.parametrize("name", ["no-folder/x.png", "x.xyz", "x", "."])
def test_a_figure_that_cannot_be_written_is_said(name, filled, tmp_path, capsys):
    assert call("topics", "--store", filled, "--plot", tmp_path / name) == 1
    said = capsys.readouterr().err
    assert "--plot" in said and "fault of firststory" not in said


def test_the_life_of_a_topic_in_words():
    day = datetime(2026, 3, 4, tzinfo=UTC)
    happened = [
        TopicEvent(9, "faded", "t1", time=day + timedelta(days=5)),
        TopicEvent(7, "merged", "t3", ("t1",), time=day),
        TopicEvent(5, "changed", "t1", time=day),
        TopicEvent(4, "split", "t1", ("t2",), time=day),
        TopicEvent(0, "born", "t5", evidence="rain, flood: there from the start"),
    ]
    split = Topic("t1", (), 0.1, born=4, since=day)
    assert life_of(split, happened) == "split from t2 2026-03-04; holds t3; faded 2026-03-09, now back"
    assert life_of(Topic("t5", (), 0.1), happened) == "there from the start"
    assert life_of(Topic("t8", (), 0.1, born=3), happened) == "since step 3"


@pytest.mark.parametrize("width", [60, 80, 160])
def test_topics_fit_the_screen(width, capsys):
    now = datetime(2026, 3, 4, tzinfo=UTC)
    label = ("Mount Kasari", "volcano", "ash cloud \x1b[31m")
    topics = [
        Topic("l1234", (), 0.177, (0.1, 0.2) * 15, 4, label, now, 0.02, before)
        for before in (now - timedelta(days=31), now - timedelta(days=3))
    ]
    screen = Console(width=width)
    for topic, head in zip(topics, ("a month ago", "at first"), strict=True):
        screen.print(topic_table([topic], [], now, width))
        told = capsys.readouterr().out
        assert max(map(len, told.splitlines())) <= width and "\x1b" not in told
        assert all(part in told for part in (head, "17.7%", "2.0%", "2026-03-04", "l1234", "Mount Kasari"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "no-such-file.jsonl", "--store", "x.db"),
        ("run", "NEWS"),
        ("run", "NEWS", "--store", "x.db", "--detector", "psychic"),
        ("run", "NEWS", "--store", "x.db", "--step", "soon"),
        ("run", "NEWS", "--store", "x.db", "--budget", "many"),
        ("run", "NEWS", "--store", "x.db", "--window", "much"),
        ("run", "NEWS", "--store", "x.db", "--false-alerts", "some"),
        ("run", "NEWS", "--store", "x.db", "--source-families", "CNN Politics"),
        ("score", "NEWS", "--format", "pdf"),
        ("stories", "--store", "absent.db"),
        ("status",),
    ],
)
def test_mistakes_get_one_line_with_a_remedy(arguments, news, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FIRSTSTORY_STORE", raising=False)
    # What is not there is an error; what nobody can mean, or a store that is not named, is wrong usage.
    absent = "no-such-file.jsonl" in arguments or "absent.db" in arguments
    assert call(*[str(news) if argument == "NEWS" else argument for argument in arguments]) == (1 if absent else 2)
    said = capsys.readouterr().err
    assert said.startswith("firststory: ") and said.count("\n") == 1 and "Traceback" not in said


@pytest.mark.parametrize(
    "wrong",
    [("--step", "0"), ("--step", "5parsec"), ("--language", "xx"), ("--window", "0"), ("--window", "-5"),
     ("--topics", "tea"), ("--budget", "20"), ("--format", "pdf"), ("--false-alerts", "-1"),
     ("--source-families", "CNN=")],
)  # fmt: skip
def test_a_mistyped_setting_leaves_no_store_behind(wrong, news, tmp_path, capsys):
    store = tmp_path / "a.db"
    assert call("run", news, "--store", store, "--detector", "neighbour", *wrong) == 2
    said = capsys.readouterr().err
    assert wrong[0].removeprefix("--").replace("-", "_") in said and "fault of firststory" not in said
    assert not store.exists()


def test_a_store_without_results_takes_other_settings(news, tmp_path):
    with Store(str(tmp_path / "a.db")) as store:
        store.keep_settings({"step": 0, "window": 0, "language": "xx"})
    assert call("run", news, "--store", tmp_path / "a.db", "--window", 100, "--quiet", *QUICK) == 0
    with Store(str(tmp_path / "a.db")) as store:
        assert (store.settings()["step"], store.settings()["window"]) == (20, 100)
    assert call("run", news, "--store", tmp_path / "a.db", "--step", 30) == 1


def test_the_settings_of_alerts_may_change_between_runs_and_are_kept(news, tmp_path, capsys):
    store, families = tmp_path / "a.db", {"paper-1": "paper-0"}

    def told(*options):
        with news.open("a") as file:
            file.write(json.dumps({"id": f"more-{len(options)}", "text": "Comet sighted over Tromso"}) + "\n")
        assert call("run", news, "--store", store, "--quiet", *options) == 0
        assert call("status", "--json", "--store", store) == 0
        return json.loads(capsys.readouterr().out)

    before = told(*QUICK)
    assert before["settings"]["false_alerts"] == 1.0 and before["settings"]["source_families"] == {}
    told("--false-alerts", "0.1", "--source-families", "paper-1=paper-0", "--budget", "5/day")
    after = told()
    kept = {name: after["settings"][name] for name in ("budget", "false_alerts", "source_families")}
    assert kept == {"budget": "5/day", "false_alerts": 0.1, "source_families": families}
    assert (after["alerts"]["ceiling"], after["alerts"]["false_alerts"]) == ("5/day", 0.1)
    assert after["alert_counts"] == before["alert_counts"]


def test_environment_and_settings_file_are_read(news, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "firststory.toml").write_text('detector = "clustering"\nlanguage = "en"\nstore = "from-file.db"\n')
    monkeypatch.setenv("FIRSTSTORY_DETECTOR", "neighbour")
    assert call("run", news, "--step", "60", "--quiet") == 0
    with Store("from-file.db", create=False) as opened:
        kept = opened.settings()
    assert (kept["detector"], kept["language"], kept["step"]) == ("neighbour", "en", 60)


def test_hostile_text_reaches_the_terminal_harmless(tmp_path, capsys):
    source = tmp_path / "h.jsonl"
    texts = [
        "\x1b[31mred\x1b]0;owned\x07 flood",
        "[bold red]markup[/bold red] fire",
        "\u202egnp.exe strike",
        "a" * 100_000,
    ]
    source.write_text("\n".join(json.dumps({"text": text, "title": text}) for text in texts))
    assert call("run", source, "--store", tmp_path / "h.db", "--budget", "100%", *QUICK) == 0
    assert call("stories", "--store", tmp_path / "h.db") == 0
    said = capsys.readouterr().out
    assert not any(sign in said for sign in ("\x1b", "\x07", "\u202e"))
    assert "[bold red]markup" in said


HOSTILE = ("\x1b", "\x07", "\u202e")


def test_hostile_headers_and_names_of_files_reach_the_terminal_harmless(tmp_path, capsys):
    header = tmp_path / "header.csv"
    header.write_text("\x1b[31mEVIL\x07\u202ecol,b\n1,2\n")
    assert call("score", header, *QUICK) == 1
    named = tmp_path / "\x1b[31mred\u202eevil.jsonl"
    named.write_text('{"text": "Flood in Bremen", "label": "a"}\n{"broken\n')
    store = tmp_path / "h.db"
    assert call("run", named, "--store", store, *QUICK) == 0
    named.write_text('{"text": "Fire in Oslo", "label": "b"}\n')
    assert call("run", named, "--store", store, *QUICK) == 0  # says that the file has changed
    assert call("status", "--quarantine", "--store", store) == 0
    assert call("run", named.with_name("\x1b[31mabsent"), "--store", store) == 1
    assert call("evaluate", named, "--out", tmp_path, *QUICK) == 0
    said = "".join(capsys.readouterr())
    assert "EVIL" in said and "reading it from the start" in said and "redevil" in said.replace("\n", "")
    assert not any(sign in said for sign in HOSTILE)


def test_json_escapes_what_acts_and_keeps_ids_exact(tmp_path, capsys):
    source, store = tmp_path / "h.jsonl", tmp_path / "h.db"
    hostile = {"id": "\u202eid\x9b\u2028\x7f", "source": "\u202e" + "x" * 1_000_000, "text": "Flood \u067e\u200c\u0647"}
    source.write_text(json.dumps(hostile) + "\n")
    assert call("score", source, *QUICK) == 0
    assert call("run", source, "--store", store, "--quiet", *QUICK) == 0
    assert call("stories", "--json", "--store", store) == 0
    scored, told = capsys.readouterr().out.split("\n")[:2]
    assert scored.replace("\u200c", "").isprintable() and told.replace("\u200c", "").isprintable()
    assert json.loads(scored)["id"] == hostile["id"] == json.loads(told)[0]["representative"]
    assert "\u200c" in told
    (named,) = json.loads(told)[0]["sources"]
    assert len(named) == 100 and named.startswith("xxx")


def start(*arguments):
    """A command in a process of its own, with pipes for its input and output."""
    command = [sys.executable, "-m", "firststory.cli.main", *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


def test_ctrl_c_saves_what_was_read_and_exits_130(news_lines, tmp_path):
    store = tmp_path / "a.db"
    with start("run", "-", "--store", store, "--budget", "100%", *QUICK) as process:
        for line in news_lines[:50]:
            process.stdin.write(line + "\n")
        process.stdin.write('{"text": "a line that its writer has not fini')
        process.stdin.flush()
        process.stdout.readline()  # the first alert: the first step is written
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        said = process.stderr.read()
    assert process.returncode == 130 and "saved" in said and "Traceback" not in said
    with Store(str(store)) as opened:
        # Two steps of 20 and the 10 that would have waited for more; the unfinished line is not a document.
        assert opened.status()["documents"] == 50 and opened.status()["counts"].get("quarantined", 0) == 0
        assert opened.last_state()[0] == opened.last_step()


def test_score_does_not_say_that_anything_is_saved(news_lines):
    with start("score", "-", *QUICK[:-1], "1") as process:
        process.stdin.write(news_lines[0] + "\n")
        assert json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        said = process.stderr.read()
    assert process.returncode == 130 and said.endswith("firststory: interrupted.\n") and "saved" not in said


def test_a_reader_who_leaves_early_is_no_error(news):
    command = f"{sys.executable} -m firststory.cli.main score {news} {' '.join(QUICK)} | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if "preparing kernels" not in line]
    assert done.returncode == 0 and said == [] and len(done.stdout.splitlines()) == 1
