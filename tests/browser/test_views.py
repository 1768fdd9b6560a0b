"""Each view over real news: what it shows, that it is silent, and that axe-core finds nothing serious."""

from __future__ import annotations

import re

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
VIEWS = {
    "now": "/?since=7d",
    "stories": "/page/stories",
    "single stories": "/page/stories?level=story",
    "story": "/page/stories/{story}",
    "storyline": "/page/storylines/{storyline}",
    "topics": "/page/topics",
    "topic": "/page/topics/{topic}",
    "search": "/page/search?q=trump+OR+ferry",
    "search error": "/page/search?q=%22suspicious+package+-cnn",
    "digest": "/page/digest",
    "health": "/page/health",
    "login": "/login",
}


def address(view, news_of):
    if view == "topic" and news_of["topic"] is None:
        pytest.skip("these few days have no topic")
    return VIEWS[view].format(**news_of)


@pytest.mark.parametrize("view", VIEWS)
def test_view_is_silent_and_accessible(look, served, news_of, axe, view):
    """On a desk and on a phone, in the light and in the dark."""
    for phone, dark in ((False, False), (True, True), (False, True), (True, False)):
        looked = look(phone=phone, dark=dark)
        page = looked.page
        page.goto(served.url + address(view, news_of))
        page.wait_for_load_state("load")
        expect(page.locator("h1")).to_have_count(1)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, "the page scrolls sideways"
        # By the protocol of the browser, which the content security policy of the page does not bind.
        page.evaluate(axe)
        found = page.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.impact, v.nodes[0].html]))")
        assert [one for one in found if one[1] in ("serious", "critical")] == []
        looked.check_silence()


def test_cards_say_what_broke_who_told_it_and_since_when(look, served, news_of):
    page = look().page
    page.goto(served.url + "/?since=7d")
    card = page.locator(f"#{news_of['alert']}")
    assert news_of["title"][:40] in card.inner_text()
    assert int(card.locator(".proof__n strong").inner_text()) >= 2
    dots = card.locator(".strip circle").count()
    assert dots == int(card.locator(".proof__n strong").inner_text())
    times = page.locator(".feed time").evaluate_all("es => es.map(e => [e.dateTime, e.title])")
    assert all(moment.endswith("Z") and "UTC" in title for moment, title in times)


def test_times_are_those_of_the_reader(look, served):
    page = look().page
    page.goto(served.url + "/?since=7d")
    assert "New York" in page.locator(".foot").inner_text()
    shown, utc = page.locator(".feed .alert__when time").first.evaluate("e => [e.textContent, e.title]")
    assert shown[-5:] != utc[-9:-4]  # four or five hours lie between


def test_reading_works_without_script(look, served, news_of):
    looked = look(script=False)
    page = looked.page
    page.goto(served.url + "/?since=7d")
    page.locator(f"#{news_of['alert']} .alert__title a").click()
    assert "Turning points" in page.content()
    page.goto(served.url + "/page/stories/" + news_of["story"])
    page.locator("button[name=useful]").first.click()
    assert page.locator("button[name=useful]").first.get_attribute("aria-pressed") == "true"
    page.locator("button[name=useful]").first.click()
    assert page.locator("button[name=useful]").first.get_attribute("aria-pressed") == "false"


def test_keys_move_open_and_search(look, served):
    looked = look()
    page = looked.page
    page.goto(served.url + "/?since=7d")
    page.wait_for_selector(".alert.is-selected")
    page.keyboard.press("j")
    second = page.locator(".alert").nth(1)
    assert "is-selected" in second.get_attribute("class")
    assert page.evaluate("document.activeElement.id") == second.get_attribute("id")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("jj")
    assert page.locator("#q-top").input_value() == "jj"
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/page/stories")
    looked.check_silence()


def test_filters_are_addresses_and_keep_the_focus(look, served):
    looked = look()
    page = looked.page
    page.goto(served.url + "/?since=7d")
    page.locator("#kind-confirmed").check()
    page.wait_for_url("**kind=confirmed**")
    expect(page.locator(".alert--turn")).to_have_count(0)
    assert page.evaluate("document.activeElement.id") == "kind-confirmed"
    expect(page.locator(".alert--confirmed").first).to_be_attached()
    looked.check_silence()


def test_links_lead_to_the_story_and_missing_ones_say_what_to_do(look, served, news_of):
    page = look().page
    page.goto(f"{served.url}/page/alerts/{news_of['alert']}")
    assert page.url.endswith(f"/page/stories/{news_of['story']}#{news_of['alert']}")
    answer = page.goto(served.url + "/page/stories/s99120")
    assert answer.status == 404
    assert "There is no story s99120 in this store." in page.locator("main").inner_text()


def test_search_explains_what_it_cannot_read(look, served):
    page = look().page
    page.goto(served.url + "/page/search?q=%22suspicious+package+-cnn")
    assert "A quotation mark is open" in page.locator("[role=alert]:visible").inner_text()
    page.get_by_role("link", name='"suspicious package" -cnn').click()
    expect(page.locator(".found")).to_have_count(1)


def test_a_digest_can_be_mailed(served):
    from email import message_from_bytes

    import httpx

    mail = message_from_bytes(httpx.get(served.url + "/page/digest.eml").content)
    assert mail["X-Unsent"] == "1"
    assert [part.get_content_type() for part in mail.walk()][1:] == ["text/plain", "text/html"]


def test_another_budget_takes_effect(look, served):
    import httpx

    from serve.served import wait_until

    looked = look()
    page = looked.page
    page.goto(served.url + "/page/health")
    page.fill("input[name=budget]", "7")
    page.get_by_role("button", name="Change").click()
    expect(page.locator("[data-said]").first).to_have_text(re.compile("^Changed"))
    # The next step takes it up.
    sent = httpx.post(served.url + "/documents", json={"id": "later", "text": "Something else happened", "source": "x"})
    assert sent.status_code == 202
    wait_until(lambda: httpx.get(served.url + "/settings").json()["budget"] == "7/day")
    page.reload()
    assert page.locator("input[name=budget]").input_value() == "7"
    looked.check_silence()


def test_topics_of_one_name_are_bands_of_their_own(look, served):
    """Drawn from numbers that are planted in the page: the picture of a chart says nothing that a test can read."""
    looked = look()
    page = looked.page
    river = {
        "times": [f"2018-10-2{n}T12:00:00Z" for n in range(1, 6)],
        "bands": [
            {
                "name": "Lowland election",
                "short": "Lowland election",
                "shorter": "Lowland",
                "colour": 1,
                "shares": [1.0, 2.0, 3.0, 4.0, 5.0],
            },
            {
                "name": "Lowland election",
                "short": "Poll",
                "shorter": "Poll",
                "colour": 2,
                "shares": [5.0, 4.0, 3.0, 2.0, 1.0],
            },
        ],
    }
    page.goto(served.url + "/page/search")
    page.evaluate(
        "told => { const e = Object.assign(document.createElement('div'), { id: 'river', className: 'river' });"
        " e.dataset.river = JSON.stringify(told); document.querySelector('main').append(e); }",
        river,
    )
    page.add_script_tag(url="/static/vendor/echarts.min.js")
    page.add_script_tag(url="/static/charts.js")
    layers = page.evaluate(
        "echarts.getInstanceByDom(document.getElementById('river'))"
        ".getModel().getSeriesByIndex(0).getLayerSeries().map(layer => layer.indices.length)"
    )
    assert layers == [5, 5]
    painted = page.evaluate(
        "(() => { const c = document.querySelector('#river canvas'), x = c.getContext('2d');"
        " return new Set(x.getImageData(0, 0, c.width, c.height).data).size; })()"
    )
    assert painted > 10
    looked.check_silence()
