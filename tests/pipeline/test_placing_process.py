"""Placing documents in a process of its own: the same store, byte for byte, and the same promises."""

from __future__ import annotations

import json
import mmap
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from firststory.engines.opening import open_engine
from firststory.errors import EngineError, StoreError
from firststory.kernels import preparing
from firststory.pipeline.build import build_core
from firststory.pipeline.placing_process import PlacingProcess
from firststory.pipeline.runner import Runner
from firststory.pipeline.step import StreamCore
from firststory.records import Batch, Document
from firststory.sources.files import read_all
from firststory.store.setting_changes import ask_for
from firststory.store.store import Store
from pipeline.test_pruning import stream
from pipeline.test_runner import reposted, run_to_end, write_news

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied here")
KINDS = [
    {},
    {"step": "2d"},
    {"detector": "fused", "topics": "storylines", "topic_step": 50, "step": 10, "budget": "100/day"},
    {"detector": "l1", "step": 30, "topics": "storylines"},
    {"detector": "fused", "step": 1, "save_every": 20},
]


@pytest.fixture
def source(news, tmp_path):
    return write_news(news, tmp_path / "news.jsonl")


@pytest.fixture
def processes(monkeypatch):
    """Those that were started."""
    begin, found = PlacingProcess.__init__, []

    def begun(self, core):
        begin(self, core)
        found.append(self)

    monkeypatch.setattr(PlacingProcess, "__init__", begun)
    return found


def is_there(process):
    with suppress(ProcessLookupError):
        os.kill(process._process, 0)
        return True
    return False


def steps_of(runner, store, source, is_wanted=lambda: True):
    with runner.placing_beside():
        yield from runner.run_overlapped(read_all([str(source)], store.positions(), print), is_wanted)


def beside(settings, url, source):
    with Store(url) as store:
        steps = list(steps_of(Runner(settings, store), store, source))
        assert [step.index for step in steps] == list(range(len(steps)))
        return store.dump(state=True)


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_the_store_is_the_same_as_in_turn(source, new_store, quick, changes, processes):
    whole = run_to_end(quick(**changes), new_store("whole"), source)
    assert beside(quick(**changes), new_store("beside"), source) == whole
    (process,) = processes
    assert not is_there(process)


def test_the_steps_are_the_same_with_their_evidence(arrivals, quick, processes):
    settings = quick(detector="fused", topics="storylines", topic_step=50)
    in_turn, runner = list(Runner(settings).run(iter(arrivals))), Runner(settings)
    with runner.placing_beside():
        assert list(runner.run_overlapped(iter(arrivals))) == in_turn
    assert processes


def test_texts_that_came_before_are_known(news, tmp_path, new_store, quick):
    """With a window of 5 the core has forgotten them, and the store may not have got them yet."""
    source = tmp_path / "again.jsonl"
    reposted(news[:8], source)
    lines = source.read_text().splitlines()
    source.write_text("\n".join([*lines, *lines[2:6], *lines]) + "\n")
    settings = quick(window=5, step=4, budget="100%")
    assert beside(settings, new_store("beside"), source) == run_to_end(settings, new_store("whole"), source)


@pytest.mark.parametrize("changes", [{"topics": "nmf", "topic_step": 40}, {"engine": "serial"}], ids=str)
def test_where_the_halves_share_something_there_is_one_process(source, new_store, quick, changes, processes):
    settings = quick(detector="fused", **changes)
    with Store(new_store("a")) as store:
        engine = None if settings.engine == "none" else open_engine(settings.engine, print).__enter__()
        runner = Runner(settings, store, engine=engine)
        assert len(list(steps_of(runner, store, source))) == store.last_step() + 1 > 5
    assert not processes


def test_the_vocabulary_is_pruned_in_both(tmp_path, new_store, quick, processes):
    source = tmp_path / "words.jsonl"
    lines = [json.dumps({"id": one.id, "text": one.text, "time": one.time.isoformat()}) for one in stream(600)]
    source.write_text("\n".join(lines))
    settings = quick(detector="fused-words", topics="storylines", window=60, max_terms=500, step=30)
    whole = run_to_end(settings, new_store("whole"), source)
    with Store(new_store("beside")) as store:
        runner = Runner(settings, store)
        list(steps_of(runner, store, source))
        assert runner.core.parts.vectorizer.prunings_
        assert store.dump(state=True) == whole


def test_settings_that_someone_asks_for_reach_both_halves(arrivals, new_store, quick):
    def asking(store):
        for n, arrival in enumerate(arrivals):
            if n == 150:
                ask_for(store, {"budget": "10%", "false_alerts": 3.0})
            yield arrival

    settings = quick(budget="30%", save_every=100)
    with Store(new_store("a")) as store:
        runner = Runner(settings, store)
        with runner.placing_beside():
            steps = list(runner.run_overlapped(asking(store)))
        assert store.settings()["budget"] == "10%" and len(steps) == 10
        assert 0 <= store.replayable_from() <= 9
    with Store(new_store("a")) as store:  # and it resumes from there
        said = []
        resumed = Runner(quick(budget="10%", false_alerts=3.0, save_every=100), store, said.append)
        assert not any("differently" in one for one in said)
        assert resumed.core.status()["alerts"]["false_alerts"] == 3.0
        assert resumed.core.status()["alerts"]["ceiling"] == "10%"


def test_marks_are_applied(arrivals, new_store, quick):
    with Store(new_store("a")) as store:
        list(Runner(quick(budget="30%"), store).run(iter(arrivals[:60])))
        name = next(v.document.id for v in store.verdicts() if v.is_novel)
        store.add_feedback(name, True)
        runner = Runner(quick(budget="30%"), store)
        with runner.placing_beside():
            list(runner.run_overlapped(iter(arrivals[60:])))
        assert [row["step"] for row in store.feedback()] == [3]


def test_one_that_is_killed_ends_the_run_and_the_next_goes_on(source, new_store, quick, processes):
    settings = quick(detector="fused", step=5, topics="storylines")
    whole = run_to_end(settings, new_store("whole"), source)
    with Store(new_store("cut")) as store:
        steps = steps_of(Runner(settings, store), store, source)
        next(steps)
        processes[0].kill()
        with pytest.raises(EngineError, match=r"ended unasked.*Run again"):
            list(steps)
        assert 0 <= store.last_step() < len(whole["steps"]) - 1
    with Store(new_store("cut")) as store:
        list(steps_of(Runner(settings, store), store, source))
        cut = store.dump()
    whole.pop("states")
    assert cut == whole


def test_one_that_fails_tells_why_and_where(source, new_store, quick, processes, monkeypatch):
    place = StreamCore.place
    monkeypatch.setattr(StreamCore, "place", lambda self, one: place(self, one) if one.batch.index < 5 else 1 / 0)
    with Store(new_store("a")) as store:
        with pytest.raises(RuntimeError, match="ZeroDivisionError: division by zero") as caught:
            list(steps_of(Runner(quick(save_every=100), store), store, source))
        assert "in _do" in caught.value.__notes__[0]
        assert store.last_step() == 4 and store.last_state() is None
    monkeypatch.undo()
    assert not is_there(processes[0])


def test_once_no_more_is_wanted_it_ends_and_the_next_run_goes_on(source, new_store, quick, processes):
    whole = run_to_end(quick(), new_store("whole"), source)
    handed = []
    for _ in range(12):
        with Store(new_store("cut")) as store:
            wanted = [True]
            for step in steps_of(Runner(quick(), store), store, source, lambda wanted=wanted: wanted[0]):
                handed.append(step.index)
                wanted[0] = False
            assert store.last_step() < 0 or store.saved_steps()[0] == store.last_step()
            if wanted[0]:
                break
    assert handed == list(range(len(whole["steps"]))) and len(processes) > 1
    with Store(new_store("cut")) as store:
        cut = store.dump()
    whole.pop("states")
    assert cut == whole


def test_an_iterator_that_is_closed_leaves_whole_steps_the_model_and_no_process(source, new_store, quick, processes):
    with Store(new_store("cut")) as store:
        runner = Runner(quick(), store)
        steps = steps_of(runner, store, source)
        next(steps)
        steps.close()
        assert store.saved_steps()[0] == store.last_step() >= 0
        assert not is_there(processes[0])
        with pytest.raises(StoreError, match="Make another Runner"):
            next(runner.run(iter(())))
        runner.save()  # half of a model is none
        assert store.saved_steps()[0] == store.last_step()


def test_the_other_process_ends_with_this_one(quick):
    """Killed before it can end anything: the one that it has started is killed too."""
    reading, writing = os.pipe()
    parent = os.fork()
    if not parent:
        process = PlacingProcess(build_core(quick()))
        os.write(writing, str(process._process).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(parent, 0)
    child = int(os.read(reading, 20))
    os.close(reading)
    os.close(writing)
    # It is nobody's child here: wait until the system has buried it.
    for _ in range(100_000):
        try:
            if Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (FileNotFoundError, ProcessLookupError):
            return
    pytest.fail("it lives on")


def test_the_copied_process_has_none_of_the_files_of_the_first(quick, tmp_path):
    with (tmp_path / "lock").open("w") as lock:
        process = PlacingProcess(build_core(quick()))
        assert process.columns() is not None  # it has begun
        files = [str(one.readlink()) for one in Path(f"/proc/{process._process}/fd").iterdir()]
        assert lock.name not in files and sum(name.startswith("socket:") for name in files) == 1
        process.close()


def test_the_first_steps_compile_there_and_tell_here(quick, monkeypatch, news):
    place = StreamCore.place

    def slow(self, judged):
        preparing.tell(True)
        preparing.tell(False)
        return place(self, judged)

    monkeypatch.setattr(StreamCore, "place", slow)
    core, heard = build_core(quick()), []
    process = PlacingProcess(core)
    with preparing.listening(heard.append):
        judged = core.judge(Batch(0, tuple(news[:20])))
        process.begin(judged)
        placed, seconds = process.placed(judged)
    process.close()
    assert heard[:2] == [True, False] and placed.stories and seconds > 0.0


def test_no_batch_waits_for_those_before_it_to_be_placed(quick, monkeypatch, news):
    """Together they are several times what a pipe holds, and nothing is placed before all were handed over."""
    place, may_place = StreamCore.place, mmap.mmap(-1, 1)  # both processes see it

    def late(self, judged):
        while not may_place[0]:
            os.sched_yield()
        return place(self, judged)

    monkeypatch.setattr(StreamCore, "place", late)
    core = build_core(quick())
    process = PlacingProcess(core)
    long = [Document(f"long {n}", f"{one.text} " * 4000) for n, one in enumerate(news[:8])]
    batches = [core.judge(Batch(index, (one,))) for index, one in enumerate(long)]
    handing = threading.Thread(target=lambda: [process.begin(judged) for judged in batches], daemon=True)
    handing.start()
    handing.join(60)
    is_handed_over = not handing.is_alive()
    may_place[0] = 1
    placed = [process.placed(judged)[0] for judged in batches]
    process.close()
    assert is_handed_over and len(placed) == len(batches) and placed[0].stories
