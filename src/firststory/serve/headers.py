"""Headers on every answer that keep a browser from doing what nobody asked for."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from firststory.serve.problems import Problem

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")
NO_CACHE = (b"cache-control", b"private, no-cache")


class SecurityHeaders:
    """Adds them to every answer, also to that of a fault; a route may have its own `Cache-Control`."""

    def __init__(self, app: ASGIApp, say: Callable[[str], None]) -> None:
        self._app, self._say = app, say

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        has_begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = message["headers"] = [*message["headers"], *RAW_HEADERS]
                if all(name != b"cache-control" for name, _ in headers):
                    headers.append(NO_CACHE)
                if scope["scheme"] == "https":
                    headers.append(STRICT_TRANSPORT)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            self._say("".join(traceback.format_exception(error)))
            if has_begun:
                raise
            problem = Problem(500, "This is a fault of firststory. The log of the service says where.", "fault")
            await problem.response()(scope, receive, send_with_headers)
