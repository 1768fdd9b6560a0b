"""`/alerts` and `/digest`: what a person should know."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from firststory.digest.gather import digest_of
from firststory.digest.shapes import alert_json, digest_json
from firststory.serve.access import StoreToRead
from firststory.serve.answering import answer
from firststory.serve.parameters import After, Id, Limit, Since, cut, moment, next_link, no_page
from firststory.serve.problems import not_found
from firststory.serve.shapes import AlertKind, AlertPage, AlertShape, DigestShape

router = APIRouter(tags=["alerts"])


@router.get("/alerts", response_model=AlertPage)
def alerts(
    request: Request,
    store: StoreToRead,
    since: Since = None,
    kind: Annotated[list[AlertKind] | None, Query(description="Only these kinds; may be repeated.")] = None,
    story: Annotated[str | None, Query(max_length=100)] = None,
    order: Annotated[Literal["oldest", "newest"], Query(description="Which come first.")] = "oldest",
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """Alerts, in the order in which they fired. To follow them, ask again after the id of the last one."""

    def make() -> dict[str, object]:
        if after is not None and store.alert(after) is None:
            raise no_page(after)
        found = store.alerts(
            since=moment(since, store),
            kind=kind or None,
            story=None if story is None else store.current_story(story),
            after=after,
            newest_first=order == "newest",
            limit=limit + 1,
        )
        items, after_that = cut(found, limit, lambda alert: alert.id)
        return {"items": [alert_json(alert) for alert in items], "next": after_that}

    return answer(request, make, next_link(request))


@router.get("/alerts/{id}", response_model=AlertShape)
def alert(request: Request, store: StoreToRead, id: Id) -> Response:
    """One alert."""

    def make() -> dict[str, object]:
        found = store.alert(id)
        if found is None:
            raise not_found("alert", id)
        return alert_json(found)

    return answer(request, make)


@router.get("/digest", response_model=DigestShape)
def digest(
    request: Request,
    store: StoreToRead,
    since: Since = "yesterday",
    limit: Annotated[int | None, Query(ge=1, le=200, description="Entries of each section.")] = None,
) -> Response:
    """What happened since a moment: confirmed events first, then turns, stories that grow, and first reports."""
    return answer(request, lambda: digest_json(digest_of(store, moment(since, store), limit)))
