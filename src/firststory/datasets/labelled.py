"""Labelled JSON lines as a stream: the format in which corpora lie on disk and `firststory evaluate` reads."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firststory.datasets.streams import TextStream
from firststory.errors import DataError
from firststory.records import Document

_FIELDS = ("id", "text", "time", "title", "source", "url", "label")


def read_labelled(path: str | os.PathLike[str], name: str | None = None) -> TextStream:
    """Read a JSONL file (plain or gzip) of clean documents, in file order.

    The loaders use it; for input that may be dirty use `firststory run` or `fs.Monitor`, which quarantine.
    """
    path = Path(path)
    return TextStream(name or path.name.partition(".")[0], tuple(_documents(path)))


def _documents(path: Path) -> Iterator[Document]:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield _document(json.loads(line), number)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DataError(
                    owner="read_labelled",
                    parameter=f"line {number} of {path.name}",
                    allowed='a JSON object with "text"',
                    received=line[:80],
                    remedy=f"Correct the line ({type(error).__name__}: {error}).",
                ) from error


def _document(fields: dict[str, Any], number: int) -> Document:
    text = fields["text"]
    head, newline, _ = text.partition("\n")
    return Document(
        id=str(fields.get("id", number)),
        text=text,
        time=_time(fields.get("time")),
        # These corpora put the headline on a line of its own.
        title=fields.get("title") or (head if newline and len(head) <= 300 else None),
        source=fields.get("source") or fields.get("origin") or fields.get("publisher"),
        url=fields.get("url"),
        label=fields.get("label"),
        extra={key: value for key, value in fields.items() if key not in _FIELDS},
    )


def _time(value: Any) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, (int, float)):
        return datetime.fromtimestamp(value, UTC)
    time = datetime.fromisoformat(value)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
