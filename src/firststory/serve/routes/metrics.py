"""`/metrics`: for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from starlette.responses import Response

from firststory.serve.access import ServiceHere
from firststory.serve.metrics import CONTENT_TYPE

router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(service: ServiceHere) -> Response:
    """Requests, listeners and how the stream goes, in the text format of Prometheus."""
    return Response(service.metrics.text(), media_type=CONTENT_TYPE)
