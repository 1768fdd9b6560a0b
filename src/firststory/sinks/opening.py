"""What is named as sinks, opened: `jsonl:PATH`, `webhook:URL`, `exec:COMMAND`, `notify:URL`."""

from __future__ import annotations

from collections.abc import Sequence

from firststory.errors import not_one_of
from firststory.settings import Settings
from firststory.sinks.command import Command
from firststory.sinks.jsonl import JsonLines
from firststory.sinks.notify import Notification
from firststory.sinks.sink import Shape, Sink
from firststory.sinks.webhook import Webhook

KINDS = ("jsonl", "webhook", "exec", "notify")


def open_sinks(names: Sequence[str], settings: Settings, shape: Shape) -> list[Sink]:
    """Every sink that is named, none twice; a mistake is told at once."""
    found: dict[str, Sink] = {}
    for name in names:
        sink = _open(name, settings, shape)
        found.setdefault(sink.name, sink)
    return list(found.values())


def _open(name: str, settings: Settings, shape: Shape) -> Sink:
    kind, _, rest = name.partition(":")
    if kind == "jsonl" and rest:
        return JsonLines(rest, shape)
    if kind == "webhook" and rest:
        secret = settings.webhook_secret
        return Webhook(rest, shape, secret=secret, allow_private=settings.allow_private_addresses)
    if kind == "exec" and rest:
        return Command(rest, shape)
    if kind == "notify" and rest:
        return Notification(rest, every=settings.notify_every)
    raise not_one_of("sinks", "sink", [f"{one}:" for one in KINDS], f"{kind}:", "As in --sink jsonl:alerts.jsonl.")
