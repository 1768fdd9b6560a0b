"""The description of the service: every status that a route can answer, every problem, and how to sign in."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from firststory.serve.problems import MEDIA_TYPE
from firststory.serve.pushed import PushedDocument
from firststory.serve.shapes import ProblemShape

DESCRIPTION = """What is new in a stream of text, why, and which story it belongs to.

Lists come in pages: `next` of an answer is the `after` of the next request. Answers have an `ETag`; ask with
`If-None-Match` to get 304 where nothing has changed. Errors are RFC 9457 problem documents. Where tokens are in use,
send one as `Authorization: Bearer TOKEN`."""
EVERYWHERE = {
    "401": "A token is needed, or the one given is not known.",
    "403": "The token may not do this, or the request comes from a page of another site.",
    "421": "The service does not answer under this host name.",
    "422": "A parameter or the body is wrong; `errors` says which and why.",
    "429": "Too many requests, too many wrong tokens, or too much waits already; see `Retry-After`.",
    "500": "A fault of firststory.",
    "503": "The store cannot be used, or this service only reads; see `Retry-After`.",
}
OPEN = ("/healthz", "/readyz")
MORE = {
    ("post", "/documents"): {
        "413": "The body is too long, or has too many documents.",
        "415": "The body is neither JSON nor JSON lines, or is compressed.",
        "507": "There is no room on the disk of the store.",
    },
    ("post", "/verdicts/{id}/feedback"): {"404": "The store has no such document.", "413": "The body is too long."},
    ("patch", "/settings"): {"413": "The body is too long."},
}
PAGED = ("/alerts", "/verdicts", "/stories", "/storylines", "/quarantine")
NOT_CACHED = ("/events", "/metrics", "/healthz", "/readyz", "/status")


def describe(app: FastAPI) -> None:
    """Let an application describe itself in full."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _described(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes)
    shapes = found["components"]["schemas"]
    shapes.pop("HTTPValidationError", None)
    shapes.pop("ValidationError", None)
    shapes["Problem"] = ProblemShape.model_json_schema()
    shapes["PushedDocument"] = PushedDocument.model_json_schema()
    found["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "Made by: firststory token create"},
        "session": {"type": "apiKey", "in": "cookie", "name": "firststory_session"},
    }
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            _complete(path, method, operation)
    return found


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    answers = operation["responses"]
    if path not in OPEN:
        operation["security"] = [{"token": []}, {"session": []}, {}]
    more = dict(EVERYWHERE) | MORE.get((method, path), {})
    if "{id}" in path or path in PAGED or path == "/search":
        more["404"] = "The store has no such thing, or no page begins there."
    for status, words in more.items():
        if path == "/readyz" and status == "503":
            continue
        content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        answers[status] = {"description": words, "content": content}
        if status in ("429", "503"):
            answers[status]["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "Seconds."}}
    if method == "get" and path not in NOT_CACHED:
        answers["200"].setdefault("headers", {})["ETag"] = {"schema": {"type": "string"}}
        if path in PAGED:
            answers["200"]["headers"]["Link"] = {"schema": {"type": "string"}, "description": "The next page."}
        answers["304"] = {"description": "Nothing has changed since the version that `If-None-Match` names."}
    if path == "/events":
        answers["200"]["content"] = {"text/event-stream": {"schema": {"type": "string"}}}
    answers.update(sorted(answers.items()))
