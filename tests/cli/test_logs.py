"""Logs for machines: what a run logs, and that nothing a stranger wrote breaks out of its line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from firststory import logs
from firststory.datasets import make_story_stream
from firststory.notices import Notice

RUN = [sys.executable, "-m", "firststory.cli.main", "run"]
QUICK = ["--detector", "neighbour", "--topics", "none", "--language", "en", "--step", "20"]
HOSTILE = 'Bridge closed\n{"event": "stop"}\r\x1b[2J\x1b]0;owned\x07\u2028\u202e\x85\x00 again'


@pytest.fixture
def news(tmp_path):
    stream = make_story_stream(240, 12, sentences=2, random_state=7)
    rows = [
        {"id": d.id + HOSTILE, "text": d.text + HOSTILE, "title": d.title + HOSTILE, "time": d.time.isoformat(),
         "source": f"paper {i % 5}" + HOSTILE}
        for i, d in enumerate(stream.documents)
    ]  # fmt: skip
    path = tmp_path / "news\n\x1b[31m.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"broken\n')
    return path


@pytest.fixture
def logged(capfd):
    """The lines of the log so far."""
    yield lambda: capfd.readouterr().err
    logs.end()


def run(*arguments, **options):
    return subprocess.run([*RUN, *map(str, arguments), *QUICK], capture_output=True, text=True, timeout=300, **options)


def test_a_run_logs_json_lines_from_its_start_to_its_end(news, tmp_path):
    store = tmp_path / "news.db"
    done = run(news, "--store", store, "--log-format", "json", "--log-level", "debug", "--budget", "100/day")
    assert done.returncode == 0 and done.stdout == ""
    assert done.stderr.isascii() and all(line.isprintable() for line in done.stderr.split("\n"))
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert all({"time", "level", "event"} <= set(one) for one in events)
    names = [one["event"] for one in events]
    assert names.index("start") < names.index("reading") < names.index("step") < names.index("stop") == len(names) - 1
    start, stop = events[names.index("start")], events[-1]
    assert start["store"] == str(store) and start["sources"] == [str(news)] and start["detector"] == "neighbour"
    assert stop["documents"] == 241 and stop["memory_bytes"] > 50_000_000 and stop["documents_per_second"] > 0
    assert stop["quarantined"] == {"wrong-json": 1} and stop["reason"] == "the sources are at their end"
    assert [one["reasons"] for one in events if one["event"] == "quarantined"] == [{"wrong-json": 1}]
    alerts = [one for one in events if one["event"] == "alert"]
    assert alerts and len(alerts) == stop["alerts"] and all("Bridge closed" in one["document"] for one in alerts)
    assert names.count("step") == 12 + 1


def test_errors_are_logged_too_and_no_line_is_anything_else(tmp_path):
    done = run(tmp_path / "absent.jsonl", "--store", tmp_path / "a.db", "--log-format", "json")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    told = json.loads(line)
    assert (told["event"], told["level"]) == ("failed", "error") and "absent.jsonl" in told["message"]


def test_the_level_is_the_least_that_is_logged(news, tmp_path):
    done = run(news, "--store", tmp_path / "a.db", "--log-format", "text", "--log-level", "warning")
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert " warning quarantined " in line and "reasons={'wrong-json': 1}" in line


@pytest.mark.parametrize(("option", "value"), [("--log-format", "xml"), ("--log-level", "loud")])
def test_an_unknown_format_or_level_is_a_wrong_command_line(option, value, news, tmp_path):
    done = run(news, "--store", tmp_path / "a.db", option, value)
    assert done.returncode == 2 and "one of" in done.stderr
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize("format", logs.FORMATS)
def test_whatever_is_logged_stays_on_its_line(format, logged):
    log = logs.begin(format)
    log.info("alert", headline=HOSTILE, facts={HOSTILE: HOSTILE}, lone="\udce9", long="x" * 10_000_000)
    logs.tell(log, Notice(HOSTILE, "source_away", "warning", source=HOSTILE))
    first, second, rest = logged().split("\n")
    assert rest == "" and (first + second).isascii() and (first + second).isprintable() and len(first) < 5_000
    if format == "json":
        assert json.loads(first)["headline"] == HOSTILE
        told = json.loads(second)
        assert (told["event"], told["level"], told["source"]) == ("source_away", "warning", HOSTILE)


def test_passwords_of_addresses_are_not_logged(tmp_path):
    pytest.importorskip("redis")
    pytest.importorskip("httpx")
    store, secret = tmp_path / "a.db", "hunter2"
    hook = f"webhook:http://me:{secret}@127.0.0.1:9/hook?token={secret}"
    with subprocess.Popen(
        [*RUN, f"redis://me:{secret}@127.0.0.1:9/news", "--store", store, "--sink", hook, "--log-format", "json"],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        lines = []
        for line in process.stderr:
            is_first = not any('"source_away"' in earlier for earlier in lines)
            lines.append(line)
            if is_first and json.loads(line)["event"] == "source_away":
                process.terminate()  # once: the second time it would end at once
        assert process.wait(60) == 130
    said = "".join(lines)
    assert secret not in said and "redis://127.0.0.1:9/news" in said and "webhook:http://127.0.0.1:9/hook" in said
    assert [json.loads(line)["event"] for line in lines][-1] == "interrupted"
