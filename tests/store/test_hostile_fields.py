"""SQL, terminal escapes and line breaks in every field that strangers or users fill, with both databases."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from subprocess import CompletedProcess

import pytest

from firststory.cli.main import main
from firststory.store.store import Store

ATTACKS = (
    "'; DROP TABLE documents; --",
    '"; DELETE FROM verdicts; --',
    "x') ; DROP SCHEMA public CASCADE; --",
    "1 OR 1=1",
    "%s %(id)s {0} :id ? $1 \\",
    "' UNION SELECT value FROM meta --",
    "NEAR(a b) AND title:* \" ^ ( )",
    "\\copy documents to '/tmp/x'",
    "a\tb\\N\\.\n\\.",  # what ends a COPY
    "\x1b[2J\x1b]0;owned\x07\r\u202eevil\u2028x",
)  # fmt: skip
QUICK = ("--detector", "neighbour", "--topics", "none", "--language", "en")


def call(*arguments):
    """A command line in this process: its exit status, and what it printed."""
    out, told = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(told), pytest.raises(SystemExit) as end:
        main([str(part) for part in arguments])
    return CompletedProcess(arguments, end.value.code or 0, out.getvalue(), told.getvalue())


@pytest.fixture
def filled(new_store, tmp_path):
    """A store of documents that have an attack in every field."""
    rows = [
        {"id": f"{i} {attack}", "text": f"Flood in Bremen closes the bridge. {attack} Number {i}.", "title": attack,
         "source": attack, "url": attack, "label": attack, "time": f"2026-01-{i + 1:02}T10:00:00Z", attack: attack}
        for i, attack in enumerate(ATTACKS)
    ]  # fmt: skip
    path = tmp_path / "'; DROP TABLE documents; --.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{'; DROP TABLE quarantine; --\n")
    store = new_store("hostile")
    done = call("run", path, "--store", store, *QUICK)
    assert done.returncode == 0 and "10 documents judged" in " ".join(done.stdout.split()), done.stderr
    assert "\x1b" not in done.stdout + done.stderr and "\u202e" not in done.stdout + done.stderr
    return store, rows


def test_every_field_comes_back_as_it_was(filled):
    store, rows = filled
    with Store(store, read_only=True) as opened:
        found = [verdict.document for verdict in opened.verdicts()]
        assert [document.id for document in found] == [row["id"] for row in rows]
        for document, row, attack in zip(found, rows, ATTACKS, strict=True):
            assert (document.text, document.title, document.source) == (row["text"], attack, attack)
            assert (document.url, document.label, document.extra[attack]) == (attack, attack, attack)
        assert [bad.reason for bad in opened.quarantined(10)] == ["wrong-json"]
        assert opened.known_ids([row["id"] for row in rows]) == {row["id"] for row in rows}
        for attack in ATTACKS:
            opened.search(attack)  # whatever it finds, it is a question and not a command
            assert opened.story(attack) is None and opened.current_story(attack) == attack
            assert opened.verdicts(story=attack) == () and opened.alerts(story=attack) == ()
        assert opened.status()["documents"] == len(rows)


def test_what_is_typed_is_a_value_and_never_a_command(filled):
    store, rows = filled
    for attack in ATTACKS[:3]:
        assert call("stories", "--search", attack, "--store", store).returncode == 0
        for wrong in (
            ["story", attack, "--store", store],
            ["stories", attack, "--store", store],
            ["stories", "--order", attack, "--store", store],
            ["feedback", attack, "--useful", "--store", store],
            ["alerts", "--kind", attack, "--store", store],
            ["alerts", "--since", attack, "--store", store],
        ):
            done = call(*wrong)
            assert done.returncode in (1, 2) and "Traceback" not in done.stderr, (wrong, done.stderr)
    assert call("feedback", rows[0]["id"], "--useful", "--store", store).returncode == 0
    for reading in (["status", "--quarantine"], ["stories"], ["digest", "--since", "2026-01-01"], ["sinks", "dead"]):
        shown = call(*reading, "--store", store)
        assert shown.returncode == 0 and "\x1b" not in shown.stdout and "\u202e" not in shown.stdout, shown.stderr
    checked = call("store", "check", "--store", store)
    assert checked.returncode == 0, checked.stdout
    with Store(store, read_only=True) as opened:
        assert opened.status()["documents"] == len(rows) and len(opened.feedback()) == 1
