"""The streams of a fleet are read from a file, and mistakes are told before anything runs."""

from __future__ import annotations

import pytest

from firststory.errors import ParameterError
from firststory.fleet.streams import read_streams


def write(folder, text):
    (folder / "streams.toml").write_text(text)
    return folder / "streams.toml"


def test_a_stream_has_its_own_settings_and_those_of_all(tmp_path):
    path = write(
        tmp_path,
        """
        [defaults]
        language = "en"
        store = "stores/{name}.db"
        sources = ["{name}/*.jsonl"]
        [streams.sport]
        language = "de"
        [streams.politics]
        sources = ["rss+https://example.org/feed", "more.csv"]
        store = "postgresql://user@host/politics"
        """,
    )
    sport, politics = read_streams(path)
    assert sport.sources == (str(tmp_path / "sport/*.jsonl"),)
    assert sport.store == f"sqlite:///{tmp_path / 'stores/sport.db'}"
    assert (sport.settings.language, politics.settings.language) == ("de", "en")
    assert politics.sources == ("rss+https://example.org/feed", str(tmp_path / "more.csv"))
    assert politics.store == "postgresql://user@host/politics"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "TOML"),
        ("", "at least one"),
        ("[stream.a]\nstore = 'a.db'", "streams.NAME"),
        ("[streams.a]\nstore = 'a.db'", "sources of a"),
        ("[streams.a]\nsources = ['a.jsonl']", "store of a"),
        ("[streams.a]\nsources = ['-']\nstore = 'a.db'", "files, feeds and queues"),
        ("[streams.a]\nsources = ['wss://h/x']\nstore = 'a.db'", "files, feeds and queues"),
        ("[streams.a]\nsources = ['a.jsonl']\nstore = 'a.db'\nbudgett = 3", "budgett"),
        ("[streams.a]\nsources = ['a.jsonl']\nstore = 'a.db'\ntopics = 'nfm'", "nmf"),
        ("[streams.a]\nsources = ['a.jsonl']\nstore = 'a.db'\nengine = 'threads'", "engine of a"),
        (
            "[defaults]\nsources = ['a.jsonl']\nstore = 'a.db'\n[streams.a]\n[streams.b]",
            "a store of its own; received that of a",
        ),
    ],
)
def test_mistakes(tmp_path, text, said):
    with pytest.raises(ParameterError) as caught:
        read_streams(write(tmp_path, text))
    assert said in str(caught.value)
