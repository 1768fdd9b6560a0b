"""`/events`: what happens, as it happens."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query
from pydantic import Field
from starlette.responses import Response

from firststory.serve.access import ServiceHere
from firststory.serve.event_stream import EventStream
from firststory.serve.events import Wishes
from firststory.serve.problems import Problem
from firststory.store.changes import KINDS, Cursor, parse_cursor

router = APIRouter(tags=["events"])
CURSOR = r"^[0-9]{1,18}-[0-3]-[0-9]{1,18}$"
TYPES = rf"^({'|'.join(KINDS)})(,({'|'.join(KINDS)}))*$"


class EventsResponse(Response):
    media_type = "text/event-stream"


@router.get("/events", response_class=EventsResponse)
async def events(
    service: ServiceHere,
    last_event_id: Annotated[
        str | None, Header(pattern=CURSOR, description="Go on after this event; browsers send it by themselves.")
    ] = None,
    after: Annotated[str | None, Query(pattern=CURSOR, description="The same, for those who choose.")] = None,
    types: Annotated[
        list[Annotated[str, Field(pattern=TYPES)]] | None,
        Query(description="Only these: alert, verdict, story, status; with commas between, or repeated."),
    ] = None,
    story: Annotated[str | None, Query(max_length=100, description="Of stories, only what changes this one.")] = None,
    all: Annotated[
        Literal["0", "1"], Query(description="1: also verdicts that are not novel, and stories of one document.")
    ] = "0",
) -> Response:
    """Server-sent events: `alert`, `verdict` (those that are novel), `story` (opened, grown, merged) and `status`.

    The id of an event is a place: whoever comes back with it gets everything since from the store, once and in order.
    A story that changed several times meanwhile comes once, as it is now.
    """
    hub = service.hub
    if hub.is_closing:
        raise Problem(503, "The service is stopping.", "stopping", {"Retry-After": "5"})
    if hub.listeners >= service.options.max_event_streams:
        raise Problem(503, "Too many listen already.", "listeners", {"Retry-After": "30"})
    given = last_event_id or after
    begin = Cursor(hub.head) if given is None else min(parse_cursor(given), Cursor(hub.head))
    kinds = frozenset(KINDS if types is None else ",".join(types).split(","))
    wishes = Wishes(kinds, all == "1", story)
    return EventStream(hub, begin, wishes, service.options.heartbeat_seconds)
