"""Answers that may be kept for as long as the store is the same: marked here, kept by `kept_answers.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from fastapi import Request
from pydantic_core import to_json
from starlette.responses import Response
from starlette.types import Scope

KEEP = "firststory.keep"
"""In the scope of a request: for how many seconds its answer holds at most."""


def answer(
    request: Request, make: Callable[[], Any], headers: Callable[[Any], Mapping[str, str]] = lambda value: {}
) -> Response:
    """The JSON of what `make` returns; `headers` are worked out from that."""
    value = make()
    body = to_json(value)
    return Response(body, 200, {**kept_headers(request.scope, body), **headers(value)}, "application/json")


def kept_headers(scope: Scope, body: bytes, seconds: float = inf) -> dict[str, str]:
    """The headers of an answer that holds while the store is the same, and for some seconds at most."""
    scope[KEEP] = seconds
    tag = f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    return {"ETag": tag, "Vary": "Accept-Encoding, Cookie, Authorization"}
