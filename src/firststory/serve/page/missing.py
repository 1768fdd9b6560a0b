"""What is said where there is nothing to show: no documents yet, no such story, a view that is not there."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import HTMLResponse

from firststory.harmless import harmless
from firststory.serve.page.clock import Clock
from firststory.serve.page.rendering import render

EXAMPLE = "firststory run rss+https://example.org/feed --store news.db"
NOTHING_YET = (
    "Give it a source and the first documents appear here within seconds. Alerts begin once it has read for a while, "
    "so that it knows what is usual."
)
PRUNED = "It may have been pruned, or the link was made on another store."
VIEW_OF = {"story": "stories", "storyline": "stories", "alert": "stories", "topic": "topics"}


def nothing_yet(request: Request, clock: Clock) -> HTMLResponse:
    """A store into which nothing has come."""
    return render(
        request,
        "still.html",
        "now",
        clock,
        art=True,
        heading="Nothing has arrived yet",
        paragraphs=[NOTHING_YET],
        command=EXAMPLE,
        doors=[("Look at its health", "/page/health")],
    )


def not_here(request: Request, clock: Clock, what: str, name: str) -> HTMLResponse:
    """A story, storyline or topic that the store does not have."""
    view = VIEW_OF[what]
    return render(
        request,
        "still.html",
        view,
        clock,
        status=404,
        art=False,
        heading=f"This {what} is not here",
        paragraphs=[f"There is no {what} {harmless(name, 60)} in this store. {PRUNED}"],
        command="",
        doors=[(f"All {view}", f"/page/{view}"), ("Search for it", "/page/search")],
    )


def no_view(request: Request, clock: Clock) -> HTMLResponse:
    """An address that leads nowhere."""
    return render(
        request,
        "still.html",
        "none",
        clock,
        status=404,
        art=False,
        heading="There is no such page",
        paragraphs=["The address may have been cut on its way."],
        command="",
        doors=[("What is new", "/"), ("Search", "/page/search")],
    )
