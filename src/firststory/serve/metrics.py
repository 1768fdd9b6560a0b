"""What Prometheus is told: requests, listeners, and how the stream goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The numbers of one service, in a registry of its own."""

    def __init__(self, status: Callable[[], dict[str, Any]], listeners: Callable[[], int]) -> None:
        self.registry = here = CollectorRegistry()
        ProcessCollector(registry=here)
        self.requests = Counter("firststory_http_requests", "Requests.", ["method", "route", "status"], registry=here)
        self.seconds = Histogram(
            "firststory_http_request_seconds",
            "Seconds to an answer.",
            ["route"],
            buckets=BUCKETS,
            registry=here,
        )
        self.pushed = Counter("firststory_pushed_documents", "Documents taken by push.", registry=here)
        self.rejected = Counter("firststory_rejected_documents", "Pushed documents that cannot be read.", registry=here)
        self._found: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.registry.register(_StoreCollector(status, listeners))

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request was answered."""
        found = self._found.get((method, route, status))
        if found is None:  # there are few of them, and looking one up by its labels takes longer than counting
            found = self.requests.labels(method, route, str(status)), self.seconds.labels(route)
            self._found[method, route, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def text(self) -> bytes:
        """As Prometheus reads it."""
        return generate_latest(self.registry)


class _StoreCollector(Collector):
    """The status of the service, read when it is asked for."""

    def __init__(self, status: Callable[[], dict[str, Any]], listeners: Callable[[], int]) -> None:
        self._status, self._listeners = status, listeners

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> Iterator[Any]:
        told = self._status()
        stream = told["stream"]
        runs = stream is not None and stream["state"] == "running"
        gauges = {
            "firststory_event_listeners": ("Open event streams.", self._listeners()),
            "firststory_inbox_documents": ("Pushed documents that wait to be judged.", told["inbox"]),
            "firststory_lag_seconds": ("How long the oldest of them has waited.", told["lag_seconds"]),
            "firststory_store_bytes": ("Bytes that the store takes.", told["store_bytes"]),
            "firststory_stories": ("Stories that were not merged.", told["stories"]),
            "firststory_storylines": ("Storylines that were not merged.", told["storylines"]),
            "firststory_stream_up": (
                "1 while the stream runs.",
                int(runs),
            ),
            "firststory_step_seconds": ("What the last step took.", 0.0 if stream is None else stream["step_seconds"]),
        }
        for name, (words, value) in gauges.items():
            yield GaugeMetricFamily(name, words, value)
        yield CounterMetricFamily("firststory_steps", "Steps of the store.", told["steps"])
        yield CounterMetricFamily("firststory_documents", "Documents of the store.", told["documents"])
        yield CounterMetricFamily("firststory_quarantined", "What could not be read.", told["quarantined"])
        alerts = CounterMetricFamily("firststory_alerts", "Alerts that fired.", labels=["kind"])
        for kind, number in told["alert_counts"].items():
            alerts.add_metric([kind], number)
        yield alerts


class Measured:
    """Counts requests and their seconds, by route: addresses with ids in them are one."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                route = getattr(scope.get("route"), "path", None) or ("/static" if _is_static(scope) else "other")
                method = scope["method"] if scope["method"] in METHODS else "other"
                self._metrics.count(method, route, status, time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, counted)


METHODS = ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS")


def _is_static(scope: Scope) -> bool:
    return str(scope["path"]).startswith("/static/")
