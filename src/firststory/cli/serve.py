"""`firststory serve`: REST, live events and the page on a store."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def serve(
    store: options.StoreUrl = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="0 takes a free one.")] = 8765,
    config: options.Config = None,
) -> None:
    """Show a store to browsers and programs."""
    from firststory.errors import MissingExtraError

    try:
        import uvicorn

        from firststory.serve.app import create_app
        from firststory.serve.service import Service
    except ImportError as error:
        raise MissingExtraError("firststory serve", error.name or "fastapi", "serve") from error
    service = Service(options.needed_store(options.gathered({"store": store}, config)))
    try:
        uvicorn.run(create_app(service), host=host, port=port, access_log=False, server_header=False)
    finally:
        service.close()
