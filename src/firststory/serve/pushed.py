"""What was pushed, as documents: one object, an array, or JSON lines; each checked by itself."""

from __future__ import annotations

import json
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from firststory.digest.words import iso
from firststory.errors import DocumentError
from firststory.harmless import harmless
from firststory.records import Document
from firststory.serve.problems import MOST_ERRORS, Problem
from firststory.sources.parse import document_from

JSON_LINES = ("application/x-ndjson", "application/jsonl", "application/jsonlines", "application/x-jsonlines")
ID_LENGTH = 1_000
EARLIEST, LATEST = 60_000_000_000, 250_000_000_000
"""Seconds before and after 1970."""
IsoTime = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Component = Annotated[float, Field(ge=-1e4, le=1e4, allow_inf_nan=False)]


class PushedDocument(BaseModel):
    """A document. Fields that are not named here are kept with it."""

    model_config = ConfigDict(extra="allow", strict=True)
    text: str = Field(min_length=1, pattern=r"[^\s\x00]", description="Required; more than spaces.")
    id: Annotated[str, Field(max_length=ID_LENGTH)] | int | None = Field(
        None,
        description="A document whose id is known already is not judged again. Left out, it is made of the rest.",
    )
    time: IsoTime | Annotated[float, Field(ge=-EARLIEST, le=LATEST)] | None = Field(
        None, description="ISO 8601, or seconds since 1970; when it is left out, the time of its arrival."
    )
    title: str | None = None
    source: str | None = None
    url: str | None = None
    label: Any = None
    vector: Annotated[list[Component], Field(min_length=1, max_length=16_384)] | None = None


class Rejected(NamedTuple):
    """A document that cannot be taken: which, counted from 0, and why."""

    number: int
    reason: str
    problem: str


class Taken(NamedTuple):
    """What a request brought."""

    ids: list[str]
    documents: list[str]
    """Their JSON, as the inbox keeps it."""
    rejected: list[Rejected]


def read_documents(body: bytes, content_type: str, *, most: int, max_bytes: int, now: str) -> Taken:
    """The documents of a request; `now` is the time of those that have none."""
    ids, documents, rejected = [], [], []
    for index, given in enumerate(_values(body, content_type, most)):
        try:
            document, values = _checked(given, max_bytes)
        except DocumentError as error:
            rejected.append(Rejected(index, error.reason, harmless(error.without_owner, 300)))
            continue
        time = iso(document.time) if document.time is not None else now
        ids.append(document.id)
        documents.append(json.dumps(values | {"id": document.id, "time": time}, ensure_ascii=False))
    return Taken(ids, documents, rejected)


def refused(rejected: list[Rejected]) -> Problem:
    """The answer where nothing was taken because of these."""
    which = f"document {rejected[0].number}: {rejected[0].problem}"
    told = [one._asdict() for one in rejected[:MOST_ERRORS]]
    detail = f"{len(rejected):,} cannot be read, and none was taken. {which}"
    return Problem(422, detail, "documents", errors=told)


def _values(body: bytes, content_type: str, most: int) -> list[Any]:
    """The JSON values that a request has, whatever they are."""
    if content_type not in (*JSON_LINES, "application/json"):
        told = ", ".join(("application/json", *JSON_LINES))
        raise Problem(415, f"Send documents as {told}.", "content-type")
    try:
        text = body.decode("utf-8")
        if content_type in JSON_LINES:
            values = [_line(line, number) for number, line in enumerate(text.split("\n")) if line.strip()]
        else:
            found = json.loads(text, parse_constant=_no_constant)
            values = found if isinstance(found, list) else [found]
    except (ValueError, RecursionError) as error:
        raise Problem(422, f"The body is not JSON in UTF-8: {str(error)[:200]}.", "not-json", errors=[]) from error
    if not values:
        raise Problem(422, "There is no document in the body.", "no-documents", errors=[])
    if len(values) > most:
        detail = f"{len(values):,} documents are too many for one request. Send at most {most:,} at a time."
        raise Problem(413, detail, "too-many")
    return values


def _line(line: str, number: int) -> Any:
    try:
        return json.loads(line, parse_constant=_no_constant)
    except ValueError as error:
        raise ValueError(f"line {number + 1}: {error}") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _checked(given: Any, max_bytes: int) -> tuple[Document, dict[str, Any]]:
    try:
        PushedDocument.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise _bad("not-a-document", where, str(first["msg"])) from error
    size = sum(len(value) for value in given.values() if isinstance(value, str))
    if size > max_bytes:
        raise _bad("too-long", "the document", f"it has {size:,} characters, and {max_bytes:,} are allowed")
    if len(str(given.get("id") or "")) > ID_LENGTH:
        raise _bad("bad-id", "id", f"it is longer than {ID_LENGTH:,} characters")
    return document_from(given), given


def _bad(reason: str, where: str, problem: str) -> DocumentError:
    return DocumentError(
        reason,
        owner="document",
        parameter=where,
        allowed="as documented",
        received=problem,
        remedy='A document looks like {"text": "...", "id": "...", "time": "2026-11-15T22:00:00Z"}.',
        message=f"{where}: {problem}.",
    )
