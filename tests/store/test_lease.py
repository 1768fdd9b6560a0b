"""A lease passes from one writer to another, and whoever lost it can write no more."""

from __future__ import annotations

import time

import pytest

from firststory.errors import StoreError
from firststory.records import Document, Step, Verdict
from firststory.store.lease import LeaseLost
from firststory.store.store import Store


def step(index):
    document = Document(id=f"d{index}", text="storm")
    return Step(index=index, verdicts=(Verdict(document=document, novelty=0.5, p_value=0.5, is_novel=False),))


def test_who_lost_the_lease_writes_nothing(new_store):
    url = new_store()
    with Store(url) as first, Store(url) as second:
        first.lease(0.0)  # it has run out at once, as that of a process that was stopped has in time
        first.write_step(step(0))  # nobody else wanted it
        first._lease._ended.set()  # asleep: it renews nothing
        wait_for_end(first)
        second.lease(60.0)
        with pytest.raises(LeaseLost, match="taken over"):
            first.write_step(step(1))
        second.write_step(step(1))
        assert first.last_step() == 1
        assert [verdict.document.id for verdict in second.verdicts()] == ["d0", "d1"]
        assert second.lease_holder().epoch == 2


def wait_for_end(store):
    while store.lease_holder().is_live():
        time.sleep(0.01)


def test_a_lease_that_is_held_keeps_others_out(new_store):
    url = new_store()
    with Store(url) as first:
        first.lease(60.0, owner="worker on host 1")
        with Store(url) as second:
            with pytest.raises(StoreError, match=r"Another run \(process worker on host\)"):
                second.lease(60.0)
            with pytest.raises(StoreError, match="is writing to this store"):
                second.claim()
            second.lease(60.0, dead=["worker on host 1"])  # known to have ended
            with pytest.raises(LeaseLost):
                first.write_step(step(0))
        assert not first.lease_holder().is_live()  # given back


def test_a_run_without_a_lease_ends_the_one_that_has_run_out(new_store):
    url = new_store()
    with Store(url) as asleep, Store(url) as run:
        asleep.lease(0.0)
        asleep._lease._ended.set()
        wait_for_end(asleep)
        run.claim()
        run.write_step(step(0))
        with pytest.raises(LeaseLost):
            asleep.write_step(step(1))


def test_a_lease_is_not_to_be_had_while_someone_writes_without(new_store):
    url = new_store()
    with Store(url) as run, Store(url) as other:
        run.claim()
        with pytest.raises(StoreError, match="is writing to this store"):
            other.lease(60.0)


def test_it_is_renewed_while_a_step_takes_longer_than_it_lasts(new_store):
    with Store(new_store()) as store:
        store.lease(0.3)
        first = store.lease_holder().until
        give_up = time.monotonic() + 30
        while store.lease_holder().until <= first + 0.3:
            assert time.monotonic() < give_up
            time.sleep(0.02)
        assert store.lease_holder().epoch == 1
