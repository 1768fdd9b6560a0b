"""`/stories`, `/storylines` and `/topics`: what was found."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from firststory.digest.shapes import story_json, storyline_json, topic_json
from firststory.digest.story import detail_json, story_detail
from firststory.digest.words import iso
from firststory.pipeline.since import parse_since
from firststory.serve.access import StoreToRead
from firststory.serve.answering import answer
from firststory.serve.parameters import MOMENT, After, Id, Limit, Since, cut, moment, named, next_link, place
from firststory.serve.problems import not_found
from firststory.serve.shapes import (
    Status,
    StoryDetailShape,
    StorylineDetailShape,
    StorylinePage,
    StoryPage,
    Topics,
)
from firststory.store.pages import step_at, stories_page, storylines_page

router = APIRouter(tags=["stories"])
MOST_STORIES = 1_000
"""Of one storyline in one answer."""


@router.get("/stories", response_model=StoryPage)
def stories(
    request: Request,
    store: StoreToRead,
    order: Annotated[
        Literal["last_seen", "first_seen", "size", "growth"],
        Query(description="Largest or latest of these first; by growth only those that grew in the last week."),
    ] = "last_seen",
    status: Annotated[Status | None, Query(description="Without it, all but those that were merged.")] = None,
    storyline: Annotated[str | None, Query(max_length=100)] = None,
    since: Since = None,
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """Stories. Those that change while you turn the pages may come twice or not at all."""

    def make() -> dict[str, object]:
        found = stories_page(
            store,
            order=order,
            status=status,
            storyline=storyline,
            since=moment(since, store),
            after=place(after),
            limit=limit + 1,
        )
        items, after_that = cut(found, limit, lambda one: named(one[1]))
        return {"items": [story_json(story) for story, _ in items], "next": after_that}

    return answer(request, make, next_link(request))


@router.get("/stories/{id}", response_model=StoryDetailShape)
def story(request: Request, store: StoreToRead, id: Id, limit: Limit = 100) -> Response:
    """One story with its timeline, its turning points and its latest documents.

    One that was merged is told as the story that it was merged into.
    """

    def make() -> dict[str, object]:
        told = story_detail(store, id, limit)
        if told is None:
            raise not_found("story", id, "It may have come from another store.")
        return detail_json(told)

    return answer(request, make)


@router.get("/storylines", response_model=StorylinePage)
def storylines(
    request: Request,
    store: StoreToRead,
    order: Annotated[
        Literal["last_seen", "first_seen", "size", "n_stories"], Query(description="Largest or latest of these first.")
    ] = "last_seen",
    status: Annotated[Status | None, Query(description="Without it, all but those that were merged.")] = None,
    since: Since = None,
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """Storylines: what the stories add up to over weeks and months."""

    def make() -> dict[str, object]:
        found = storylines_page(
            store, order=order, status=status, since=moment(since, store), after=place(after), limit=limit + 1
        )
        items, after_that = cut(found, limit, lambda one: named(one[1]))
        return {"items": [storyline_json(line) for line, _ in items], "next": after_that}

    return answer(request, make, next_link(request))


@router.get("/storylines/{id}", response_model=StorylineDetailShape)
def storyline(request: Request, store: StoreToRead, id: Id) -> Response:
    """One storyline with its stories, oldest first."""

    def make() -> dict[str, object]:
        told = store.storyline(id)
        if told is None:
            raise not_found("storyline", id, "It may have come from another store.")
        found = store.stories(order="first_seen", storyline=id, limit=MOST_STORIES)[::-1]
        return storyline_json(told) | {"stories": [story_json(one) for one in found]}

    return answer(request, make)


@router.get("/topics", response_model=Topics)
def topics(
    request: Request,
    store: StoreToRead,
    at: Annotated[
        str | None,
        Query(pattern=rf"^([0-9]{{1,9}}|{MOMENT})$", description="As they were after this step, or at this time."),
    ] = None,
) -> Response:
    """The topics of the stream, largest first, each with what happened to it, latest first."""

    def make() -> dict[str, object]:
        step = None if at is None else int(at) if at.isdigit() else None
        if at is not None and step is None:
            when = parse_since(at, None)
            step = -1 if when is None else step_at(store, when)
        history = store.topic_history(limit=1, at=step)
        if not history:
            return {"step": None, "time": None, "items": []}
        reached, time, found = history[-1]
        happened = [event for event in store.topic_events(limit=10_000) if event.step <= reached]
        items = [topic_json(one, [event for event in happened if event.topic == one.id]) for one in found]
        return {"step": reached, "time": iso(time), "items": items}

    return answer(request, make)
