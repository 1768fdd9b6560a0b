"""Alerts as messages to people: Slack, mail, Matrix, Telegram and a hundred others, through apprise."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence

from firststory.errors import MissingExtraError, ParameterError
from firststory.harmless import display_title, harmless
from firststory.records import Alert
from firststory.sinks.sink import NotDelivered

MOST_TOLD = 30
"""Alerts that one message tells; the rest are counted."""


class Notification:
    """`notify:URL`, one message an alert; with `every` one message for all alerts of that many seconds."""

    def __init__(self, url: str, *, every: float = 0.0) -> None:
        try:
            import apprise
        except ImportError as error:
            raise MissingExtraError("firststory", "apprise", "notify") from error
        logging.getLogger("apprise").setLevel(logging.CRITICAL)
        self._apprise = apprise.Apprise()
        scheme = url.partition("://")[0]
        if not self._apprise.add(url):
            raise ParameterError(
                owner="sinks",
                parameter="notify",
                allowed="an address that apprise knows",
                received=f"{scheme}://…",
                remedy="See the list of services in apprise's documentation.",
            )
        # The address is a password: it is remembered by its checksum.
        self.name = f"notify:{scheme}:{hashlib.sha256(url.encode()).hexdigest()[:12]}"
        self.every = every

    def deliver(self, alerts: Sequence[Alert]) -> None:
        title = display_title(alerts[0].headline) if len(alerts) == 1 else f"{len(alerts)} alerts"
        body = "\n\n".join(_told(alert, is_alone=len(alerts) == 1) for alert in alerts[:MOST_TOLD])
        if len(alerts) > MOST_TOLD:
            body += f"\n\nand {len(alerts) - MOST_TOLD} more"
        try:
            is_sent = self._apprise.notify(title=title, body=body)
        except Exception as error:  # a hundred services fail in a hundred ways
            raise NotDelivered(f"the service failed ({type(error).__name__})") from error
        if not is_sent:
            raise NotDelivered("the service did not take the message")


def _told(alert: Alert, *, is_alone: bool) -> str:
    lines = [] if is_alone else [display_title(alert.headline)]
    lines += [harmless(alert.sentence, 500)]
    if alert.headline.url:
        lines.append(harmless(alert.headline.url, 300))
    return "\n".join(lines)
