"""Public names, options, settings, table columns and JSON keys use the words of docs/glossary.md."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from datetime import datetime
from importlib import import_module
from pathlib import Path

import pytest

import firststory as fs
from firststory.cli.main import COMMANDS
from firststory.records import Alert, Document, Evidence, Neighbour, Story, Storyline, Term, Topic, TopicEvent, Verdict
from firststory.settings import Settings
from firststory.store import schema

PAGE = (Path(__file__).parents[1] / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
WORDS = {row[0] for row in ROWS[1:]}
REFUSED = {word.strip() for row in ROWS[1:] for word in row[2].split(",") if word.strip()} - WORDS
EXCEPTIONS = {
    ("OnlineNMF", "memory"),
    # The words of logging and of security, where they mean what they mean everywhere.
    *((owner, "log_level") for owner in ("settings", "firststory run", "firststory serve")),
    *((table, "hash") for table in ("tokens", "sessions")),
}


def words_of(name: str) -> set[str]:
    """The words that a name is made of, without the plural's s."""
    found = {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}
    return found | {word.removesuffix("s") for word in found}


def public_names():
    for name in fs.__all__:
        yield "fs", name
        thing = getattr(fs, name)
        if inspect.isclass(thing):
            yield from ((name, member) for member in vars(thing) if not member.startswith("_"))
            yield from ((name, parameter) for parameter in inspect.signature(thing).parameters)
        elif inspect.ismodule(thing):
            yield from ((name, member) for member in getattr(thing, "__all__", ()))


def options():
    for name, module in COMMANDS.items():
        function = getattr(import_module(f"firststory.cli.{module}"), module)
        yield from ((f"firststory {name}", parameter) for parameter in inspect.signature(function).parameters)


def json_keys():
    from firststory.digest.records import Digest, Entry, GrowingStory
    from firststory.digest.shapes import alert_json, digest_json, story_json, storyline_json, topic_json
    from firststory.digest.story import StoryDetail, TurningPoint, detail_json
    from firststory.digest.timeline import Column, Timeline

    verdict = Verdict(Document("1", "x"), 0.5, 0.5, False, evidence=Evidence((Term("x", 1.0),), (Neighbour("0", 0.5),)))
    story = Story("s1", "x", None, None, 1, "1")
    topic, event = Topic("t1", (("x", 1.0),), 1.0), TopicEvent(0, "born", "t1")
    one = verdict.document
    alert = Alert("a1", "turn", one, one, None, None, ("1",), (), (), None, None, 1.0, "")
    line = Storyline("l1", "x", None, None, 1, 1)
    detail = StoryDetail(
        story, one, (verdict,), 1, Timeline("day", (Column(datetime(2026, 1, 1), 1, 1),)),
        (TurningPoint(None, "merged", "s2", "x", ""),), line, story, (), story,
    )  # fmt: skip
    growing = GrowingStory(story, one, one, one, 1, 0, 1)
    digest = Digest(None, None, 1, 1, confirmed=(Entry(alert, (alert,)),), growing=(growing,))
    values = [
        digest_json(digest), detail_json(detail), detail_json(detail)["timeline"],
        verdict.to_dict(), story_json(story), topic_json(topic, [event]),
        storyline_json(line), alert_json(alert), alert_json(alert)["first"],
    ]  # fmt: skip
    while values:
        for key, value in values.pop().items():
            yield "json", key
            values += [inner for inner in value if isinstance(inner, dict)] if isinstance(value, list) else []


PLACES = {
    "public names": public_names,
    "options": options,
    "settings": lambda: (("settings", item.name) for item in fields(Settings)),
    "columns": lambda: ((t.name, c.name) for t in schema.metadata.tables.values() for c in t.columns),
    "JSON keys": json_keys,
}


@pytest.mark.parametrize("place", PLACES)
def test_names_use_the_words_of_the_glossary(place):
    names = [pair for pair in PLACES[place]() if pair not in EXCEPTIONS]
    assert len(names) > 5
    wrong = {pair: sorted(words_of(pair[1]) & REFUSED) for pair in names if words_of(pair[1]) & REFUSED}
    assert not wrong


@pytest.mark.parametrize("setting", ["step", "window", "budget", "store"])
def test_settings_that_people_meet_first_are_defined(setting):
    assert setting in WORDS and setting in {item.name for item in fields(Settings)}


def test_no_word_is_refused_and_defined():
    assert "memory" in REFUSED and "theme" in REFUSED
    assert not {word for word in REFUSED if word in WORDS}
