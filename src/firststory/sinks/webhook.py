"""Alerts posted to a web address, signed, with the alert's id as idempotency key.

The signature is the HMAC-SHA256 of the timestamp, a full stop and the body, under the secret `webhook_secret`; whoever
receives it computes the same, compares, and refuses timestamps that are old.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from firststory.errors import ParameterError
from firststory.fetching import Failed, Fetcher, Refused, retry_after
from firststory.records import Alert
from firststory.sinks.sink import NotDelivered, Shape

WORTH_RETRYING = (408, 425, 429)
"""Of the answers that blame the request, those that may be different next time."""


class Webhook:
    """`webhook:URL`."""

    every = 0.0

    def __init__(self, url: str, shape: Shape, *, secret: str | None = None, allow_private: bool = False) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ParameterError(
                owner="sinks",
                parameter="webhook",
                allowed="an http or https address",
                received=f"{parts.scheme}://{parts.hostname or ''}",
                remedy="As in --sink webhook:https://host/path.",
            )
        self.name = f"webhook:{parts._replace(netloc=parts.netloc.rpartition('@')[2], query='', fragment='').geturl()}"
        self._url, self._shape, self._secret = url, shape, secret
        self._fetcher = Fetcher(allow_private=allow_private, deadline=30.0, max_bytes=1_000_000, extra="webhook")

    def deliver(self, alerts: Sequence[Alert]) -> None:
        for alert in alerts:
            self._post(alert)

    def _post(self, alert: Alert) -> None:
        body = json.dumps(self._shape(alert), default=str).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": alert.id}
        if self._secret:
            moment = str(int(time.time()))
            headers |= {"Firststory-Timestamp": moment, "Firststory-Signature": signature(self._secret, moment, body)}
        try:
            answer = self._fetcher.post(self._url, body, headers)
        except Refused as error:
            raise NotDelivered(str(error), is_final=True) from error
        except Failed as error:
            raise NotDelivered(str(error)) from error
        if answer.status >= 300:
            is_final = 300 <= answer.status < 500 and answer.status not in WORTH_RETRYING
            asked = retry_after(answer.headers.get("retry-after"))
            raise NotDelivered(f"the server answers {answer.status}", is_final=is_final, retry_after=asked)


def signature(secret: str, moment: str, body: bytes) -> str:
    """What the header Firststory-Signature must say.

    Examples
    --------
    >>> signature("secret", "1700000000", b"{}")[:20]
    'sha256=b8569b78799ff'
    """
    return "sha256=" + hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()
