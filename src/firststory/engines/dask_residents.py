"""Objects that live on the workers of a cluster: one actor a worker holds many, and we say which.

dask is trusted with messages only. Who has what is our own map; an object whose worker died, hangs or was never told
of it is lost, and its owner places it anew on those that are left.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from firststory.engines.worker import differences, fingerprint, writable

if TYPE_CHECKING:
    from firststory.engines.dask_cluster import DaskEngine

PER_WORKER = 2
"""Objects for each worker: when one is lost, the others share what it had."""

WAIT_SECONDS = 0.25
"""Between two looks at who is alive."""


class Host:
    """The objects of one worker."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, int], Any] = {}
        self.fingerprint = fingerprint()

    def who(self) -> dict[str, str]:
        """What decides the bits of a result here."""
        return self.fingerprint

    def place(self, name: str, load: Callable[[Any], Any], states: Mapping[int, Any]) -> list[int]:
        """Make objects; answers their numbers."""
        for number, state in states.items():
            self._held[name, number] = load(writable(state))
        return list(states)

    def ask(self, name: str, call: Callable[[Any, Any, Any], Any], own: Mapping[int, Any], shared: Any) -> Any:
        """What each that is here answers."""
        shared = writable(shared)
        return {n: call(self._held[name, n], writable(own[n]), shared) for n in own if (name, n) in self._held}

    def forget(self, name: str) -> None:
        """Let go of a group of objects."""
        for key in [key for key in self._held if key[0] == name]:
            del self._held[key]


class DaskResidents:
    """Objects on the workers of a `DaskEngine`, as `Residents` has them."""

    _names = itertools.count()

    def __init__(self, engine: DaskEngine, load: Callable[[Any], Any], call: Callable[[Any, Any, Any], Any]) -> None:
        self._engine, self._load, self._call = engine, load, call
        self._name = f"{engine.id}-{next(self._names)}"
        self._hosts: dict[str, Any] = {}
        self._owner: dict[int, str] = {}
        self.n_wanted = PER_WORKER * max(1, engine.n_workers)

    def place(self, states: Mapping[int, Any]) -> None:
        """Each with the worker that has fewest; what cannot be placed is lost, and comes again."""
        for number in states:
            self._owner.pop(number, None)
        workers = self._engine.useful_workers()
        self._hosts = {worker: host for worker, host in self._hosts.items() if worker in workers}
        for worker in workers:
            if worker not in self._hosts:
                self._settle_host(worker)
        if not self._hosts:
            return
        shares: dict[str, dict[int, Any]] = {worker: {} for worker in self._hosts}
        for number, state in states.items():
            loads = {w: len(shares[w]) + sum(owner == w for owner in self._owner.values()) for w in self._hosts}
            shares[min(sorted(loads), key=loads.__getitem__)][number] = state
        calls = {
            worker: (self._hosts[worker], "place", (self._name, self._load, share))
            for worker, share in shares.items()
            if share
        }
        for worker, placed in self._together(calls).items():
            self._owner |= dict.fromkeys(placed, worker)

    def ask(self, own: Mapping[int, Any], shared: Any) -> dict[int, Any]:
        shares: dict[str, dict[int, Any]] = {}
        for number, given in own.items():
            worker = self._owner.get(number)
            if worker is not None and worker in self._hosts:
                shares.setdefault(worker, {})[number] = given
        calls = {w: (self._hosts[w], "ask", (self._name, self._call, share, shared)) for w, share in shares.items()}
        return {number: answer for answers in self._together(calls).values() for number, answer in answers.items()}

    def _settle_host(self, worker: str) -> None:
        made = self._engine.make_actor(Host, worker)
        if made is None:
            return
        found = self._together({worker: (made, "who", ())}).get(worker)
        if found is None:
            return
        if problem := differences(fingerprint(), found):
            self._engine.avoid(worker, problem)
        else:
            self._hosts[worker] = made

    def _together(self, calls: Mapping[str, tuple[Any, str, tuple[Any, ...]]]) -> dict[str, Any]:
        """The answers of all workers that give one; the others are not asked again until they are proved to live."""
        waiting = {}
        for worker, (host, question, given) in calls.items():
            try:
                waiting[worker] = getattr(host, question)(*given)
            except (RuntimeError, OSError):  # dask knows already that it is gone: even a look at the actor says so
                self._hosts.pop(worker, None)
        answers: dict[str, Any] = {}
        give_up = time.monotonic() + self._engine.deadline
        while waiting:
            for worker in list(waiting):
                try:
                    answers[worker] = waiting[worker].result(timeout=WAIT_SECONDS)
                except TimeoutError:
                    continue
                except OSError:
                    self._hosts.pop(worker, None)
                del waiting[worker]
            if not waiting:
                break
            living = self._engine.living_workers()
            for worker in [worker for worker in waiting if worker not in living]:
                self._hosts.pop(worker, None)
                del waiting[worker]
            if waiting and time.monotonic() > give_up:
                for worker in waiting:
                    self._engine.avoid_hanging(worker)
                    self._hosts.pop(worker, None)
                break
        return answers

    def close(self) -> None:
        for host in self._hosts.values():
            with suppress(Exception):  # its worker may be gone
                host.forget(self._name).result(timeout=2)
        self._hosts, self._owner = {}, {}
