"""Hypothesis draws the same examples in every CI run, everywhere else new ones; and a real browser."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
# Workers that run tests in parallel have it set; what is printed must not depend on that.
os.environ.pop("COLUMNS", None)


@pytest.fixture
def looked_at():
    """Open a file in a real Chromium and look: `looked_at(path, look)` gives (what was asked for, what was said)."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
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
