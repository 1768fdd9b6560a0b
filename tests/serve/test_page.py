"""What the page says and draws, against what was written: without a browser, over both kinds of streams."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from firststory.records import Storyline, Topic, TopicEvent
from firststory.serve.page import assets
from firststory.serve.page.cards import new_phrases, why_new
from firststory.serve.page.charts import ticks
from firststory.serve.page.clock import clock_of
from firststory.serve.page.line_names import LEAST, line_names
from firststory.serve.page.search import ALONE, GROUPS
from firststory.serve.page.storyline import storyline_facts
from firststory.serve.page.topics import descent
from firststory.store.store import Store
from serve.served import alert, fill, server_on
from store.made import step, story, verdict

DAY = timedelta(days=1)
END = datetime(2017, 3, 30, tzinfo=UTC)
AUCKLAND = {"Cookie": "zone=Pacific/Auckland"}
NEW_YORK = {"Cookie": "zone=America/New_York"}


def written(path, documents, *, alerts=(), stories=(), lines=()):
    """A store with (name, time, title, story) in one step."""
    verdicts = []
    for n, (name, time, title, owner) in enumerate(documents):
        made = verdict(name, story=owner)
        verdicts.append(replace(made, document=replace(made.document, time=time, title=title, source=f"paper {n % 3}")))
    with Store(str(path)) as store:
        store.claim()
        told = [alert(n, verdicts[at].document, kind="confirmed", **changes) for n, (at, changes) in enumerate(alerts)]
        store.write_step(step(0, verdicts=tuple(verdicts), alerts=tuple(told), stories=stories, storylines=lines))
        store.keep_settings({"budget": "20/day", "false_alerts": 1.0})
    return str(path)


@pytest.fixture
def days(tmp_path):
    """A stream that knows only days, long ago: three documents on its last day, two on the day before."""
    ages = (0, 0, 0, 1, 1, 5)
    documents = [(f"d{n}", END - age * DAY, f"Report {n}", "s1") for n, age in enumerate(ages)][::-1]
    own = story("s1", first_seen=END - 5 * DAY, last_seen=END, size=6, storyline="l1")
    line = Storyline("l1", "The line", END - 5 * DAY, END, 6, 1, ("paper 0",))
    alerts = [(5, {"fired_at": END}), (2, {"fired_at": END - DAY})]
    return written(tmp_path / "days.db", documents, alerts=alerts, stories=(own,), lines=(line,))


@pytest.mark.parametrize("zone", [AUCKLAND, NEW_YORK, {}])
def test_a_day_is_the_same_day_everywhere(days, zone):
    with server_on(days) as (_, address, _), httpx.Client(base_url=address, timeout=60, headers=zone) as client:
        digest = client.get("/page/digest").text
        assert "<h1>Thursday 30 March 2017</h1>" in digest and "from 3 documents of 3 sources" in digest
        now = client.get("/").text
        assert now.count('<article class="alert') == 1  # the last day alone, not also the one before
        assert client.get("/?since=3d").text.count('<article class="alert') == 2
        assert "to 30 Mar 2017" in now and "This stream has days, not times of day." in now


def test_the_small_line_of_a_stream_of_days_ends_with_its_last_day(days):
    with server_on(days) as (_, address, _), httpx.Client(base_url=address, timeout=60) as client:
        page = client.get("/page/stories?level=story").text
    line = re.search(r'class="spark__line" d="M([^"]+)"', page)[1]
    heights = [float(point.split()[1]) for point in line.split(" L")]
    assert len(heights) == 14 and heights[-1] == min(heights)  # y grows downwards: the last day has most


def test_an_archive_has_neither_today_nor_ages(tmp_path):
    end = datetime(2018, 10, 26, 17, 5, tzinfo=UTC)
    documents = [(f"d{n}", end - n * timedelta(minutes=20), f"Report {n}", "s1") for n in range(6)][::-1]
    url = written(tmp_path / "old.db", documents, alerts=[(5, {"fired_at": end})], stories=(story("s1"),))
    with server_on(url) as (_, address, _), httpx.Client(base_url=address, timeout=60, headers=NEW_YORK) as client:
        for path in ("/", "/page/stories/s1", "/page/health", "/page/digest"):
            page = client.get(path)
            assert page.status_code == 200
            assert not re.search(r"\bago\b|just now|\btoday\b", page.text, re.IGNORECASE), path
            assert "Archive" in page.text and "to 26 Oct 2018" in page.text


def test_the_digest_begins_with_yesterday_where_anything_came_then(tmp_path):
    now = datetime.now(UTC)
    noon = now.replace(hour=12, minute=1, second=0, microsecond=0) - DAY
    both = [("d1", noon, "A bridge falls", "s1"), ("d2", now - timedelta(seconds=9), "A bridge is mended", "s1")]
    for name, documents, day in (("two", both, noon), ("one", both[1:], now)):
        url = written(tmp_path / f"{name}.db", documents, stories=(story("s1"),))
        with server_on(url) as (_, address, _):
            page = httpx.get(f"{address}/page/digest", timeout=60).text
        assert f'value="{day.date().isoformat()}"' in page


def test_a_storyline_is_called_by_what_its_headlines_share(tmp_path):
    titles = ["Migrant caravan nears the border"] * 5 + ["Who pays for the migrant caravan?"] * 4 + ["Rain", "Fog", "x"]
    documents = [(f"d{n}", END + n * timedelta(hours=1), title, "s1") for n, title in enumerate(titles, 1)]
    own = story("s1", storyline="l1", size=len(titles))
    line = Storyline("l1", "Who pays for the migrant caravan?", END, END + DAY, LEAST, 2, ("paper 1",))
    url = written(tmp_path / "line.db", documents, stories=(own,), lines=(line,))
    with Store(url, read_only=True, create=False) as store:
        assert line_names(store, [line]) == {"l1": "Migrant caravan"}
        small = replace(line, size=LEAST - 1)  # few documents: a headline says more than two words
        assert line_names(store, [small]) == {"l1": "Who pays for the migrant caravan?"}


def test_lanes_columns_and_marks_of_a_storyline_share_their_axis(tmp_path):
    begin = datetime(2017, 1, 20, tzinfo=UTC)
    times = [begin + n * DAY for n in (0, 10, 40, 69)]
    documents = [(f"d{n}", time, f"Flood in Bremen, part {n}", f"s{n}") for n, time in enumerate(times)]
    stories = tuple(
        story(f"s{n}", title=f"Flood in Bremen, part {n}", first_seen=time, last_seen=time, storyline="l1")
        for n, time in enumerate(times)
    )
    line = Storyline("l1", "Flood", begin, times[-1], 4, 4, ("paper 0",))
    url = written(tmp_path / "line.db", documents, stories=stories, lines=(line,))
    with Store(url, read_only=True, create=False) as store:
        facts = storyline_facts(store, clock_of(store.last_time(), None), "l1", None)
    bars = facts["chart"].bars
    assert [bar.title.endswith("1 document") for bar in bars] == [True] * 4
    for lane, bar in zip(facts["lanes"], bars, strict=True):
        assert bar.x - 2 <= lane.x <= bar.x + bar.width  # a story begins where its document stands
    first, *later = [lane.reason for lane in facts["lanes"]]
    assert first.startswith("The line begins with it.")
    assert all(reason.startswith("Follows: shares “Flood” and “Bremen”.") for reason in later)


def test_marks_of_time_stay_within_the_chart():
    clock = clock_of(END, None)
    for n in (2, 14, 70):
        for mark in ticks(clock, END - n * DAY, END, 0.0, 1000.0):
            assert 0 <= mark.x < 1000


def test_new_words_that_stand_side_by_side_are_one_phrase():
    headline = replace(verdict("d1").document, title="Bolton says Putin has been invited to visit Washington")
    told = alert(
        1, headline, kind="turn", sentence="Turn: 3 sources say “invited”, “visit” and “Washington”.", terms=()
    )
    assert new_phrases(told) == ["invited", "visit Washington"]
    words = why_new(told, new_phrases(told))
    assert words == "“Invited” and “visit Washington” are new to the story: three sources."


def test_search_shows_the_largest_stories_and_says_how_many_more(tmp_path):
    n_stories, n_alone = GROUPS + 3, ALONE + 5
    pairs = [(f"s{n}", f"Ferry {n} sinks") for n in range(n_stories) for _ in range(2)]
    alone = [(f"s{100 + n}", f"Ferry {n} repaired") for n in range(n_alone)]
    documents = [(f"d{n}", END, title, owner) for n, (owner, title) in enumerate([*pairs, *alone])]
    stories = tuple(story(owner, title=title) for owner, title in dict([*pairs, *alone]).items())
    url = written(tmp_path / "many.db", documents, stories=stories)
    with server_on(url) as (_, address, _), httpx.Client(base_url=address, timeout=60) as client:
        page = client.get("/page/search?q=ferry").text
        assert page.count('<li class="row"') == 2 * GROUPS + ALONE
        assert "5 more, and 3 stories, newest first" in page
        whole = client.get("/page/search?q=ferry&order=time").text
        assert whole.count('<li class="row"') == 2 * n_stories + n_alone


def test_health_tells_what_could_not_be_read_and_why(tmp_path):
    url = fill(str(tmp_path / "bad.db"))
    with server_on(url) as (_, address, _):
        page = httpx.get(f"{address}/page/health", timeout=60).text
    rows = re.findall(r"<tr><td>Wrong json</td><td[^>]*>No JSON</td><td[^>]*>file, line (\d+)</td></tr>", page)
    assert rows == ["10", "5", "0"]  # latest first


def test_descent_of_a_topic_is_what_split_and_merged(tmp_path):
    topics = tuple(Topic(name, (), 0.1, label=(name.upper(),)) for name in ("l1", "l2", "l3"))
    events = (
        TopicEvent(0, "split", "l2", ("l1",), 0.4),
        TopicEvent(0, "merged", "l3", ("l2",), 0.2),
        TopicEvent(0, "born", "l4"),
    )
    with Store(str(tmp_path / "topics.db")) as store:
        store.claim()
        store.write_step(step(0, "d1", topics=topics, topic_events=events))
        told = descent(store, "l2", None)
        assert [(link["from"], link["to"]) for link in told["links"]] == [("l1", "l2"), ("l3", "l2")]
        assert {node["id"]: (node["name"], node["is_this"]) for node in told["nodes"]} == {
            "l1": ("L1", False), "l2": ("L2", True), "l3": ("L3", False),
        }  # fmt: skip
        assert descent(store, "l4", None) is None


def test_without_assets_the_page_asks_for_none_and_says_what_to_type(days, tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "VENDOR", tmp_path / "nothing")
    monkeypatch.setattr(assets.shutil, "which", lambda name: None)
    monkeypatch.delenv("FIRSTSTORY_ASSETS", raising=False)
    assert "make assets" in assets.make()
    with server_on(days) as (_, address, _), httpx.Client(base_url=address, timeout=60) as client:
        for path in ("/", "/page/topics", "/page/stories"):
            page = client.get(path)
            assert page.status_code == 200
            loaded = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
            assert loaded and [name for name in loaded if client.get(name).status_code != 200] == []


def test_what_npm_lays_down_is_copied(tmp_path, monkeypatch):
    for path in assets.FILES.values():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    monkeypatch.setattr(assets, "VENDOR", tmp_path / "vendor")
    assert not assets.are_there()
    assets.copy(tmp_path)
    assert assets.are_there() and assets.make() == ""
