"""Pushes that come at once share a transaction; each is answered only when its own documents are on the disk."""

from __future__ import annotations

import asyncio
import threading

import pytest

from firststory.serve import intake
from firststory.serve.intake import Intake


class Disk:
    """Keeps what it is given once it is let."""

    def __init__(self):
        self.kept, self.transactions, self.free, self.problem = [], 0, threading.Event(), None
        self.asked = threading.Event()

    def keep(self, documents):
        self.asked.set()
        assert self.free.wait(30)
        if self.problem is not None:
            raise self.problem
        self.transactions += 1
        self.kept += documents


def test_requests_at_once_share_a_transaction_and_keep_their_order():
    async def scenario():
        disk = Disk()
        taking = Intake(disk.keep)
        pushes = [asyncio.ensure_future(taking.add(["0a", "0b"]))]
        await asyncio.to_thread(disk.asked.wait, 30)
        pushes += [asyncio.ensure_future(taking.add([f"{n}a", f"{n}b"])) for n in range(1, 10)]
        await asyncio.sleep(0)
        assert not any(push.done() for push in pushes) and taking.size == 18
        disk.free.set()
        await asyncio.gather(*pushes)
        assert disk.kept == [f"{n}{letter}" for n in range(10) for letter in "ab"]
        assert disk.transactions == 2  # the first was under way when the others came

    asyncio.run(scenario())


def test_a_full_disk_is_told_to_everyone_who_waited_and_the_next_are_tried_again():
    async def scenario():
        disk = Disk()
        disk.free.set()
        disk.problem = OSError("full")
        taking = Intake(disk.keep)
        told = await asyncio.gather(*(taking.add([str(n)]) for n in range(3)), return_exceptions=True)
        assert [str(one) for one in told] == ["full"] * 3
        disk.problem = None
        await taking.add(["again"])
        assert disk.kept == ["again"]

    asyncio.run(scenario())


def test_a_transaction_has_a_bound(monkeypatch):
    monkeypatch.setattr(intake, "MOST_AT_ONCE", 4)

    async def scenario():
        disk = Disk()
        disk.free.set()
        taking = Intake(disk.keep)
        await asyncio.gather(*(taking.add(["x"] * 3) for _ in range(4)))
        assert disk.transactions == 4 and len(disk.kept) == 12

    asyncio.run(scenario())


def test_whoever_goes_away_does_not_hold_the_others_up():
    async def scenario():
        disk = Disk()
        taking = Intake(disk.keep)
        pushes = [asyncio.ensure_future(taking.add([str(n)])) for n in range(3)]
        await asyncio.to_thread(disk.asked.wait, 30)
        pushes[1].cancel()
        disk.free.set()
        await asyncio.gather(pushes[0], pushes[2])
        with pytest.raises(asyncio.CancelledError):
            await pushes[1]
        assert disk.kept == ["0", "1", "2"]

    asyncio.run(scenario())
