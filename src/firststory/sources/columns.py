"""Fields of documents under other names: the columns of other people's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

TEXT_NAMES = (
    "body", "content", "contents", "full_text", "fulltext", "message", "article", "description", "summary", "abstract",
    "selftext", "post", "tweet", "comment", "document", "headline", "title",
)  # fmt: skip
"""What the text is called where it is not called text, the likeliest first."""


def mapped(values: Mapping[str, Any], columns: Mapping[str, str]) -> Mapping[str, Any]:
    """The same mapping with fields under our names; a dot leads into an object.

    Examples
    --------
    >>> mapped({"body": "Bridge closed", "meta": {"at": 7}}, {"text": "body", "time": "meta.at"})
    {'meta': {'at': 7}, 'text': 'Bridge closed', 'time': 7}
    """
    if not columns:
        return values
    taken = set(columns.values())
    renamed = {key: value for key, value in values.items() if key not in taken}
    for field, column in columns.items():
        found = _look_up(values, column)
        if found is not None:
            renamed[field] = found
        elif field in renamed:
            del renamed[field]  # another column of that name is not what was asked for
    return renamed


def _look_up(values: Mapping[str, Any], column: str) -> Any:
    if column in values:
        return values[column]
    inside: Any = values
    for name in column.split("."):
        if not isinstance(inside, Mapping) or name not in inside:
            return None
        inside = inside[name]
    return inside


def advice_on_text(keys: Iterable[Any], columns: Mapping[str, str]) -> str | None:
    """What to do about a missing text, where one of the names is a near miss."""
    if "text" in columns:
        return f"There is no column {columns['text']}, which columns (--map) names for the text."
    names = {str(key).strip().casefold(): str(key) for key in reversed(list(keys))}
    near = next((names[name] for name in ("text", "texts", *TEXT_NAMES) if name in names), None)
    return None if near is None else f"If {near} holds it, add: --map text={_quoted(near)}"


def _quoted(name: str) -> str:
    return name if name.replace("_", "").replace(".", "").replace("-", "").isalnum() else f"'{name}'"
