"""Where the views of the page are found."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)


@router.get("/", response_class=HTMLResponse)
def now() -> HTMLResponse:
    """The first view."""
    return HTMLResponse("<!doctype html><html lang='en'><title>firststory</title><h1>firststory</h1></html>")
