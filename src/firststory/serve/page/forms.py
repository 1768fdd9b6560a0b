"""What forms send where there is no script: the same as the API takes, answered by the page that was left."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from firststory.serve.access import ServiceHere
from firststory.serve.problems import Problem, not_found
from firststory.serve.routes.state import SettingsChange, change_settings

router = APIRouter(include_in_schema=False)
WORDS = {"yes": True, "no": False, "undo": None}


@router.post("/page/feedback")
def feedback(
    service: ServiceHere, document: Annotated[str, Form(max_length=1_000)], useful: Annotated[str, Form(max_length=10)]
) -> Response:
    """Someone found an alert useful, or not."""
    if service.writer is None:
        raise Problem(503, "This service only reads; nothing can be kept.", "read-only")
    if useful not in WORDS:
        raise Problem(422, "useful is yes, no or undo.", "form")
    if not service.reader.known_ids([document]):
        raise not_found("document", document)
    service.writer.add_feedback(document, WORDS[useful], time.time_ns() // 1000)
    service.touch()
    verdict = service.reader.brought([document])[document]
    return RedirectResponse(f"/page/stories/{verdict.story}" if verdict.story else "/", 303)


@router.post("/page/settings")
def settings(
    service: ServiceHere,
    budget: Annotated[int, Form(ge=1, le=10_000)],
    false_alerts: Annotated[float, Form(gt=0, le=1_000, allow_inf_nan=False)],
) -> Response:
    """Another ceiling from the next step on."""
    change_settings(service, SettingsChange(budget=f"{budget}/day", false_alerts=false_alerts))
    return RedirectResponse("/page/health", 303)
