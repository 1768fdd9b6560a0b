"""`/login` and `/logout`: a browser signs in with a token, and keeps a cookie in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from firststory.serve.access import ServiceHere
from firststory.serve.authentication import COOKIE, SECURE_COOKIE, cookie_of
from firststory.serve.guard import client_of, too_many_failures
from firststory.serve.page import assets
from firststory.serve.service import Service

router = APIRouter(include_in_schema=False)
TEMPLATES = Path(__file__).parents[1] / "page" / "templates"
pages = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
UNKNOWN = "This token is not known here. It may have been revoked."


@router.get("/login", response_class=HTMLResponse)
def show_login(next: Annotated[str, Query(max_length=2_000)] = "/") -> Response:
    """The page to sign in."""
    return _page("", own_path(next))


@router.post("/login", response_class=HTMLResponse)
async def login(
    request: Request,
    service: ServiceHere,
    token: Annotated[str, Form(max_length=200)] = "",
    next: Annotated[str, Form(max_length=2_000)] = "/",
) -> Response:
    """Sign in; the token is never kept in the browser."""
    failures, client = request.scope["firststory.failures"], client_of(request)
    if failures.is_empty(client):
        raise too_many_failures()
    secret = await run_in_threadpool(_sign_in, service, token.strip())
    if secret is None:
        failures.wait(client)
        return _page(UNKNOWN, own_path(next), 401)
    response = RedirectResponse(own_path(next), 303, {"Cache-Control": "no-store"})
    is_secure = request.url.scheme == "https"
    response.set_cookie(
        SECURE_COOKIE if is_secure else COOKIE,
        secret,
        max_age=service.options.session_seconds,
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="strict",
    )
    return response


@router.post("/logout")
async def logout(request: Request, service: ServiceHere) -> Response:
    """Sign out: the session ends on this side too."""
    secret = cookie_of(request)
    if secret is not None:
        await run_in_threadpool(service.authentication.sign_out, secret)
    response = RedirectResponse("/login", 303, {"Cache-Control": "no-store", "Clear-Site-Data": '"cache"'})
    for name in (COOKIE, SECURE_COOKIE):
        response.delete_cookie(name, path="/", secure=name == SECURE_COOKIE, httponly=True, samesite="strict")
    return response


def own_path(wanted: str) -> str:
    """Where to go after signing in: a path of this service, and never the address of another.

    Examples
    --------
    >>> own_path("/page/stories?order=size"), own_path("//evil.example"), own_path("https://evil.example")
    ('/page/stories?order=size', '/', '/')
    """
    is_own = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if is_own and "\\" not in wanted else "/"


def _sign_in(service: Service, token: str) -> str | None:
    service.authentication.look_up()
    return service.authentication.sign_in(token)


def _page(problem: str, next: str, status: int = 200) -> Response:
    written = pages.get_template("login.html").render(problem=problem, next=next, has_assets=assets.are_there())
    return HTMLResponse(written, status, {"Cache-Control": "no-store"})
