"""Hypothesis draws the same examples in every CI run, everywhere else new ones; real databases; a real browser."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import settings

from private_postgres import PrivatePostgres

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
# Workers that run tests in parallel have it set; what is printed must not depend on that.
os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of this test process's own, started when a test first asks for it."""
    server = PrivatePostgres()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def new_store(request, tmp_path):
    """Stores of every kind: `new_store()` is the URL of another empty one, `new_store("a")` of the one called a."""
    made = {}

    def url(name=None):
        name = name or f"store{len(made)}"
        if name not in made and request.param == "postgresql":
            made[name] = request.getfixturevalue("postgres").new_schema()
        return made.setdefault(name, str(tmp_path / f"{name}.db"))

    url.kind = request.param
    return url


@pytest.fixture
def looked_at():
    """Open a file in a real Chromium and look: `looked_at(path, look)` gives (what was asked for, what was said)."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium: sudo apt-get install chromium")
    sync = pytest.importorskip("playwright.sync_api")

    def open_and_look(path, look):
        asked, said = [], []
        with sync.sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page()
            page.on("request", lambda request: asked.append(request.url))
            page.on("console", lambda message: said.append(message.text))
            page.on("dialog", lambda dialog: said.append("a dialog"))
            page.goto(path.as_uri())
            look(page)
            browser.close()
        return asked, said

    return open_and_look
