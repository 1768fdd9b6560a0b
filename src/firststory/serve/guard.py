"""What stands before every route: which hosts, how often, how much, who, and from where."""

from __future__ import annotations

import math
from urllib.parse import quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from firststory.errors import StoreError
from firststory.serve.authentication import EVERYONE, Authentication, bearer_of, cookie_of
from firststory.serve.options import LOOPBACK_HOSTS, ServiceOptions
from firststory.serve.problems import Problem
from firststory.serve.rates import Buckets
from firststory.serve.visitor import Visitor

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
OPEN_PATHS = ("/healthz", "/readyz", "/login", "/logout")
"""Answered to everyone."""
FAILURES, FAILURES_PER_SECOND = 10, 10 / 300
"""Wrong tokens of one client at once, and for ever: ten in five minutes."""
BIG_BODIES = "/documents"


class Guard:
    """Refuses what must not reach a route; says to routes who asks."""

    def __init__(self, app: ASGIApp, authentication: Authentication, options: ServiceOptions) -> None:
        self._app, self._authentication, self._options = app, authentication, options
        self._rates = Buckets(options.requests_per_second, options.burst) if options.requests_per_second else None
        self._failures = Buckets(FAILURES_PER_SECOND, FAILURES)
        self._hosts = {*LOOPBACK_HOSTS, *(name.lower() for name in options.allowed_hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":  # there is nothing here for one
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
            return
        request = Request(scope)
        scope["firststory.failures"] = self._failures
        try:
            self._check_host(request)
            self._check_rate(request)
            limited = self._limited(request, receive)
            found = await self._visitor(request)
            if isinstance(found, Response):
                await found(scope, receive, send)
                return
            scope["firststory.visitor"] = found
            _check_origin(request)
            if request.method not in SAFE_METHODS and scope["path"] not in OPEN_PATHS and not found.may_write:
                raise Problem(403, "This token may read only. Ask for one that may write.", "scope")
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        except StoreError:
            away = Problem(503, "The store cannot be reached. Try again later.", "store", {"Retry-After": "5"})
            await away.response()(scope, receive, send)
            return
        await self._app(scope, limited, send)

    def _check_host(self, request: Request) -> None:
        """A page of another site must not reach this machine by giving its own name our address (DNS rebinding)."""
        if not self._options.is_loopback and not self._options.allowed_hosts:
            return
        if host_of(request.headers.get("host", "")) not in self._hosts:
            detail = "This service does not answer under this name. Start it with --allow-host NAME to let it."
            raise Problem(421, detail, "host")

    def _check_rate(self, request: Request) -> None:
        if self._rates is not None and (wait := self._rates.wait(client_of(request))):
            seconds = str(max(1, math.ceil(wait)))
            raise Problem(429, "Too many requests. Wait a little.", "rate", {"Retry-After": seconds})

    def _limited(self, request: Request, receive: Receive) -> Receive:
        """The body, up to what may be sent."""
        options = self._options
        most = options.max_body_bytes if request.scope["path"] == BIG_BODIES else options.small_body_bytes
        told = request.headers.get("content-length", "0")
        if told.isdigit() and int(told) > most:
            raise too_large(most)
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                # Of the kind that a framework reading the body lets through.
                raise HTTPException(413, too_large(most).detail)
            return message

        return limited

    async def _visitor(self, request: Request) -> Visitor | Response:
        """Who asks; for a browser that did not sign in, the way to the page where it can."""
        path: str = request.scope["path"]
        if path in OPEN_PATHS or path.startswith("/static/"):
            return Visitor("", frozenset())
        known = self._authentication
        if known.is_stale:
            await run_in_threadpool(known.look_up)
        if not known.is_needed():
            return EVERYONE
        given, cookie = bearer_of(request), cookie_of(request)
        client = client_of(request)
        visitor = None
        if given is not None:
            if self._failures.is_empty(client):
                raise too_many_failures()
            visitor = known.by_token(given)
            if visitor is None:
                self._failures.wait(client)
        elif cookie is not None:
            visitor = await run_in_threadpool(known.by_session, cookie)
        needed = "read" if request.method in SAFE_METHODS else "write"
        if visitor is not None:
            if needed == "read" and "read" not in visitor.scopes:
                raise Problem(403, "This token may write only. Ask for one that may read.", "scope")
            return visitor
        if given is None and request.method == "GET" and wants_page(request):
            back = quote(path + (f"?{request.url.query}" if request.url.query else ""), safe="")
            return RedirectResponse(f"/login?next={back}", 303, {"Cache-Control": "no-store"})
        said = "This token is not known here. It may have been revoked." if given else "A token is needed."
        detail = f"{said} Make one with: firststory token create NAME --store URL"
        raise Problem(401, detail, "token", {"WWW-Authenticate": 'Bearer realm="firststory"'})


def too_large(most: int) -> Problem:
    return Problem(413, f"The request is longer than {most:,} bytes. Send it in parts.", "too-large")


def too_many_failures() -> Problem:
    detail = "Too many wrong tokens from here. Wait a few minutes."
    return Problem(429, detail, "failures", {"Retry-After": "60"})


def client_of(request: Request) -> str:
    """Whom to count a request for."""
    return "local" if request.client is None else request.client.host


def host_of(header: str) -> str:
    """The name in a `Host` header, without its port.

    Examples
    --------
    >>> host_of("LocalHost:8765"), host_of("[::1]:80"), host_of("evil.example")
    ('localhost', '::1', 'evil.example')
    """
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def wants_page(request: Request) -> bool:
    """Whether a person is looking, rather than a program."""
    return "text/html" in request.headers.get("accept", "") and request.scope["path"] != "/events"


def _check_origin(request: Request) -> None:
    """A page of another site must not make a browser change anything here (cross-site request forgery).

    Browsers say where a request comes from; programs do not, and send no cookie by accident either.
    """
    if request.method in SAFE_METHODS:
        return
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        is_own = site in ("same-origin", "none")
    elif origin is not None:
        is_own = urlsplit(origin).netloc == request.headers.get("host", "") and origin != "null"
    else:
        is_own = cookie_of(request) is None or bearer_of(request) is not None
    if not is_own:
        raise Problem(403, "This request comes from a page of another site.", "origin")
