"""One message of a broker or a websocket as a document: JSON, or fields by name, with a map where names differ.

The map stands after the # of an address, which no server ever sees: `redis://host/news#text=body,title=head.line`
takes `text` from `body`, and `title` from `line` inside `head`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from firststory.errors import DocumentError
from firststory.records import Arrival, Document, Position, Quarantined
from firststory.setting_values import FIELDS
from firststory.sources.lines import EXCERPT
from firststory.sources.parse import document_from
from firststory.sources.source import wrong_address

FieldMap = Mapping[str, str]


def field_map(fragment: str) -> FieldMap:
    """What stands after the # of an address.

    Examples
    --------
    >>> field_map("text=body,id=meta.key")
    {'text': 'body', 'id': 'meta.key'}
    """
    found: dict[str, str] = {}
    for pair in filter(None, unquote(fragment).split(",")):
        field, equals, path = (part.strip() for part in pair.partition("="))
        if not (equals and path) or field not in FIELDS:
            raise wrong_address(f"#{pair}", f"FIELD=NAME, with FIELD one of {', '.join(FIELDS)}", "As in #text=body.")
        found[field] = path
    return found


def arrival_from(
    data: bytes | str | Mapping[str, Any],
    position: Position,
    *,
    fields: FieldMap,
    limit: int,
    default_id: str,
    default_time: datetime | None = None,
) -> Arrival:
    """The document of a message, or why it is none. A message without id or time gets the broker's."""
    try:
        values = data if isinstance(data, Mapping) else json_values(data, limit)
        return message_document(values, fields, limit, default_id, default_time), position
    except DocumentError as error:
        return Quarantined(error.reason, str(error), position, excerpt_of(data))


def message_document(
    values: Mapping[str, Any], fields: FieldMap, limit: int, default_id: str, default_time: datetime | None
) -> Document:
    if not isinstance(values, Mapping):
        raise _bad("not-an-object", "a JSON object with the key text", values)
    made = dict(values)
    for field, path in fields.items():
        found = at_path(values, path)
        if found is not None:
            made[field] = found
            if "." not in path and path not in FIELDS:
                made.pop(path, None)
    size = sum(len(value) for value in made.values() if isinstance(value, str))
    if size > limit:
        raise _bad("too-long", f"at most {limit:,} characters (max_document_bytes)", f"{size:,} characters")
    if made.get("id") in (None, ""):
        made["id"] = default_id
    if made.get("time") in (None, "") and default_time is not None:
        made["time"] = default_time
    return document_from(made)


def at_path(values: Any, path: str) -> Any:
    """The value at a dotted path, None where there is none; a name that has dots itself comes first."""
    if isinstance(values, Mapping) and path in values:
        return values[path]
    for name in path.split("."):
        if not isinstance(values, Mapping):
            return None
        values = values.get(name)
    return values


def json_values(data: bytes | str, limit: int) -> Any:
    """The JSON value of a message; a DocumentError where it is too long, no UTF-8 or no JSON."""
    if len(data) > limit:
        raise _bad("too-long", f"at most {limit:,} bytes (max_document_bytes)", f"{len(data):,} bytes")
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
    except UnicodeDecodeError as error:
        raise _bad("broken-utf8", "UTF-8 throughout", f"byte {error.start}: {error.reason}") from error
    try:
        return json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError) as error:
        raise _bad("wrong-json", "one JSON object", f"{str(error)[:100]}: {excerpt_of(data)}") from error


def excerpt_of(data: object) -> str:
    """The beginning of a bad message, harmless to keep."""
    if isinstance(data, bytes):
        text = data[: 4 * EXCERPT].decode("utf-8", "replace")
    else:
        text = data[:EXCERPT] if isinstance(data, str) else repr(data)[:EXCERPT]
    return text[:EXCERPT].encode("utf-8", "replace").decode("utf-8").replace("\0", "�").strip()


def _bad(reason: str, allowed: str, received: object) -> DocumentError:
    return DocumentError(
        reason,
        owner="document",
        parameter="the message",
        allowed=allowed,
        received=received,
        remedy='A message looks like {"text": "...", "id": "...", "time": "2026-11-15T22:00:00Z"}.',
    )
