"""Steps that are written together, one core or two: the same store, the same promises, a moment later."""

from __future__ import annotations

from itertools import count

import pytest

from firststory.cli.interrupt import Interrupt
from firststory.pipeline import held_back, overlap
from firststory.pipeline.runner import Runner
from firststory.sources.files import are_whole, read_all
from firststory.store.setting_changes import ask_for
from firststory.store.store import Store
from pipeline.test_runner import reposted, run_to_end, write_news

KINDS = [
    {"step": 1},
    {"step": 7, "save_every": 8},
    {"step": 60},
    {"detector": "fused", "topics": "storylines", "topic_step": 50, "step": 10, "budget": "100/day"},
]


@pytest.fixture
def source(news, tmp_path):
    return write_news(news, tmp_path / "news.jsonl")


@pytest.fixture
def groups(monkeypatch):
    """How many steps each transaction had; none waits for its time to be up."""
    write, found = Store.write_steps, []

    def counted(self, judged):
        found.append(len(judged))
        return write(self, judged)

    monkeypatch.setattr(Store, "write_steps", counted)
    for module in (held_back, overlap):
        monkeypatch.setattr(module, "SECONDS", 1e9)
    return found


def run_together(settings, url, source):
    with Store(url) as store:
        steps = list(Runner(settings, store).run(read_all([str(source)], store.positions(), print), never_wait=True))
        assert [step.index for step in steps] == list(range(len(steps)))
        return store.dump(state=True)


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_the_store_is_the_same_as_step_by_step(source, new_store, quick, changes, groups):
    whole = run_to_end(quick(**changes), new_store("whole"), source)
    assert set(groups) == {1}
    groups.clear()
    assert run_together(quick(**changes), new_store("together"), source) == whole
    assert 1 < max(groups) <= held_back.STEPS


def test_texts_and_ids_are_known_while_their_steps_are_held_back(news, tmp_path, new_store, quick, groups):
    """With a window of 5 the core has forgotten them, and the store has not got them yet."""
    source = tmp_path / "again.jsonl"
    reposted(news[:8], source)
    lines = source.read_text().splitlines()
    source.write_text("\n".join([*lines, *lines[2:6], *lines]) + "\n")
    settings = quick(window=5, step=4, budget="100%", save_every=100)
    whole = run_to_end(settings, new_store("whole"), source)
    assert run_together(settings, new_store("together"), source) == whole
    assert max(groups) > 5


def test_a_step_is_handed_out_when_it_is_safe(source, new_store, quick, groups):
    with Store(new_store()) as store:
        runner = Runner(quick(step=10, save_every=100), store)
        for step in runner.run(read_all([str(source)], {}, print), never_wait=True):
            assert store.last_step() >= step.index


def test_so_many_documents_are_not_held_back(source, new_store, quick, groups, monkeypatch):
    monkeypatch.setattr(held_back, "DOCUMENTS", 40)
    run_together(quick(save_every=100), new_store(), source)
    assert set(groups[:-1]) == {2}


def test_no_step_is_held_back_for_long(source, new_store, quick, groups, monkeypatch):
    monkeypatch.setattr(held_back, "SECONDS", 0.0)
    run_together(quick(save_every=100), new_store(), source)
    assert set(groups) == {1}


def test_a_copy_of_the_model_is_not_held_back(source, new_store, quick, groups):
    run_together(quick(step=5, save_every=4), new_store(), source)
    assert groups[0] == 4


def stopped(arrivals, problem):
    yield from arrivals
    raise problem


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ZeroDivisionError])
def test_what_was_judged_before_the_arrivals_stopped_is_written_and_handed_out(
    arrivals, new_store, quick, groups, problem
):
    handed = []
    with Store(new_store()) as store:
        with pytest.raises(problem):
            for step in Runner(quick(save_every=100), store).run(stopped(arrivals[:90], problem), never_wait=True):
                handed.append(step.index)  # noqa: PERF401 - it ends with an error
        assert handed == [0, 1, 2, 3] and store.last_step() == 3 and store.saved_steps() == [3]
    assert groups == [4]


def test_ctrl_c_between_two_documents(arrivals, new_store, quick, groups):
    interrupt = Interrupt(0)

    def stream():
        for n, arrival in enumerate(arrivals):
            interrupt.wanted = n == 70
            yield arrival

    handed = []
    with Store(new_store()) as store:
        with pytest.raises(KeyboardInterrupt):
            for step in Runner(quick(save_every=100), store).run(
                interrupt.until_wanted(stream(), flush=False), never_wait=True
            ):
                handed.append(step.index)  # noqa: PERF401 - it ends with an error
        assert handed == [0, 1, 2] and store.last_step() == 2


@pytest.mark.parametrize("half", ["judge", "place"])
def test_a_step_that_fails_is_not_saved_and_those_before_it_are_written(source, new_store, quick, groups, half):
    whole = run_to_end(quick(save_every=100), new_store("whole"), source)
    handed = []
    with Store(new_store("a")) as store:
        runner = Runner(quick(save_every=100), store)
        take, calls = getattr(runner.core, half), count()
        setattr(runner.core, half, lambda *about: take(*about) if next(calls) < 5 else 1 / 0)
        with pytest.raises(ZeroDivisionError):
            for step in runner.run(read_all([str(source)], {}, print), never_wait=True):
                handed.append(step.index)  # noqa: PERF401 - it ends with an error
        assert handed == list(range(5)) and store.last_step() == 4 and store.last_state() is None
    found = run_to_end(quick(save_every=100), new_store("a"), source)
    assert found == whole


def test_closed_in_the_midst_of_steps_that_were_written_together(source, new_store, quick, groups):
    with Store(new_store()) as store:
        steps = Runner(quick(step=5, save_every=100), store).run(read_all([str(source)], {}, print), never_wait=True)
        assert next(steps).index == 0
        steps.close()
        assert store.last_step() == held_back.STEPS - 1 == store.saved_steps()[0]


def test_settings_that_someone_asks_for_wait_for_the_steps_before(arrivals, new_store, quick, groups):
    def stream(store):
        for n, arrival in enumerate(arrivals):
            if n == 110:
                ask_for(store, {"budget": "10%"})
            yield arrival

    with Store(new_store()) as store:
        steps = list(Runner(quick(budget="30%", save_every=100), store).run(stream(store), never_wait=True))
        assert [step.index for step in steps] == list(range(10))
        assert store.settings()["budget"] == "10%" and store.replayable_from() == 4
    assert groups == [5, 5]
    with Store(new_store("store0")) as store:  # and it resumes from there
        said = []
        Runner(quick(budget="10%", save_every=100), store, said.append)
        assert not any("differently" in one for one in said)


def test_the_writer_waits_for_more_while_more_is_at_hand(arrivals, new_store, quick, groups):
    with Store(new_store("whole")) as store:
        list(Runner(quick(step=1, save_every=1000), store).run(iter(arrivals)))
        whole = store.dump(state=True)
    groups.clear()
    with Store(new_store("together")) as store:
        list(Runner(quick(step=1, save_every=1000), store).run_overlapped(iter(arrivals)))
        assert store.dump(state=True) == whole
    assert 1 < max(groups) <= overlap.MAX_UNWRITTEN


def test_pipes_and_standard_input_may_keep_one_waiting(tmp_path):
    (tmp_path / "news.jsonl").write_text("{}\n")
    names = [str(tmp_path / "news.jsonl")]
    assert are_whole(names)
    assert not are_whole([*names, "-"]) and not are_whole(["/dev/null"])
