"""One mapping (a JSON line, a CSV row, a dict from Python) as a Document, or a DocumentError that says why not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

from firststory.errors import DocumentError
from firststory.records import Document
from firststory.setting_values import FIELDS
from firststory.sources.absent import is_absent
from firststory.sources.columns import advice_on_text, mapped
from firststory.sources.times import parse_time
from firststory.sources.vectors import parse_vector

SOURCE_NAMES = ("origin", "publisher")
"""Other names under which feeds say who published a document, used where there is no `source`."""

_FIELDS = frozenset(FIELDS)

NO_COLUMNS: Mapping[str, str] = {}
"""All fields have our names."""


def document_from(values: Mapping[str, Any], columns: Mapping[str, str] = NO_COLUMNS) -> Document:
    """The document that a mapping describes. What is None, NaN, NaT or NA is not there.

    Parameters
    ----------
    values : mapping
        A JSON object, a row of a table.
    columns : mapping, optional
        Fields that have other names there: {"text": "body"}.

    Examples
    --------
    >>> document_from({"id": 7, "text": "Bridge closed", "page": 3}).extra
    {'page': 3}
    >>> document_from({"body": "Bridge closed"}, {"text": "body"}).text
    'Bridge closed'
    """
    if not isinstance(values, Mapping):
        raise _bad("not-an-object", "the line", "a JSON object with the key text", values)
    keys = values
    values = {
        key: value
        for key, value in mapped(values, columns).items()
        if type(value) is str or value is None or not is_absent(value)  # nearly all are text: ask the cheap way first
    }
    title = _string(values, "title")
    text = _text(values, title, keys, columns)
    return Document(
        id=_identity(values.get("id")) or content_id(values),
        text=text,
        time=parse_time(values.get("time")),
        title=title,
        source=_string(values, "source") or _publisher(values),
        url=_string(values, "url"),
        label=values.get("label"),
        extra={str(key): value for key, value in values.items() if key not in _FIELDS},
        vector=parse_vector(values.get("vector")),
    )


def document_of(given: Document | Mapping[str, Any], columns: Mapping[str, str] = NO_COLUMNS) -> Document:
    """A document or a mapping made by a caller, checked by the same rules as a line of a file.

    Examples
    --------
    >>> document_of(Document(id="a1", text="Bridge closed", time="2026-11-15")).time.tzname()
    'UTC, assumed'
    """
    if not isinstance(given, Document):
        made = document_from(given, columns)
    elif not isinstance(given.extra, Mapping):
        raise _bad("bad-extra", "extra", "a mapping", given.extra)
    else:
        extra = {str(key): value for key, value in given.extra.items()}
        made = replace(document_from({name: getattr(given, name) for name in FIELDS}), extra=extra)
    for name, value in (("label", made.label), ("extra", made.extra)):
        if value is None or type(value) is str or (type(value) is dict and not value):
            continue  # nearly always
        try:
            json.dumps(value, sort_keys=True, default=str)
        except (TypeError, ValueError, RecursionError) as error:
            raise _bad(f"bad-{name}", name, "what JSON can hold", f"{type(value).__name__}: {error}") from error
    return made


def content_id(values: Mapping[str, Any]) -> str:
    """An id made of the content: the same line has the same id, in every run and on every machine.

    Vectors are left out: another encoder does not make another document.
    """
    content = {str(key): value for key, value in values.items() if key != "vector"}
    canonical = json.dumps(content, sort_keys=True, default=str)
    return "c-" + hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _identity(value: Any) -> str:
    """An id as text; '' where there is none. A column of whole numbers with gaps comes as floats from pandas."""
    if type(value) is str:
        return _clean(value).strip()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, Integral, type(None))):
        raise _bad("bad-id", "id", "a string or a whole number", value)
    return "" if value is None else _clean(str(value)).strip()


def _text(values: Mapping[str, Any], title: str | None, keys: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    text = values.get("text")
    if text is None:
        shown = ", ".join(map(str, keys))[:150] or "none"
        remedy = None if "text" in values else advice_on_text(keys, columns)
        raise _bad(
            "missing-text", "text", "given", f"the keys {shown}", f"there is no text; the keys are {shown}.", remedy
        )
    if not isinstance(text, str):
        raise _bad("text-not-a-string", "text", "a string", text)
    text = _clean(text)
    if not text.strip() and not title:
        raise _bad("empty-text", "text", "something to read", text, "the text is empty.")
    return text


def _string(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    if value is None or value == "":
        return None
    return _clean(value if isinstance(value, str) else str(value)).strip() or None


def _publisher(values: Mapping[str, Any]) -> str | None:
    """Who published it, by another name; only text is believed."""
    for key in SOURCE_NAMES:
        if isinstance(values.get(key), str) and (name := _string(values, key)):
            return name
    return None


def _clean(text: str) -> str:
    """Without NUL, which cannot be stored or searched; halves of surrogate pairs (bad escapes) are replaced."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        # A pair that came as two escapes is joined; a half by itself becomes the replacement character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _bad(
    reason: str,
    parameter: str,
    allowed: str,
    received: object,
    message: str | None = None,
    remedy: str | None = None,
) -> DocumentError:
    return DocumentError(
        reason,
        owner="document",
        parameter=parameter,
        allowed=allowed,
        received=received,
        remedy=remedy or 'A document looks like {"text": "...", "id": "...", "time": "2026-11-15T22:00:00Z"}.',
        message=message,
    )
