"""What a reader relies on: places that stay, marks of the last visit, ranges, paper, links, filters, descent."""

from __future__ import annotations

import json
import re

import pytest

from browser.conftest import confirmed
from firststory.store.store import Store
from serve.served import wait_until

expect = pytest.importorskip("playwright.sync_api").expect
TOP = "e => e.getBoundingClientRect().top"
NODES = [{"id": "l1", "name": "<img src=x onerror=window.harm=1>", "is_this": True}, {"id": "l2", "name": "Flood"}]


def test_what_is_read_keeps_its_place_when_more_is_put_in(look, written):
    store, process = written
    for index in range(6, 14):
        store.write_step(confirmed(index))
    page = look().page
    page.goto(process.url + "/?since=30d")
    card = page.locator(".alert").nth(4)
    card.focus()
    page.mouse.wheel(0, 350)
    page.wait_for_function("() => scrollY > 200")
    store.write_step(confirmed(14))
    page.wait_for_selector(".arrived:not([hidden])")
    before = card.evaluate(TOP)
    name = card.get_attribute("id")
    page.keyboard.press(".")
    expect(page.locator("#a14")).to_have_count(1)
    assert abs(page.locator(f"#{name}").evaluate(TOP) - before) < 1
    assert page.evaluate("document.activeElement.id") == name


def test_what_was_seen_before_is_marked_at_the_next_visit(look, written):
    store, process = written
    store.write_step(confirmed(6))
    page = look().page
    page.goto(process.url + "/?since=30d")
    expect(page.locator("#a6")).to_have_count(1)
    expect(page.locator(".seen")).to_have_count(0)
    page.goto(process.url + "/page/stories")
    store.write_step(confirmed(7))

    def is_there():
        page.goto(process.url + "/?since=30d")
        return page.locator("#a7").count()

    wait_until(is_there)  # an answer may be kept for a second
    assert page.locator(".seen").inner_text().startswith("Seen until ")
    assert page.locator(".feed > *").evaluate_all("es => es.map(e => e.id || e.className)").index("seen") < (
        page.locator(".feed > *").evaluate_all("es => es.map(e => e.id || e.className)").index("a6")
    )
    assert "1 confirmed since you last looked" in page.locator("[data-since-last]").inner_text()


def test_first_reports_are_folded_and_the_browser_remembers(look, written):
    _, process = written
    page = look().page
    page.goto(process.url + "/?since=30d")
    fold = page.locator("details.fold")
    assert not fold.evaluate("e => e.open")
    fold.locator("summary").click()
    expect(fold.locator(".row").first).to_be_visible()
    wait_until(lambda: "open" in page.evaluate("Object.values(localStorage)"))  # the browser tells of it a moment later
    page.reload()
    expect(fold).to_have_js_property("open", True)


def test_days_are_chosen_and_stand_in_the_address(look, served):
    looked = look()
    page = looked.page
    page.goto(served.url + "/?since=7d")
    days = sorted(
        {moment[:10] for moment in page.locator(".alert__when time").evaluate_all("es => es.map(e => e.dateTime)")}
    )
    page.locator("#since").select_option("days")
    page.locator("input[name=from]").fill(days[0])
    page.locator("input[name=to]").fill(days[0])
    page.wait_for_url(f"**since=days**from={days[0]}**")
    expect(page.locator("[data-since-last]")).to_contain_text(" on ")
    shown = page.locator(".alert__when time").evaluate_all(
        "es => [...new Set(es.map(e => new Intl.DateTimeFormat('sv').format(new Date(e.dateTime))))]"
    )
    assert shown == [days[0]]
    looked.check_silence()


def test_a_digest_is_printed_without_the_page_around_it(look, served):
    page = look(dark=True).page
    page.goto(served.url + "/page/digest")
    page.emulate_media(media="print")
    expect(page.locator(".bar")).to_be_hidden()
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.locator(".paper")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_one_key_copies_the_link_of_an_alert(look, served, news_of):
    looked = look()
    looked.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = looked.page
    page.goto(served.url + "/?since=7d")
    card = page.locator(f"#{news_of['alert']}")
    card.focus()
    page.keyboard.press("c")
    expect(card.locator(".actions__said")).to_have_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{served.url}/page/alerts/{news_of['alert']}"


def test_descent_of_topics_is_drawn_and_names_are_no_markup(look, served):
    """From facts that are planted in the page, as the server writes them."""
    looked = look()
    page = looked.page
    told = {"nodes": NODES, "links": [{"from": "l2", "to": "l1", "weight": 0.5}]}
    page.goto(served.url + "/page/search")
    page.evaluate(
        "told => { const e = Object.assign(document.createElement('div'), { id: 'sankey', className: 'sankey' });"
        " e.dataset.sankey = told; document.querySelector('main').append(e); }",
        json.dumps(told),
    )
    page.add_script_tag(url="/static/vendor/echarts.min.js")
    page.add_script_tag(url="/static/charts.js")
    chart = "echarts.getInstanceByDom(document.getElementById('sankey'))"
    assert page.evaluate(f"{chart}.getModel().getSeriesByIndex(0).getGraph().edges.length") == 1
    page.evaluate(f"{chart}.dispatchAction({{ type: 'showTip', seriesIndex: 0, dataIndex: 0 }})")
    assert page.evaluate(f"{chart}.getOption().tooltip[0].renderMode") == "richText"
    assert page.evaluate("window.harm") is None
    expect(page.locator("main img")).to_have_count(0)
    looked.check_silence()


def test_filters_of_a_search_are_kept_in_its_address(look, served, news_store, news_of):
    looked = look()
    page = looked.page
    page.goto(served.url + "/page/search?q=trump+OR+ferry")
    expect(page.locator(".found")).to_have_count(1)
    source = page.locator("input[name=source]").first
    name = source.get_attribute("value")
    n = int(source.locator("xpath=../span").inner_text().replace(",", ""))
    source.check()
    page.wait_for_url("**source=**")
    expect(page.locator(".found")).to_contain_text(f"{n} document")
    assert set(page.locator(".row__src").all_inner_texts()) == {name}
    word = max(re.findall(r"[A-Za-z]+", news_of["title"]), key=len)
    page.goto(f"{served.url}/page/search?q={word}&alerts=1")
    found = int(page.locator(".found").inner_text().split()[0].replace(",", ""))
    with Store(news_store, read_only=True, create=False) as store:
        told = {one.id for alert in store.alerts(kind=("confirmed", "turn")) for one in (alert.first, alert.headline)}
    assert 1 <= found <= len(told)
    looked.check_silence()
