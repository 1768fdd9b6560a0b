"""The application: routes, and what stands in front of them."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from firststory._version import __version__
from firststory.serve.access import Visitor
from firststory.serve.headers import SecurityHeaders
from firststory.serve.page.routes import router as page
from firststory.serve.service import Service

STATIC = Path(__file__).parent / "page" / "static"


def create_app(service: Service) -> FastAPI:
    """The application on an open service; whoever opened the service closes it."""
    app = FastAPI(title="firststory", version=__version__, docs_url=None, redoc_url=None)
    app.state.service = service
    app.include_router(page)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Guard)
    app.add_middleware(SecurityHeaders)
    return app


class Guard:
    """Lets visitors in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["firststory.visitor"] = Visitor("", frozenset({"read", "write"}))
        await self._app(scope, receive, send)
