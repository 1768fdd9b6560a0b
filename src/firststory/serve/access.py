"""What routes ask for: the store to read, the service behind it, and who is asking."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request

from firststory.serve.service import Service
from firststory.serve.visitor import Visitor
from firststory.store.store import Store


def service_of(request: Request) -> Service:
    """The service that answers."""
    return cast(Service, request.app.state.service)


def reader_of(request: Request) -> Store:
    """The store, open to be read by many at once."""
    return service_of(request).reader


def visitor_of(request: Request) -> Visitor:
    """Who asks; the guard has let them in already."""
    return cast(Visitor, request.scope["firststory.visitor"])


ServiceHere = Annotated[Service, Depends(service_of)]
StoreToRead = Annotated[Store, Depends(reader_of)]
VisitorHere = Annotated[Visitor, Depends(visitor_of)]
