"""Parameters that several routes have."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Path, Query, Request

from firststory.pipeline.since import parse_since
from firststory.serve.problems import Problem
from firststory.store.pages import Place
from firststory.store.store import Store

MOST_ITEMS = 500
LENGTH = r"[1-9][0-9]{0,4}(min|h|d|w)"
MOMENT = r"[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?Z?)?"
SINCE = rf"^(today|yesterday|all|{LENGTH}|{MOMENT})$"

Limit = Annotated[int, Query(ge=1, le=MOST_ITEMS, description="The most items of one answer.")]
After = Annotated[
    str | None, Query(max_length=2_000, description="The page after this: `next` of the answer before, or an id.")
]
Since = Annotated[
    str | None,
    Query(
        pattern=SINCE,
        description="Since when: 24h, 7d, today, yesterday, or a time as 2026-11-15T22:00:00Z. "
        "Lengths count back from the latest document.",
    ),
]
Id = Annotated[str, Path(min_length=1, max_length=2_000)]
Truth = Literal["true", "false"]


def truth(given: str | None) -> bool | None:
    """A parameter that is true, false or left out."""
    return None if given is None else given == "true"


def moment(since: str | None, store: Store) -> datetime | None:
    """The moment that is meant; None: all of the stream."""
    return None if since in (None, "all") else parse_since(since, store.last_time())


def place(after: str | None) -> Place | None:
    """The place after which a page begins."""
    if after is None:
        return None
    try:
        value, name = json.loads(base64.urlsafe_b64decode(after.encode("ascii") + b"=="))
        if isinstance(name, str) and not isinstance(value, bool) and isinstance(value, (int, float, type(None))):
            return Place(value, name)
    except (ValueError, TypeError, RecursionError):
        pass
    raise no_page(after)


def named(place: Place) -> str:
    """A place as it is sent."""
    return base64.urlsafe_b64encode(json.dumps(list(place)).encode()).decode().rstrip("=")


def no_page(after: str) -> Problem:
    """There is nothing that a page could begin after."""
    return Problem(404, f"There is no page after {after}. Leave `after` out for the first.", "no-page")


def next_link(request: Request) -> Callable[[Any], dict[str, str]]:
    """The header with the address of the next page."""

    def link(page: Any) -> dict[str, str]:
        if page["next"] is None:
            return {}
        query = [(key, value) for key, value in request.query_params.multi_items() if key != "after"]
        address = f"{request.url.path}?{urlencode([*query, ('after', page['next'])])}"
        return {"Link": f'<{address}>; rel="next"'}

    return link


def cut(found: Any, limit: int, name: Callable[[Any], str]) -> tuple[list[Any], str | None]:
    """One more than a page was asked for: whether there is a next one, and how it is named."""
    items = list(found)
    return items[:limit], name(items[limit - 1]) if len(items) > limit else None
