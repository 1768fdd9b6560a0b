"""The text of a piece of HTML, as feeds and social networks send it."""

from __future__ import annotations

from html.parser import HTMLParser

BREAKS = frozenset(
    ("address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "h1", "h2", "h3", "h4",
     "h5", "h6", "hr", "li", "ol", "p", "pre", "section", "table", "tr", "ul")
)  # fmt: skip
SILENT = frozenset(("script", "style", "template", "noscript", "iframe", "object"))
"""Elements whose content nobody reads."""


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._silent += tag in SILENT
        if tag in BREAKS:
            self.pieces.append("\n")

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        if tag in BREAKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in SILENT and self._silent:
            self._silent -= 1
        if tag in BREAKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.pieces.append(data)


def plain_text(html: str) -> str:
    """The words of HTML, one paragraph a line; text without mark-up comes back as it is.

    Examples
    --------
    >>> plain_text("<p>Bridge <b>closed</b> &amp; empty<script>x()</script></p><p>Storm</p>")
    'Bridge closed & empty\\nStorm'
    """
    if "<" not in html and "&" not in html:
        return html.strip()
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.pieces).split("\n"))
    return "\n".join(line for line in lines if line)
