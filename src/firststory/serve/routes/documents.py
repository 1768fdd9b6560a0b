"""`/documents`: what is pushed, and what was read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from firststory.digest.shapes import document_json
from firststory.digest.words import iso
from firststory.errors import StoreError, StoreFullError
from firststory.serve.access import ServiceHere, StoreToRead
from firststory.serve.answering import answer
from firststory.serve.parameters import Id, Truth
from firststory.serve.problems import Problem, not_found
from firststory.serve.pushed import JSON_LINES, PushedDocument, read_documents, refused
from firststory.serve.service import Service
from firststory.serve.shapes import Accepted, WholeDocument

router = APIRouter(tags=["documents"])
ONE = {"$ref": "#/components/schemas/PushedDocument"}
LINES = {"schema": {"type": "string", "description": "One JSON object a line."}}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "One document, an array of documents, or JSON lines.",
        "content": {
            "application/json": {"schema": {"anyOf": [ONE, {"type": "array", "items": ONE, "minItems": 1}]}},
            **dict.fromkeys(JSON_LINES[:1], LINES),
        },
    }
}


@router.post("/documents", status_code=202, response_model=Accepted, openapi_extra=BODY)
async def push(
    request: Request,
    service: ServiceHere,
    partial: Annotated[Truth, Query(description="Take the good ones where some cannot be read.")] = "false",
) -> Accepted:
    """Push documents into the stream. When this answers 202 they are on the disk: they will be judged once, even if
    the service is killed. A document whose id is known already is not judged again, so a push may be repeated.

    Where one cannot be read none is taken (422, with which and why), unless `partial` is true."""
    _check_takes(service)
    if (encoding := request.headers.get("content-encoding", "identity").lower()) != "identity":
        raise Problem(415, f"The body is encoded with {encoding}; send it as it is.", "content-encoding")
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    taken = await run_in_threadpool(
        read_documents,
        body,
        content_type,
        most=service.options.max_documents,
        max_bytes=service.options.max_document_bytes,
        now=str(iso(datetime.now(UTC))),
    )
    service.metrics.rejected.inc(len(taken.rejected))
    if taken.rejected and (partial == "false" or not taken.documents):
        raise refused(taken.rejected)
    await _keep(service, taken.documents)
    service.metrics.pushed.inc(len(taken.documents))
    return Accepted(accepted=len(taken.ids), ids=taken.ids, rejected=[one._asdict() for one in taken.rejected])


@router.get("/documents/{id:path}", response_model=WholeDocument)
def document(request: Request, store: StoreToRead, id: Id) -> Response:
    """One document with its text; empty where it was pruned."""

    def make() -> dict[str, Any]:
        found = store.document(id)
        if found is None:
            raise not_found("document", id)
        return document_json(found) | {"text": found.text, "label": found.label, "extra": dict(found.extra)}

    return answer(request, make)


def _check_takes(service: Service) -> None:
    """Whether pushed documents would be judged."""
    if service.stream is None or service.intake is None:
        raise Problem(503, f"This service takes no documents: {service.why_read_only}", "read-only")
    if not service.stream.takes_documents:
        raise Problem(503, "The stream has stopped; the log of the service says why.", "stopped", {"Retry-After": "60"})


async def _keep(service: Service, documents: list[str]) -> None:
    assert service.intake is not None and service.stream is not None
    waiting = service.intake.size + await run_in_threadpool(service.waiting)
    if waiting + len(documents) > service.options.max_inbox:
        rate = max(service.stream.rate(), 10.0)
        seconds = str(min(60, max(1, round(len(documents) / rate))))
        detail = f"{waiting:,} documents wait to be judged already. Send the rest a little later."
        raise Problem(429, detail, "inbox-full", {"Retry-After": seconds})
    try:
        await service.intake.add(documents)
    except StoreFullError as error:
        service.say(error.without_owner)
        raise Problem(507, "There is no room on the disk of the store.", "full", {"Retry-After": "60"}) from error
    except StoreError as error:
        service.say(error.without_owner)
        raise Problem(503, "The store cannot be written at the moment.", "store", {"Retry-After": "5"}) from error
    service.stream.wake()


__all__ = ["PushedDocument", "router"]
