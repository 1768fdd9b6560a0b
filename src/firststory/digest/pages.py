"""Pages that anyone can read and pass on: one file each, without scripts, that ask the outside for nothing."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from firststory.digest.blocks import heading, sections, summary

if TYPE_CHECKING:
    from firststory.digest.records import Digest


def html_page(digest: Digest) -> str:
    """The digest as a page that can be mailed: styles stand in the elements, since mail programs drop style sheets."""
    return render("digest.html", heading=heading(digest), summary=summary(digest), sections=sections(digest))


def render(name: str, style_name: str | None = None, **facts: Any) -> str:
    """A template with everything in it escaped, and the one style sheet that the page allows."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_read(name))
    if style_name is None:
        return template.render(**facts)
    style = _read(style_name)
    # The page allows this one style sheet, by its fingerprint, and nothing else: no script, no image, no request.
    fingerprint = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return template.render(style=style, fingerprint=fingerprint, **facts)


def _read(name: str) -> str:
    return (files("firststory.digest") / "templates" / name).read_text(encoding="utf-8")
