"""`/status`, `/settings`, `/quarantine`, and whether the service is well."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from firststory.alerts.budget import parse_budget
from firststory.serve.access import ServiceHere, StoreToRead
from firststory.serve.answering import answer, kept_headers
from firststory.serve.parameters import Limit, cut, next_link
from firststory.serve.problems import Problem
from firststory.serve.service import STATUS_EVERY
from firststory.serve.shapes import Health, QuarantinePage, SettingsShape, StatusShape
from firststory.settings import Settings
from firststory.store.pages import quarantine_page
from firststory.store.setting_changes import ask_for, wanted

router = APIRouter(tags=["state"])
BUDGET = (
    r"^([1-9][0-9]{0,5}(\.[0-9]{1,3})?(/| per )(minute|hour|day|week)"  # a rate
    r"|[1-9][0-9]?(\.[0-9]{1,3})?%|0?\.[0-9]{0,5}[1-9]%"  # a share
    r"|0?\.[0-9]{1,6})$"  # a fixed score
)


UNREADY = {
    "starting": "The stream resumes from the store.",
    "preparing": "Kernels are compiled, once per installation.",
    "waiting": "The stream waits for the store to come back.",
    "restarting": "The process that judges documents died and is started again; documents are taken meanwhile.",
}


class SettingsChange(BaseModel):
    """Other values from the next step on; what is left out stays."""

    model_config = ConfigDict(extra="forbid", strict=True)
    budget: str | None = Field(
        None,
        pattern=BUDGET,
        max_length=40,
        description="A ceiling on the alerts that are pushed: 20/day, 0.5% of the documents, or a fixed score.",
    )
    false_alerts: float | None = Field(
        None, gt=0, le=1_000, allow_inf_nan=False, description="Alerts per day that chance alone may bring."
    )


@router.get("/status", response_model=StatusShape)
def status(request: Request, service: ServiceHere) -> Response:
    """What the store holds, where the alerts stand, and how the stream goes."""
    body = to_json(service.status())
    return Response(body, 200, kept_headers(request.scope, body, STATUS_EVERY / 2), "application/json")


@router.get("/settings", response_model=SettingsShape)
def settings(request: Request, store: StoreToRead) -> Response:
    """The settings of the stream, and those that its next step takes up."""

    return answer(request, lambda: _told(store))


@router.patch("/settings", response_model=SettingsShape, status_code=200)
def change_settings(service: ServiceHere, change: Annotated[SettingsChange, Body()]) -> dict[str, Any]:
    """Change the ceiling on alerts. The next step of the stream takes it up, and the store keeps it."""
    if service.writer is None:
        raise Problem(503, "This service only reads; nothing can be changed.", "read-only")
    asked = {name: value for name, value in change.model_dump().items() if value is not None}
    if "budget" in asked:
        asked["budget"] = parse_budget(asked["budget"]).text
    if asked:
        ask_for(service.writer, asked)
        service.touch()
    return _told(service.reader)


@router.get("/quarantine", response_model=QuarantinePage)
def quarantine(
    request: Request,
    store: StoreToRead,
    reason: Annotated[str | None, Query(max_length=100, description="Only those with this reason.")] = None,
    after: Annotated[int | None, Query(ge=1, le=2**53, description="`next` of the answer before.")] = None,
    limit: Limit = 50,
) -> Response:
    """What could not be read, latest first: why, where it came from, and how it began."""

    def make() -> dict[str, Any]:
        found = quarantine_page(store, reason=reason, after=after, limit=limit + 1)
        items, after_that = cut(found, limit, lambda one: str(one[0]))
        return {
            "items": [
                {
                    "n": n,
                    "reason": bad.reason,
                    "message": bad.message,
                    "source": bad.position.source,
                    "at": dict(bad.position.at),
                    "excerpt": bad.excerpt,
                }
                for n, bad in items
            ],
            "next": after_that,
        }

    return answer(request, make, next_link(request))


@router.get("/healthz", response_model=Health, tags=["health"])
def healthz() -> Health:
    """Whether the process answers."""
    return Health(status="ok")


@router.get("/readyz", response_model=Health, tags=["health"], responses={503: {"model": Health}})
def readyz(service: ServiceHere, response: Response) -> Health:
    """Whether the store can be read, and the stream (where there is one) runs."""
    service.reader.last_step()
    stream = service.stream
    if stream is None or stream.state == "running":
        return Health(status="ok")
    response.status_code = 503
    if stream.state in UNREADY:
        return Health.model_validate({"status": stream.state, "detail": UNREADY[stream.state]})
    return Health(status="failed", detail="The stream has stopped; the log of the service says why.")


def _told(store: StoreToRead) -> dict[str, Any]:
    kept, defaults = store.settings(), Settings()
    return {
        "budget": str(kept.get("budget", defaults.budget)),
        "false_alerts": float(kept.get("false_alerts", defaults.false_alerts)),
        "wanted": wanted(store),
        "settings": kept,
    }
