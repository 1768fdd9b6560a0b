"""A real Chromium that looks at a real `firststory serve` over real news (made-up news where there is no corpus)."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from firststory.pipeline.runner import Runner
from firststory.records import Document, Position
from firststory.serve.page import assets
from firststory.settings import Settings
from firststory.store.store import Store
from made_up_news import made_up_news
from serve.served import Served, alert, fill, one_step

HEADLINES = Path(os.environ.get("FIRSTSTORY_DATA") or "/nowhere") / "thisisallabout_headlines.jsonl.gz"
AXE = assets.CLONE / "node_modules" / "axe-core" / "axe.min.js"
SEEN_IN_PASSING = ("Password forms should have",)
"""What Chromium says of a page that is well."""


@pytest.fixture(scope="module")
def chromium():
    """One browser for the tests of a module: while it is open, no other test of the process can have a loop."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs chromium: sudo apt-get install chromium")
    sync = pytest.importorskip("playwright.sync_api")
    if assets.make() or not assets.are_there():
        pytest.skip("needs the assets of the page: make assets")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """axe-core as npm has laid it down; without it nothing is known of accessibility, and that is said."""
    if not AXE.is_file():
        pytest.skip("needs axe-core: npm ci")
    return AXE.read_text(encoding="utf-8")


class Looked:
    """A page, and what went wrong on it."""

    def __init__(self, context):
        self.context, self.said, self.asked = context, [], []
        self.page = context.new_page()
        self.page.on("console", lambda m: self.said.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append("a dialog"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def check_silence(self):
        """Nothing was said on the console, and nobody else was asked for anything."""
        assert [one for one in self.said if not one.startswith(SEEN_IN_PASSING)] == []
        assert [url for url in self.asked if not url.startswith(("http://127.0.0.1:", "data:"))] == []


@pytest.fixture
def look(chromium):
    """`look()` opens a page; `look(phone=True, dark=True)` another one."""
    contexts = []

    def open_page(*, phone=False, dark=False, script=True):
        context = chromium.new_context(
            viewport={"width": 390, "height": 844} if phone else {"width": 1440, "height": 1000},
            color_scheme="dark" if dark else "light",
            timezone_id="America/New_York",
            has_touch=phone,
            is_mobile=phone,
            java_script_enabled=script,
        )
        contexts.append(context)
        context.set_default_timeout(20_000)
        return Looked(context)

    yield open_page
    for context in contexts:
        context.close()


def news():
    """Documents for a store: a few days of headlines where the corpus is there, else made-up news."""
    if not HEADLINES.is_file():
        for row in made_up_news(datetime.now(UTC) - timedelta(minutes=1), days=4):
            yield Document(row["id"], row["text"], datetime.fromisoformat(row["time"]), row["title"], row["source"])
        return
    with gzip.open(HEADLINES, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if "2018-10-24T18" <= row["time"] < "2018-10-26T17:05":
                time = datetime.fromisoformat(row["time"])
                yield Document(row["id"], row["text"], time, None, row["origin"])


@pytest.fixture(scope="session")
def news_store(tmp_path_factory):
    """A store with a few days of news."""
    url = str(tmp_path_factory.mktemp("news") / "news.db")
    settings = Settings(store=url, step=40, language="en", save_every=1000)
    with Store(url) as store:
        arrivals = ((one, Position("news", {"line": n})) for n, one in enumerate(news(), 1))
        for _ in Runner(settings, store, lambda words: None).run(arrivals):
            pass
    return url


@pytest.fixture(scope="session")
def served(news_store):
    """`firststory serve` on it, with its stream."""
    process = Served(news_store, options=())
    process.ready()
    yield process
    process.end()


@pytest.fixture(scope="session")
def news_of(news_store):
    """The ids that addresses need."""
    with Store(news_store, read_only=True, create=False) as store:
        alert = store.alerts(kind="confirmed", newest_first=True, limit=1)[0]
        topics = store.topics()
        return {
            "alert": alert.id,
            "story": alert.story,
            "title": alert.headline.title or alert.headline.text,
            "storyline": store.storylines(limit=1, order="size")[0].id,
            "topic": topics[0].id if topics else None,
        }


@pytest.fixture
def written(tmp_path):
    """A store that this process writes, and `firststory serve` beside it."""
    url = fill(str(tmp_path / "live.db"), steps=6)
    with Store(url) as store:
        store.claim()
        process = Served(url, options=())
        process.ready("/healthz")
        yield store, process
        process.end()


def confirmed(index, **changes):
    """A step whose alert is pushed."""
    step = one_step(index)
    headline = replace(step.verdicts[0].document, title=changes.pop("title", f"Bridge number {index} falls"))
    told = alert(index, headline, kind="confirmed", **changes)
    first = replace(step.verdicts[0], document=headline)
    return replace(step, verdicts=(first, *step.verdicts[1:]), alerts=(told,))
