"""Every format tells the same, and text of strangers stays text in each of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO

import pytest
from rich.console import Console

from digest import told
from firststory.cli.digest_lines import print_digest
from firststory.cli.output import json_line
from firststory.cli.story_lines import print_story
from firststory.digest.blocks import sections
from firststory.digest.gather import digest_of
from firststory.digest.markdown import escaped, markdown_page
from firststory.digest.pages import html_page
from firststory.digest.report import report_page
from firststory.digest.shapes import digest_json
from firststory.digest.story import story_detail
from firststory.harmless import harmless_url
from firststory.records import Step, Verdict
from firststory.store.store import Store

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> \x1b[31mred\x07\x9b \u202e\u2066gnp.exe\u200b\ufeff "
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png) | a | b | `code` **bold** # head &lt; "
    "{{ 7 * 7 }} </style> <!-- [bold]rich[/bold] \u0301\u0301\u0301\u0301\u0301\n\n- item\n# heading"
)
ACTING = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u200b", "\ufeff", "\u0301" * 4)
BAD_URLS = (
    "javascript:alert(1)", "JAVASCRIPT:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,<b>",
    "vbscript:x", "file:///etc/passwd", "//evil.example", "https://bank.example@evil.example/", "https://",
    "http://a\u202eb.example", "http://[::1", "https://x y.example/", "ftp://example.org", "https://-.example",
)  # fmt: skip


def hostile_store(path, url="javascript:alert(1)"):
    """Everything that a stranger may write is hostile."""
    documents = [
        replace(one, id=f"{HOSTILE[:20]}{n}", title=HOSTILE + str(n), source=HOSTILE + one.source, url=url)
        for n, one in enumerate([*told.FLOOD, *told.VOTE, *told.QUIET])
    ]
    flood, vote, quiet = documents[:4], documents[4:9], documents[9:]
    bad = {"terms": (HOSTILE,), "sentence": HOSTILE, "storyline": None}
    alerts = (
        told.alert("a1", "confirmed", flood[0], flood[1], -2, (HOSTILE, "AP"), "s1", **bad),
        told.alert("a2", "turn", flood[2], flood[3], -1, (HOSTILE, "AP"), "s1", **bad),
        told.alert("a3", "turn", flood[2], flood[0], -1, (HOSTILE, "AP"), "s9", **bad),
        told.alert("a4", "first_seen", quiet[0], quiet[0], -1, (HOSTILE,), "s5", **bad),
    )
    named = {"s1": flood, "s3": vote, "s5": quiet}
    verdicts = tuple(Verdict(one, 0.9, 0.1, True, story=name) for name, those in named.items() for one in those)
    stories = [
        told.story(name, HOSTILE, those, key_terms=(HOSTILE,), sources=(HOSTILE,)) for name, those in named.items()
    ]
    stories.append(told.story("s8", HOSTILE, flood, status="merged", merged_into="s1", reason=HOSTILE))
    with Store(str(path)) as store:
        store.write_step(Step(0, verdicts, alerts=alerts, stories=tuple(stories)))
    return path


@pytest.fixture
def hostile(tmp_path):
    with Store(str(hostile_store(tmp_path / "h.db"))) as store:
        yield store


class Elements(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, page):
        super().__init__()
        self.names, self.attributes = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        self.attributes += attributes


def shown(digest, width=80):
    file = StringIO()
    print_digest(Console(file=file, width=width, highlight=False, force_terminal=False), digest)
    return file.getvalue()


def test_every_format_has_all_titles_sentences_and_ids(tmp_path):
    with Store(str(told.write(tmp_path / "a.db"))) as store:
        digest = digest_of(store, told.SINCE)
    pages = {"text": " ".join(shown(digest).split()), "html": html_page(digest), "markdown": markdown_page(digest)}
    value = digest_json(digest)
    for section in sections(digest):
        for block in section.blocks:
            for name, page in pages.items():
                assert block.title.words in page and block.names in page, name
                assert not block.sentence or block.sentence in page, name
                assert block.title.url in page, name
                # Once each: a title may come again as that of a first report, never as an entry.
                assert page.count(block.names) == 1, name
    assert [one["id"] for one in value["confirmed"]] == ["a5"] and value["n_turns"] == 1
    assert [one["id"] for one in value["confirmed"][0]["others"]] == ["a3", "a6"]
    assert value["growing"][0]["documents"] == 3 and value["growing"][0]["story"]["id"] == "s3"


def test_html_has_no_element_attribute_or_link_of_a_stranger(hostile):
    for page in (html_page(digest_of(hostile, told.SINCE)), report_page(hostile, HOSTILE)):
        found = Elements(page)
        assert not found.names & {"script", "img", "iframe", "object", "link", "base", "form"}
        assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("src", "srcdoc")]
        assert not [value for name, value in found.attributes if name == "href"]
        assert not any(sign in page for sign in ACTING)
        assert "&lt;script&gt;" in page and page.count("</style>") == 1 and "{{ 7 * 7 }}" in page


def test_the_mailed_page_carries_its_styles_and_asks_for_nothing(tmp_path, looked_at):
    with Store(str(told.write(tmp_path / "a.db"))) as store:
        page = html_page(digest_of(store, told.SINCE))
    assert not re.search(r"url\(|@import|\ssrc=|<script|<link", page)
    assert {value for name, value in Elements(page).attributes if name == "href"} >= {"https://example.org/f-1"}
    (tmp_path / "d.html").write_text(page)

    def look(browser):
        for width in (390, 1100):
            browser.set_viewport_size({"width": width, "height": 800})
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert browser.locator("h3").count() == 3

    asked, said = looked_at(tmp_path / "d.html", look)
    assert asked == [(tmp_path / "d.html").as_uri()] and not said


def test_hostile_pages_in_a_real_browser(hostile, tmp_path, looked_at):
    (tmp_path / "h.html").write_text(html_page(digest_of(hostile, told.SINCE)))

    def look(page):
        assert "<script>" in page.inner_text("body")
        assert page.locator("script, img, iframe, object, a").count() == 0

    asked, said = looked_at(tmp_path / "h.html", look)
    assert asked == [(tmp_path / "h.html").as_uri()] and not said


def test_markdown_of_strangers_is_text_alone(hostile):
    page = markdown_page(digest_of(hostile, told.SINCE))
    assert not any(sign in page for sign in ACTING)
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", page)  # without what is escaped
    assert not re.search(r"[<>|`!\[\]]", bare) and "**" not in bare
    # Headings and list points are ours.
    for line in bare.splitlines():
        assert re.match(r"(#{1,3} |- |[A-Za-z\d]|\s*$|[^\s\w#-])", line), line
    assert not re.search(r"^#+ (?!What|Confirmed|Turns|Growing|First seen|script)", bare, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "words", ["- point", "1. point", "+ x", "= x", "12. x", "# x", "> x", "| x |", "www.evil.example"]
)
def test_markdown_at_the_beginning_of_a_line(words):
    assert "\\" in escaped(words) and escaped(words).replace("\\", "") == words


def test_markdown_renders_as_text_where_a_renderer_is_installed(hostile):
    markdown = pytest.importorskip("markdown_it")
    found = Elements(markdown.MarkdownIt("commonmark").render(markdown_page(digest_of(hostile, told.SINCE))))
    assert found.names <= {"h1", "h2", "h3", "p", "ul", "li", "em"} and not found.attributes


def test_terminal_and_json(hostile):
    digest = digest_of(hostile, told.SINCE)
    for width in (60, 80, 160):
        told_on_screen = shown(digest, width)
        assert not any(sign in told_on_screen for sign in ACTING) and "[bold]rich[/bold]" in told_on_screen
        assert max(map(len, told_on_screen.splitlines())) <= width
    line = json_line(digest_json(digest))
    assert line.isprintable() or not any(sign in line for sign in ACTING[:-1])
    value = json.loads(line)
    assert HOSTILE in value["confirmed"][0]["sources"]  # values stay exact
    assert value["confirmed"][0]["headline"]["url"] is None  # but links lead to the web alone


@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_hostile_story_on_the_terminal(hostile, width):
    for name in ("s1", "s8"):
        file = StringIO()
        print_story(Console(file=file, width=width, highlight=False), story_detail(hostile, name))
        assert not any(sign in file.getvalue() for sign in ACTING)
        assert max(map(len, file.getvalue().splitlines())) <= width


@pytest.mark.parametrize("url", BAD_URLS)
def test_what_is_no_web_address_is_no_link(url, tmp_path):
    assert harmless_url(url) is None
    assert harmless_url(None) is None and harmless_url("") is None and harmless_url("https://a.b/" + "x" * 5000) is None


def test_web_addresses_keep_their_meaning_and_lose_what_acts(tmp_path):
    for url, kept in (
        ("https://example.org/a?b=c&d=e#f", "https://example.org/a?b=c&d=e#f"),
        ("https://example.org/%E2%82%AC", "https://example.org/%E2%82%AC"),
        ('https://example.org/"><b>)](x)', "https://example.org/%22%3E%3Cb%3E%29%5D%28x%29"),
        ("http://bücher.example:8080/ä", "http://xn--bcher-kva.example:8080/%C3%A4"),
    ):
        assert harmless_url(url) == kept
    path = hostile_store(tmp_path / "h.db", url='https://example.org/"><script>)](javascript:x)')
    with Store(str(path)) as store:
        digest = digest_of(store, told.SINCE)
    links = {value for name, value in Elements(html_page(digest)).attributes if name == "href"}
    assert links == {"https://example.org/%22%3E%3Cscript%3E%29%5D%28javascript:x%29"}
    assert set(re.findall(r"\]\(<([^>]*)>\)", markdown_page(digest))) == links
