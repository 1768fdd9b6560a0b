"""Logs for machines: one event a line on standard error, as JSON or as text.

Nothing that a document, a file name or a server says can break out of its line: control characters, newlines and
invisible characters are escaped, and what is long is cut. Addresses are logged by names that have no passwords.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from firststory.notices import Notice

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

FORMATS = ("json", "text")
LEVELS = ("debug", "info", "warning", "error")
LONGEST = 1000
"""Characters of one value."""

_log: FilteringBoundLogger | None = None


def begin(format: str, level: str = "info") -> FilteringBoundLogger:
    """From here on this process logs, in one of `FORMATS`; structlog's own settings are left alone."""
    import structlog

    global _log
    # ASCII only: a terminal or a reader of lines finds nothing in it that acts.
    render = structlog.processors.JSONRenderer(default=str) if format == "json" else _as_text
    _log = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"), _with_level, _bounded, render],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    return _log


def end() -> None:
    """Log no more."""
    global _log
    _log = None


def current() -> FilteringBoundLogger | None:
    """The log of this process; None where it talks to people."""
    return _log


def tell(log: FilteringBoundLogger, sentence: str, event: str = "note", level: str = "info") -> None:
    """Log a sentence, with its facts where it brings some."""
    facts: dict[str, Any] = {}
    if isinstance(sentence, Notice):
        event, level, facts = sentence.event, sentence.level, sentence.facts
    getattr(log, level)(event, message=str(sentence), **facts)


def _with_level(log: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {"time": event.pop("time"), "level": method, "event": event.pop("event"), **event}


def _bounded(log: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {key: _cut(value) for key, value in event.items()}


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST:
        return value[: LONGEST - 1] + "…"
    if isinstance(value, Mapping):
        return {str(key)[:LONGEST]: _cut(inner) for key, inner in list(value.items())[:LONGEST]}
    return value


def _as_text(log: Any, method: str, event: MutableMapping[str, Any]) -> str:
    """Time, level and event, then the rest as key=value, strings as Python writes them in ASCII."""
    head = f"{event.pop('time')} {event.pop('level'):<7} {ascii(event.pop('event'))[1:-1]}"
    return " ".join([head, *(f"{key}={value!a}" for key, value in event.items())])
