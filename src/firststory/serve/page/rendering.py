"""Templates into answers: everything is escaped, nothing stands inline, and the frame knows who reads."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from firststory._version import __version__
from firststory.digest.words import counted
from firststory.harmless import display_title, harmless, harmless_url
from firststory.serve.access import reader_of, service_of, visitor_of
from firststory.serve.answering import kept_headers
from firststory.serve.page import assets
from firststory.serve.page.clock import Clock, clock_of
from firststory.serve.page.numbers import in_words, sentence
from firststory.store.changes import Cursor

TEMPLATES = Path(__file__).parent / "templates"
ZONE_COOKIE = "zone"
"""Set by the page's script; without it times are UTC."""
HOLDS_SECONDS = 10.0
"""A view says how long ago things were."""
VIEWS = (
    ("now", "Now", "/"),
    ("stories", "Stories", "/page/stories"),
    ("topics", "Topics", "/page/topics"),
    ("search", "Search", "/page/search"),
    ("digest", "Digest", "/page/digest"),
    ("health", "Health", "/page/health"),
)


@cache
def environment() -> Environment:
    """The templates, read once."""
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters |= {
        "harmless": harmless,
        "link": harmless_url,
        "display_title": display_title,
        "in_words": in_words,
        "sentence": sentence,
        "number": lambda n: f"{n:,}",
        "percent": _percent,
    }
    found.globals |= {"counted": counted, "views": VIEWS, "version": __version__}
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share else "0 %"


def clock_for(request: Request, last: datetime | None) -> Clock:
    """The clock of whoever asks."""
    return clock_of(last, request.cookies.get(ZONE_COOKIE))


def render(
    request: Request, template: str, view: str, clock: Clock, *, status: int = 200, **facts: Any
) -> HTMLResponse:
    """One view in its frame."""
    store = reader_of(request)
    frame = {
        "view": view,
        "clock": clock,
        "last": store.last_time(),
        "has_assets": assets.are_there(),
        "may_write": may_write(request),
        "is_signed_in": bool(visitor_of(request).name),
        "place": str(Cursor(store.last_step())),
    }
    body = environment().get_template(template).render(**frame | facts).encode()
    is_kept = status == 200 and view != "health"
    return HTMLResponse(body, status, kept_headers(request.scope, body, HOLDS_SECONDS) if is_kept else None)


def may_write(request: Request) -> bool:
    """Whether whoever asks can say and change anything here."""
    return visitor_of(request).may_write and service_of(request).writer is not None


def fragment(template: str, **facts: Any) -> HTMLResponse:
    """A piece of a page."""
    return HTMLResponse(environment().get_template(template).render(**facts))
