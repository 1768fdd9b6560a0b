"""What a run logs in place of its progress: start, steps, how it is doing every few seconds, trouble, and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from firststory import logs
from firststory._version import __version__
from firststory.digest.words import PUSHED
from firststory.harmless import display_title

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from firststory.records import Alert, Step
    from firststory.vitals import Vitals


class RunLog:
    """Logs a run from its start to its end; what it is told in sentences is logged with the facts behind them."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        self._log = log
        self._vitals: Vitals | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *problem: object) -> None:
        if self._vitals is not None:
            self._log.info("stop", reason=_why(kind), **self._vitals.report())

    def start(self, **facts: Any) -> None:
        """What is about to be read, and where to."""
        self._log.info("start", version=__version__, **facts)

    def begin(self, vitals: Vitals) -> None:
        self._vitals = vitals
        self._log.info("reading")

    def advance(self, step: Step, is_due: bool) -> None:
        if self._vitals is None:
            return
        self._log.debug("step", step=step.index, **dict(step.counts))
        for alert in step.alerts:
            if alert.kind in PUSHED:
                self._log.info("alert", **_facts(alert))
        if step.quarantined:
            reasons = [bad.reason for bad in step.quarantined]
            counts = {reason: reasons.count(reason) for reason in sorted(set(reasons))}
            self._log.warning("quarantined", step=step.index, reasons=counts)
        if is_due:
            self._log.info("progress", step=step.index, **self._vitals.report())

    def say(self, sentence: str) -> None:
        logs.tell(self._log, sentence)


def _facts(alert: Alert) -> dict[str, Any]:
    return {
        "id": alert.id,
        "kind": alert.kind,
        "headline": display_title(alert.headline),
        "document": alert.headline.id,
        "documents": len(alert.documents),
        "sources": len(alert.sources),
    }


def _why(kind: type[BaseException] | None) -> str:
    if kind is None:
        return "the sources are at their end"
    return "interrupted" if issubclass(kind, KeyboardInterrupt) else "failed"
