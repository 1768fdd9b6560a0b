"""A dask cluster: pieces on its workers, whatever becomes of them.

dask itself computes a piece again when its worker dies. What it does not notice is noticed here: a worker that hangs,
one of another version, a scheduler that was started anew, nobody left to compute. A piece is a value and a function of
it, so that computing it again elsewhere gives the same bits.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, Self, TypeVar

from distributed import Client, KilledWorker, LocalCluster, wait

from firststory.engines.dask_residents import DaskResidents
from firststory.engines.engine import Residents, Result
from firststory.engines.opening import LOCAL, Wanted
from firststory.engines.worker import Refused, differences, fingerprint, hand_on, run_piece
from firststory.errors import EngineError

Value = TypeVar("Value")

CONNECT_SECONDS = 10.0
POLL_SECONDS = 0.5
PING_SECONDS = 5.0
"""A worker that does not answer a question as small as its version within this time is not used."""
ATTEMPTS = 4
"""Rounds in a row that bring nothing before the engine gives up."""
HANGS = "does not answer"


class _Lost(Exception):
    """The scheduler is away, or does not answer."""


class DaskEngine:
    """Computes pieces on the workers of a cluster that runs, or of a local one that is started and ended here.

    Parameters
    ----------
    wanted : Wanted
        What `parse_engine` made of the text.
    name : str
        The text.
    say : callable
        Is told, in one sentence, of every worker that is of no use and of a scheduler that went away.
    """

    def __init__(self, wanted: Wanted, name: str, say: Callable[[str], None]) -> None:
        self.name = name
        self._say = say
        self._deadline = wanted.deadline
        self._address = wanted.address
        self._fingerprint = fingerprint()
        self._avoided: dict[str, str] = {}
        """Workers that get no pieces, and why."""
        self._numbers = itertools.count()
        self._id = uuid.uuid4().hex[:8]
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._cluster: LocalCluster | None = None
        if wanted.address == LOCAL:
            n_workers = wanted.number or len(os.sched_getaffinity(0))
            self._cluster = LocalCluster(
                n_workers=n_workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
            )
            self._address = self._cluster.scheduler_address
        try:
            self._connect(CONNECT_SECONDS)
        except BaseException:
            self.close()
            raise

    # -- computing -----------------------------------------------------------------------------------------

    def map(self, function: Callable[..., Result], pieces: Sequence[Any], *shared: Any) -> list[Result]:
        results: dict[int, Result] = {}
        failures = 0
        while len(results) < len(pieces):
            before, client = len(results), self._client
            try:
                self._compute(function, pieces, shared, results)
            except _Lost:
                self._reconnect(client)
            failures = 0 if len(results) > before else failures + 1
            if failures == ATTEMPTS:
                raise self._useless("compute a single piece", f"nothing in {ATTEMPTS} attempts")
        return [results[i] for i in range(len(pieces))]

    def _compute(
        self, function: Callable[..., Result], pieces: Sequence[Any], shared: Sequence[Any], results: dict[int, Result]
    ) -> None:
        """One round over the pieces that have no result yet; what is lost is left for the next."""
        client, workers = self._connected(), self._workers()
        held = [self._submit(client, workers, hand_on, value) for value in shared]
        futures = {
            i: self._submit(client, workers, run_piece, self._fingerprint, function, piece, *held)
            for i, piece in enumerate(pieces)
            if i not in results
        }
        self._wait(client, futures)
        done = {i: future for i, future in futures.items() if future.status == "finished"}
        gathered: list[Any] = []
        with suppress(CancelledError, OSError, KeyError):  # its worker died before it could be fetched
            gathered = self._within(self._deadline, lambda: client.gather(list(done.values())))
        for i, value in zip(done, gathered, strict=False):
            if isinstance(value, Refused):
                self._avoid(value.worker, differences(self._fingerprint, value.found))
            else:
                results[i] = value
        for _, future in sorted(futures.items()):
            if future.status == "error":
                self._raise_unless_lost(client, future.exception())

    def _submit(self, client: Client, workers: list[str] | None, function: Callable[..., Any], *given: Any) -> Any:
        key = f"firststory-{self._id}-{next(self._numbers)}"
        return client.submit(function, *given, key=key, workers=workers, pure=False)

    def _wait(self, client: Client, futures: Mapping[int, Any]) -> None:
        """Until all are done, or none has been for as long as the deadline."""
        last, n_done = time.monotonic(), 0
        while True:
            try:
                _wait_for(client, futures.values(), POLL_SECONDS)
                return
            except TimeoutError:
                pass
            except CancelledError as error:
                raise _Lost from error
            now, count = time.monotonic(), sum(future.status != "pending" for future in futures.values())
            if count > n_done:
                last, n_done = now, count
            elif now - last > self._deadline:
                self._avoid_who_hangs(client, {future.key for future in futures.values()})
                return

    def _raise_unless_lost(self, client: Client, problem: BaseException) -> None:
        """Raise what the function itself raised; the next round repeats what a worker is to blame for."""
        if isinstance(problem, (KilledWorker, CancelledError)):
            return
        if isinstance(problem, (ImportError, AttributeError)):  # a worker without this firststory cannot even begin
            known = len(self._avoided)
            self._check_workers(client)
            if len(self._avoided) > known:
                return
        raise problem

    @property
    def n_workers(self) -> int:
        """How many pieces are computed at once: the workers that are of use now."""
        return sum(worker not in self._avoided for worker in self._living(self._connected()))

    # -- objects that stay -----------------------------------------------------------------------------------

    def settle(self, load: Callable[[Any], Any], call: Callable[[Any, Any, Any], Any]) -> Residents:
        return DaskResidents(self, load, call)

    @property
    def id(self) -> str:
        """Tells this engine from others on the same cluster."""
        return self._id

    @property
    def deadline(self) -> float:
        """Seconds after which a worker is taken to hang."""
        return self._deadline

    def living_workers(self) -> set[str]:
        """Those that the scheduler knows of; none where it is away."""
        try:
            return set(self._living(self._connected()))
        except (_Lost, OSError):
            return set()

    def useful_workers(self) -> list[str]:
        """Those that may be given objects, after a new connection where the old one is lost."""
        for _ in range(ATTEMPTS):
            client = self._client
            try:
                fit = self._workers()
                found = self._living(self._connected()) if fit is None else fit
                if found:
                    return found
                self._connected().wait_for_workers(1, timeout=max(self._deadline, 1.0))
            except TimeoutError as error:
                raise self._useless("be there", f"none for {self._deadline:.0f} s") from error
            except (_Lost, OSError):
                self._reconnect(client)
        raise self._useless("be there", f"none in {ATTEMPTS} attempts")

    def make_actor(self, kind: type, worker: str) -> Any:
        """An actor of this kind on that worker; None where it does not get ready in time."""
        try:
            client = self._connected()
            key = f"firststory-{self._id}-{next(self._numbers)}"
            with client.as_current():
                future = client.submit(kind, actor=True, key=key, workers=[worker], pure=False)
                return self._within(min(self._deadline, 30.0), lambda: self._actor(client, future))
        except (_Lost, OSError, CancelledError, TimeoutError):
            return None

    def _actor(self, client: Client, future: Any) -> Any:
        with client.as_current():  # an actor belongs to the client of the thread that first sees it
            return future.result()

    def avoid(self, worker: str, why: str) -> None:
        """Give this worker nothing more."""
        self._avoid(worker, why)

    def avoid_hanging(self, worker: str) -> None:
        """The same for one that does not answer: it may do so later."""
        self._avoid(worker, HANGS)

    # -- workers -------------------------------------------------------------------------------------------

    def _living(self, client: Client) -> list[str]:
        told = self._within(PING_SECONDS, lambda: client.scheduler_info(n_workers=-1))
        return sorted(told["workers"])

    def _workers(self) -> list[str] | None:
        """The workers that get pieces; None for all there are and will be."""
        if not self._avoided:
            return None
        living = self._living(self._connected())
        fit = [worker for worker in living if worker not in self._avoided]
        if not fit:  # one that did not answer may do so by now
            self._avoided = {worker: why for worker, why in self._avoided.items() if why != HANGS}
            fit = [worker for worker in living if worker not in self._avoided]
        if not living:  # whoever comes
            return None
        if not fit:
            raise self._useless("compute as this machine does", "; ".join(map(": ".join, self._avoided.items())))
        return fit

    def _avoid(self, worker: str, why: str) -> None:
        if self._avoided.get(worker) != why:
            self._avoided[worker] = why
            self._say(f"The worker {worker} is not used: {why}.")

    def _check_workers(self, client: Client) -> None:
        """Ask each worker for its version; those of another one, and those that do not answer, get no pieces."""
        asked = {worker: self._submit(client, [worker], fingerprint) for worker in self._living(client)}
        with suppress(TimeoutError, CancelledError):
            _wait_for(client, asked.values(), PING_SECONDS)
        for worker, future in asked.items():
            if future.status == "finished":
                found = self._within(PING_SECONDS, future.result)
                if problem := differences(self._fingerprint, found):
                    self._avoid(worker, problem)
            elif future.status == "error":
                self._avoid(worker, f"it cannot load firststory ({future.exception()})")
            else:
                self._avoid(worker, HANGS)

    def _avoid_who_hangs(self, client: Client, keys: set[str]) -> None:
        """Of the workers that have pieces, those that do not answer either are left out of the next round."""
        if not self._living(client):
            raise self._useless("be there", f"none for {self._deadline:.0f} s")
        at_work = self._within(PING_SECONDS, client.processing)
        asked = {
            worker: self._submit(client, [worker], fingerprint)
            for worker, theirs in at_work.items()
            if not keys.isdisjoint(theirs)
        }
        with suppress(TimeoutError, CancelledError):
            _wait_for(client, asked.values(), PING_SECONDS)
        for worker, future in asked.items():
            if future.status != "finished":
                self._avoid(worker, HANGS)

    # -- the connection ------------------------------------------------------------------------------------

    def _connected(self) -> Client:
        if self._client is None or self._client.status != "running":
            raise _Lost
        return self._client

    def _reconnect(self, lost: Client | None) -> None:
        """A new connection in place of the one that was lost, unless another thread has made it already."""
        with self._lock:
            if self._client is lost:
                self._say("The scheduler of the cluster went away: waiting for it.")
                self._connect(max(self._deadline, CONNECT_SECONDS))

    def _connect(self, patience: float) -> None:
        """A new connection, with at least one worker behind it that is of use."""
        self._disconnect()
        give_up = time.monotonic() + patience
        while self._client is None:
            try:
                self._client = Client(
                    self._address,
                    timeout=CONNECT_SECONDS,
                    set_as_default=False,
                    name="firststory",
                    direct_to_workers=True,
                )
            except (OSError, TimeoutError) as error:
                if time.monotonic() >= give_up:
                    raise EngineError(
                        owner="engine",
                        parameter="the scheduler",
                        allowed="one that can be reached",
                        received=self._address,
                        remedy="Start it with: dask scheduler --host HOST --port 8786",
                        message=f"No dask scheduler answers at {self._address}.",
                    ) from error
                time.sleep(0.1)
        try:
            self._client.wait_for_workers(1, timeout=max(give_up - time.monotonic(), CONNECT_SECONDS))
        except TimeoutError as error:
            raise self._useless("be there", "none") from error
        self._avoided = {}
        self._check_workers(self._client)
        self._workers()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):  # it is of no use any more, whatever it says
                self._within(PING_SECONDS, lambda: client.close(timeout=2))

    def _within(self, seconds: float, ask: Callable[[], Value]) -> Value:
        """The answer, or `_Lost` where there is none in time: questions to a machine that hangs have no end."""
        answer: list[Value] = []
        problem: list[BaseException] = []

        def run() -> None:
            try:
                answer.append(ask())
            except BaseException as error:
                problem.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(seconds)
        if problem:
            raise problem[0]
        if not answer:
            raise _Lost
        return answer[0]

    def _useless(self, what: str, received: str) -> EngineError:
        return EngineError(
            owner="engine",
            parameter="the workers",
            allowed=f"able to {what}",
            received=received,
            remedy=f"Start workers with this firststory and the same packages: dask worker {self._address}",
            message=f"The cluster at {self._address} has no worker that can {what} ({received}).",
        )

    def close(self) -> None:
        self._disconnect()
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            cluster.close(timeout=10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _wait_for(client: Client, futures: Iterable[Any], seconds: float) -> None:
    """Until all are done; `TimeoutError` after so many seconds. Nobody is asked: it is known here what is done."""
    with client.as_current():
        wait(list(futures), timeout=seconds)
