"""`/verdicts`, what people say of them, and `/search`."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Query, Request, Response
from pydantic import BaseModel, ConfigDict, StrictBool

from firststory.serve.access import ServiceHere, StoreToRead
from firststory.serve.answering import answer
from firststory.serve.parameters import After, Id, Limit, Since, Truth, cut, moment, next_link, no_page, truth
from firststory.serve.problems import Problem, not_found
from firststory.serve.shapes import FeedbackGiven, Found, VerdictPage, VerdictShape
from firststory.store.pages import verdicts_page

router = APIRouter(tags=["verdicts"])


class Feedback(BaseModel):
    """Whether a verdict was worth someone's time; null takes the last word back."""

    model_config = ConfigDict(extra="forbid")
    useful: StrictBool | None


@router.get("/verdicts", response_model=VerdictPage)
def verdicts(
    request: Request,
    store: StoreToRead,
    novel: Annotated[Truth | None, Query(description="Only those that are novel, or only those that are not.")] = None,
    story: Annotated[str | None, Query(max_length=100)] = None,
    since: Since = None,
    order: Annotated[Literal["oldest", "newest"], Query(description="Which come first.")] = "oldest",
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """Verdicts, in the order of the stream. To follow them, ask again after the id of the last one."""

    def make() -> dict[str, object]:
        if after is not None and not store.known_ids([after]):
            raise no_page(after)
        found = verdicts_page(
            store,
            novel=truth(novel),
            story=story,
            since=moment(since, store),
            after=after,
            newest_first=order == "newest",
            limit=limit + 1,
        )
        items, after_that = cut(found, limit, lambda verdict: verdict.document.id)
        return {"items": [verdict.to_dict() for verdict in items], "next": after_that}

    return answer(request, make, next_link(request))


@router.get("/verdicts/{id:path}", response_model=VerdictShape)
def verdict(request: Request, store: StoreToRead, id: Id) -> Response:
    """The verdict on one document."""

    def make() -> dict[str, object]:
        found = store.verdicts(ids=[id])
        if not found:
            raise not_found("document", id, "What was pushed has its verdict when its step is taken.")
        return found[0].to_dict()

    return answer(request, make)


@router.post("/verdicts/{id:path}/feedback", response_model=FeedbackGiven)
def feedback(service: ServiceHere, id: Id, said: Annotated[Feedback, Body()]) -> FeedbackGiven:
    """Say whether a verdict was useful. The next step of the stream takes it into account."""
    if service.writer is None:
        raise Problem(503, "This service only reads; nothing can be kept.", "read-only")
    if not service.reader.known_ids([id]):
        raise not_found("document", id)
    service.writer.add_feedback(id, said.useful, time.time_ns() // 1000)
    service.touch()
    return FeedbackGiven(id=id, useful=said.useful)


@router.get("/search", response_model=Found)
def search(
    request: Request,
    store: StoreToRead,
    q: Annotated[str, Query(min_length=1, max_length=500, description="Documents that have all these words.")],
    story: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 20,
) -> Response:
    """Verdicts on the documents that have all the words, best first."""

    def make() -> dict[str, object]:
        if story is not None and store.story(story) is None:
            raise not_found("story", story)
        found = store.search(q, limit, story)
        total = len(found) if len(found) < limit else store.count_found(q, story)
        return {"total": total, "items": [verdict.to_dict() for verdict in found]}

    return answer(request, make)
