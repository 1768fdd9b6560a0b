"""The sinks that a command names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firststory.digest.shapes import alert_json
from firststory.settings import resolve
from firststory.sinks.opening import open_sinks
from firststory.sinks.sink import Sink


def named_sinks(
    sinks: Sequence[str] | None, commands: Sequence[str] | None, notifications: Sequence[str] | None
) -> list[str] | None:
    """The options as one setting; None where there are none, so that those of the settings file count."""
    found = [*(sinks or ())]
    found += [f"exec:{command}" for command in commands or ()]
    found += [f"notify:{url}" for url in notifications or ()]
    return found or None


def wanted_sinks(named: Mapping[str, Any]) -> list[Sink]:
    """The sinks, opened before a store is made: a mistake leaves nothing behind."""
    settings = resolve(named)
    return open_sinks(settings.sinks, settings, alert_json)
