"""Alerts on their way to sinks: a thread a sink, fed from the store, so that no sink ever stops the stream."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Self

from firststory.backoff import wait_before
from firststory.errors import FirststoryError
from firststory.notices import Notice
from firststory.records import Alert
from firststory.sinks.sink import NotDelivered, Sink
from firststory.store.outbox import Outbox
from firststory.store.store import Store

SECONDS_TO_FINISH = 10.0
LONGEST_WAIT = 600.0


class Delivery:
    """Delivers every alert of a store to every sink, at least once.

    Parameters
    ----------
    sinks : sequence of Sink
    store : Store
        Open, and claimed by this process.
    kinds : sequence of str
        The kinds of alerts that are delivered.
    attempts : int
        After which an alert becomes a dead letter.
    say : callable
        Is told, in one sentence, when a sink fails and when it works again.
    """

    def __init__(
        self, sinks: Sequence[Sink], store: Store, kinds: Sequence[str], attempts: int, say: Callable[[str], None]
    ) -> None:
        self._couriers = [_Courier(sink, Outbox(store, sink.name, kinds), attempts, say) for sink in sinks]

    def __enter__(self) -> Self:
        for courier in self._couriers:
            courier.start()
        return self

    def __exit__(self, kind: object, *problem: object) -> None:
        """Deliver what is left where the run has ended well; what remains is delivered by the next run."""
        end = time.monotonic() + (SECONDS_TO_FINISH if kind is None else 0.0)
        for courier in self._couriers:
            courier.finish(is_hurried=kind is not None)
        for courier in self._couriers:
            courier.join(max(end - time.monotonic(), 0.0))
        for courier in self._couriers:
            courier.stop()
        for courier in self._couriers:
            courier.join(2.0)

    def wake(self) -> None:
        """There are new alerts."""
        for courier in self._couriers:
            courier.wake()


class _Courier(threading.Thread):
    """Takes the alerts of one sink there, in order."""

    def __init__(self, sink: Sink, outbox: Outbox, attempts: int, say: Callable[[str], None]) -> None:
        super().__init__(name=f"sink {sink.name}", daemon=True)
        self._sink, self._outbox, self._attempts, self._say = sink, outbox, attempts, say
        self._woken, self._stopping = threading.Event(), threading.Event()
        self._is_finishing = False
        self._failures = 0
        self._sent_at = time.monotonic()

    def wake(self) -> None:
        self._woken.set()

    def finish(self, *, is_hurried: bool) -> None:
        """Deliver what is waiting and end; hurried, end after what is being delivered."""
        self._is_finishing = True
        if is_hurried:
            self._stopping.set()
        self._woken.set()

    def stop(self) -> None:
        self._stopping.set()
        self._woken.set()

    def run(self) -> None:
        while not self._stopping.is_set():
            # The outbox is in the store: one that is busy or full is no reason to stop either.
            try:
                is_done = self._deliver_waiting()
            except FirststoryError as error:
                self._say(Notice(error.without_owner, "sink_waits", "warning", sink=self._sink.name))
                is_done = False
                self._stopping.wait(1.0)
            if is_done and self._is_finishing:
                return
            if is_done:
                self._woken.wait(1.0)
                self._woken.clear()

    def _deliver_waiting(self) -> bool:
        """One round; True when nothing is waiting that is due."""
        waiting = self._outbox.waiting()
        left = self._sent_at + self._sink.every - time.monotonic()
        if not waiting or (self._sink.every and left > 0 and not self._is_finishing):
            return True
        self._sent_at = time.monotonic()
        for alerts in [waiting] if self._sink.every else [(alert,) for alert in waiting]:
            if self._stopping.is_set() or not self._deliver(alerts):
                return False
        return False

    def _deliver(self, alerts: Sequence[Alert]) -> bool:
        try:
            self._sink.deliver(alerts)
        except NotDelivered as problem:
            self._failures += 1
            if problem.is_final or self._failures >= self._attempts:
                for alert in alerts:
                    self._outbox.give_up(alert.id, str(problem))
                self._tell(f": gave up on {_ids(alerts)}: {problem}.", "sink_gave_up", "error", alerts)
                self._failures = 0
                return True
            wait = wait_before(self._failures - 1, problem.retry_after, longest=LONGEST_WAIT)
            sentence = f": {_ids(alerts)} not delivered: {problem}; trying again in {wait:.0f} s."
            self._tell(sentence, "sink_failed", "warning", alerts)
            self._stopping.wait(wait)
            return False
        if self._failures:
            self._tell(" works again.", "sink_back", "info", alerts)
        self._failures = 0
        self._outbox.delivered([alert.id for alert in alerts])
        return True

    def _tell(self, sentence: str, event: str, level: str, alerts: Sequence[Alert]) -> None:
        told = Notice(self._sink.name + sentence, event, level, sink=self._sink.name, alerts=[a.id for a in alerts])
        self._say(told)


def _ids(alerts: Sequence[Alert]) -> str:
    return alerts[0].id if len(alerts) == 1 else f"{alerts[0].id} to {alerts[-1].id}"
