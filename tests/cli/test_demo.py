"""The demo: shows the alerts of each day, writes a page that asks the outside for nothing, resumes, begins anew."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from firststory.cli import demo as demo_module
from firststory.cli.main import main
from firststory.cli.output import console
from firststory.datasets import make_story_stream
from firststory.digest.report import report_page
from firststory.errors import DataError
from firststory.records import Alert, Document, Position, Step, Verdict
from firststory.store.store import Store


def call(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return stopped.value.code or 0


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = make_story_stream(150, 20, n_days=10)
    monkeypatch.setattr("firststory.datasets.make_story_stream", lambda *a, **k: small)
    return tmp_path


def no_corpus(**_):
    raise DataError(owner="x", parameter="the corpus", allowed="there", received="no network", remedy="Connect.")


def test_without_network_or_cache_it_falls_back_and_says_so(here, monkeypatch, capsys):
    monkeypatch.setattr("firststory.datasets.load_news2017", no_corpus)
    assert call("demo") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "cannot be had here" in said and "made-up stream" in said
    assert "What to type next" in said and "firststory digest --store firststory-demo.db" in said
    assert "open the page" in said and "firststory serve --store firststory-demo.db" in said
    # What matters comes first: alerts, then what happened lately, then the tables.
    parts = [said.index(words) for words in ("Alerts · Those that most", "What happened since", "grew largest")]
    assert parts == sorted(parts)
    page = (here / "firststory-demo.html").read_text()
    assert page.index("The alerts that most sources tell") < page.index("Novel documents") and "<mark>" in page
    with Store("firststory-demo.db") as store:
        fired = store.alerts(kind=("confirmed", "turn"))
    assert fired and f"{len([one for one in fired if one.kind == 'confirmed'])} confirmed" in said
    for alert in fired:
        assert alert.headline.title in said and alert.headline.title in page
        assert page.count(f"· {alert.id} ·") <= 1


def test_a_day_shows_what_matters_and_counts_first_reports(capsys):
    noon = datetime(2020, 1, 1, 12, tzinfo=UTC)
    documents = [Document(f"d{n}", "text", time=noon, title=f"Title {n}", source=f"paper {n}") for n in range(6)]
    kinds = ("first_seen", "first_seen", "confirmed", "first_seen", "first_seen", "turn")
    alerts = tuple(
        Alert(
            f"a{n}",
            kind,
            one,
            one,
            noon,
            None,
            (one.id,),
            ("paper 1", "paper 2", "paper 3"),
            (),
            None,
            None,
            float(n),
            "Why.",
        )
        for n, (kind, one) in enumerate(zip(kinds, documents, strict=True))
    )
    step = Step(0, tuple(Verdict(one, 0.5, 0.5, True) for one in documents), alerts=alerts)
    demo_module._show_day(console(), step)
    said = capsys.readouterr().out.splitlines()
    shown = [line for line in said if "Title" in line or "article" in line]
    assert "  first: paper 2 · also paper 1, paper 3" in said
    assert shown[0].startswith("Wednesday, 1 January 2020 · 6 articles · 4 first reports")
    assert shown[1:] == ["Title 2", "Title 5"]
    # A day without an alert is silent.
    demo_module._show_day(console(), Step(0, step.verdicts, alerts=alerts[:2]))
    assert capsys.readouterr().out == ""


def test_the_page_asks_the_outside_for_nothing(here, capsys):
    assert call("demo", "--synthetic") == 0
    page = (here / "firststory-demo.html").read_text()
    assert "default-src 'none'" in page and "unsafe" not in page
    assert not re.search(r"<script|<img|<link|<iframe|url\(|\ssrc=|@import|https?://|\sstyle=", page)


def test_again_after_the_end_it_begins_anew_and_after_an_interruption_it_goes_on(here, monkeypatch, capsys):
    assert call("demo", "--synthetic") == 0
    with Store("firststory-demo.db") as store:
        whole = store.dump()
    assert call("demo", "--synthetic") == 0
    assert "starting over" in capsys.readouterr().out
    with Store("firststory-demo.db") as store:
        assert store.dump() == whole
    for name in ("firststory-demo.db", "firststory-demo.html"):
        (here / name).unlink()

    arrivals = demo_module._arrivals

    def cut_short(*arguments):
        for number, arrival in enumerate(arrivals(*arguments)):
            if number == 70:
                raise KeyboardInterrupt
            yield arrival

    monkeypatch.setattr(demo_module, "_arrivals", cut_short)
    assert call("demo", "--synthetic") == 130
    monkeypatch.setattr(demo_module, "_arrivals", arrivals)
    assert call("demo", "--synthetic") == 0
    assert "resuming after step" in capsys.readouterr().out
    with Store("firststory-demo.db") as store:
        assert store.dump() == whole


def test_a_store_with_other_results_is_left_alone(here, capsys):
    (here / "mine.jsonl").write_text('{"text": "my own news"}\n')
    assert call("run", "mine.jsonl", "--store", "mine.db", "--detector", "neighbour", "--quiet") == 0
    before = (here / "mine.db").read_bytes()
    assert call("demo", "--synthetic", "--store", "mine.db") == 1
    assert "left alone" in capsys.readouterr().err
    assert (here / "mine.db").read_bytes() == before


def test_hostile_text_is_only_text_on_the_page(tmp_path, looked_at):
    from firststory.pipeline.runner import Runner
    from firststory.settings import load

    hostile = "<script>document.title='owned'; alert(1)</script> \"onload='x' {{ 7 * 7 }} </style><img src=x>"
    start = datetime(2020, 1, 1, tzinfo=UTC)
    documents = [Document(id=f"d{i}", text=hostile * (i + 1), title=hostile, time=start) for i in range(3)]
    with Store(str(tmp_path / "h.db")) as store:
        runner = Runner(load({"detector": "neighbour", "budget": "100%"}), store)
        list(runner.run((d, Position("news2017", {"line": i})) for i, d in enumerate(documents)))
        (tmp_path / "h.html").write_text(report_page(store, hostile))
    page = (tmp_path / "h.html").read_text()
    assert "<script" not in page and "<img" not in page and page.count("</style>") == 1
    assert "{{ 7 * 7 }}" in page

    def look(page):
        assert page.title() != "owned"
        assert "<script>" in page.inner_text("body")  # as text
        assert page.locator("script, img, iframe, object").count() == 0

    asked, said = looked_at(tmp_path / "h.html", look)
    assert asked == [(tmp_path / "h.html").as_uri()] and not said
