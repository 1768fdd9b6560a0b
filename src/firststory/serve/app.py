"""The application: routes, and what stands in front of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import to_thread
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware

from firststory._version import __version__
from firststory.serve import problems
from firststory.serve.guard import Guard
from firststory.serve.headers import SecurityHeaders
from firststory.serve.kept_answers import KeptAnswers
from firststory.serve.metrics import Measured
from firststory.serve.openapi import describe
from firststory.serve.page.routes import router as page
from firststory.serve.routes import alerts, documents, events, login, metrics, state, stories, verdicts
from firststory.serve.service import Service

STATIC = Path(__file__).parent / "page" / "static"
THREADS = 12
"""Requests that are worked on at once; as many connections to the database."""


def create_app(service: Service) -> FastAPI:
    """The application on an open service; whoever opened the service closes it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = THREADS
        async with service.running():
            yield

    app = FastAPI(title="firststory", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.service = service
    for part in (documents, verdicts, alerts, stories, state, events, metrics, login):
        app.include_router(part.router)
    app.include_router(page)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    describe(app)
    problems.install(app, service.say)
    # The last that is added stands outermost.
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=5)
    app.add_middleware(KeptAnswers, version=lambda: service.version)
    app.add_middleware(Guard, authentication=service.authentication, options=service.options)
    app.add_middleware(Measured, metrics=service.metrics)
    app.add_middleware(SecurityHeaders, say=service.say)
    return app
