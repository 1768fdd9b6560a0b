"""A page that stays open: what arrives, what is said, what a cut connection misses, and text that means harm."""

from __future__ import annotations

from dataclasses import replace

import pytest

from browser.conftest import confirmed
from firststory.store.store import Store
from serve.served import Served

expect = pytest.importorskip("playwright.sync_api").expect
HOSTILE = '<script>window.harm=1</script><img src=x onerror="window.harm=1"> "><svg onload=window.harm=1>'


def test_what_arrives_is_announced_and_put_in_when_asked(look, written):
    store, process = written
    looked = look()
    page = looked.page
    page.goto(process.url + "/?since=30d")
    page.wait_for_selector(".alert.is-selected")
    before = page.locator(".alert").count()
    page.fill("#q-top", "half typed")
    store.write_step(confirmed(6))
    page.wait_for_selector(".arrived:not([hidden])")
    assert page.locator(".arrived").inner_text().startswith("1 new alert")
    assert page.title().startswith("(1) ")
    assert page.locator(".alert").count() == before  # nothing moves under the eye
    page.locator(".arrived__btn").click()
    assert page.locator("#a6 .alert__title").inner_text() == "Bridge number 6 falls"
    assert page.locator(".alert").first.get_attribute("id") == "a6"
    assert page.input_value("#q-top") == "half typed"
    assert not page.title().startswith("(")
    looked.check_silence()


def test_a_cut_connection_misses_nothing(look, written):
    store, process = written
    page = look().page
    page.goto(process.url + "/?since=30d")
    page.wait_for_selector(".alert.is-selected")
    page.fill("#q-top", "half typed")
    page.locator("#q-top").blur()
    process.end()
    page.wait_for_selector(".live--off")
    page.wait_for_selector("[data-lost]:not([hidden])")
    assert "nothing will be missed" in page.locator("[data-lost]").inner_text()
    store.write_step(confirmed(6))
    again = Served(str(store.name), port=process.port, options=())
    again.ready("/healthz")
    # Where the start took long, the page has come back by itself and hides the button.
    page.locator("[data-act=retry]").dispatch_event("click")
    page.wait_for_selector(".arrived:not([hidden])")
    expect(page.locator("[data-lost]")).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press(".")
    assert page.locator("#a6").is_visible()
    assert page.input_value("#q-top") == "half typed"
    again.end()


def test_feedback_persists_and_can_be_undone(look, written):
    store, process = written
    store.write_step(confirmed(6))
    page = look().page
    page.goto(process.url + "/?since=30d")
    card = page.locator("#a6")
    card.focus()
    page.keyboard.press("u")
    expect(card.locator(".actions__said")).to_have_text("Noted. z to undo")
    page.reload()
    assert card.locator("[data-act=useful]").get_attribute("aria-pressed") == "true"
    assert [(row["document"], row["useful"]) for row in store.feedback()] == [("d19", True)]
    card.locator("[data-act=useful]").click(force=True)
    expect(card.locator(".actions__said")).to_have_text("Undone")
    page.reload()
    assert card.locator("[data-act=useful]").get_attribute("aria-pressed") == "false"


def test_hostile_text_is_text(look, written):
    store, process = written
    looked = look()
    page = looked.page
    page.goto(process.url + "/?since=30d")
    page.wait_for_selector(".alert.is-selected")
    hostile = dict.fromkeys(("title", "summary", "sentence"), HOSTILE)
    hostile |= {"terms": (HOSTILE,), "sources": (HOSTILE, "b")}
    step = confirmed(6, **hostile)
    story = replace(step.stories[0], title=HOSTILE, sources=(HOSTILE,), key_terms=(HOSTILE,))
    store.write_step(replace(step, stories=(story, *step.stories[1:])))
    page.wait_for_selector(".arrived:not([hidden])")
    page.keyboard.press(".")
    assert HOSTILE[:40] in page.locator("#a6 .alert__title").inner_text()
    searches = ("/page/search?q=script", "/page/search?q=%3Cscript%3Ewindow.harm%3D1")
    lists = ("/page/storylines/l1", "/page/stories?level=story&since=90d", "/page/digest", "/page/health")
    for path in (f"/page/stories/{story.id}", *lists, *searches):
        page.goto(process.url + path)
        assert page.evaluate("window.harm") is None
        expect(page.locator("main script, main img")).to_have_count(0)
    looked.check_silence()


def test_a_store_without_documents_says_what_to_do(look, tmp_path):
    url = str(tmp_path / "empty.db")
    Store(url).close()
    process = Served(url, "--read-only", options=())
    process.ready("/healthz")
    looked = look()
    looked.page.goto(process.url)
    assert "Nothing has arrived yet" in looked.page.locator("h1").inner_text()
    looked.page.goto(process.url + "/page/health")
    looked.page.goto(process.url + "/page/topics")
    assert "No topics yet" in looked.page.locator("main").inner_text()
    looked.check_silence()
    process.end()
