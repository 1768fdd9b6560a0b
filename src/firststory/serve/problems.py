"""Errors as RFC 9457 problem documents: what was wrong, in words, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response

from firststory.errors import ParameterError, StoreError
from firststory.harmless import harmless

MEDIA_TYPE = "application/problem+json"
LONGEST = 600
MOST_ERRORS = 100
"""Single mistakes of one request that are listed."""


class Problem(Exception):
    """A request that is refused.

    Parameters
    ----------
    status : int
        Of HTTP.
    detail : str
        What was wrong with this request and what to do, in a sentence or two.
    name : str, optional
        A short word for programs; the type of the problem is made of it.
    headers, more
        Headers of the answer; further members of the document.
    """

    def __init__(
        self, status: int, detail: str, name: str = "", headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.name = status, detail, name
        self.headers, self.more = dict(headers or {}), more

    def document(self) -> dict[str, Any]:
        """As the client gets it."""
        return {
            "type": f"urn:firststory:problem:{self.name}" if self.name else "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": harmless(self.detail, LONGEST),
            **self.more,
        }

    def response(self) -> Response:
        """The answer."""
        headers = {"Cache-Control": "no-store", **self.headers}
        return Response(to_json(self.document()), self.status, headers, MEDIA_TYPE)


def not_found(what: str, name: str, remedy: str = "") -> Problem:
    """The store has no such thing."""
    return Problem(404, f"The store has no {what} {name}. {remedy}".strip(), "not-found")


def install(app: FastAPI, say: Callable[[str], None]) -> None:
    """Answer every error of an application with a problem document; `say` is told when the store is away."""

    async def of_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)
        return error.response()

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 400:  # what the framework says of a body that it cannot read
            return Problem(422, "The body is not JSON in UTF-8.", "not-json", errors=[]).response()
        phrase = HTTPStatus(error.status_code).phrase
        detail = {
            404: f"There is nothing at {request.url.path}.",
            405: f"{request.url.path} does not answer {request.method}.",
        }.get(error.status_code, f"{error.detail or phrase}")
        return Problem(error.status_code, detail, headers=error.headers).response()

    async def of_validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return invalid(error.errors()).response()

    async def of_parameter(request: Request, error: Exception) -> Response:
        assert isinstance(error, ParameterError)
        return Problem(422, error.without_owner, "invalid", errors=[]).response()

    async def of_store(request: Request, error: Exception) -> Response:
        assert isinstance(error, StoreError)
        say(f"{request.method} {request.url.path}: {error.without_owner}")
        detail = "The store cannot be used at the moment. Try again later; the log of the service says why."
        return Problem(503, detail, "store", {"Retry-After": "5"}).response()

    app.add_exception_handler(Problem, of_problem)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_validation)
    app.add_exception_handler(ParameterError, of_parameter)
    app.add_exception_handler(StoreError, of_store)


def invalid(errors: Any) -> Problem:
    """A request whose parameters or body are wrong: which, and why. Values are not repeated."""
    told = [
        {"where": ".".join(str(part) for part in error["loc"]), "problem": harmless(str(error["msg"]), 200)}
        for error in list(errors)[:MOST_ERRORS]
    ]
    first = f"{told[0]['where']}: {told[0]['problem']}." if told else ""
    return Problem(422, f"The request cannot be understood. {first}".strip(), "invalid", errors=told)
