"""The loop and the store together: an interrupted run equals an uninterrupted one, byte for byte."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import islice

import pytest

from firststory.errors import ParameterError
from firststory.pipeline.fingerprints import text_fingerprints
from firststory.pipeline.runner import Runner
from firststory.sources.files import read_all
from firststory.store.store import Store


def write_news(news, path):
    lines = [
        json.dumps({"id": d.id, "text": d.text, "time": d.time.isoformat(), "title": d.title, "source": d.source})
        for d in news
    ]
    # Some of the input is bad, some comes twice: that is part of what must come out the same.
    lines[30:30] = ["{broken", lines[3], '{"id": "x"}']
    path.write_text("\n".join(lines) + "\n")
    return path


def run_to_end(settings, store_path, source):
    with Store(store_path) as store:
        runner = Runner(settings, store)
        for _ in runner.run(read_all([str(source)], store.positions(), print)):
            pass
        return store.dump(state=True)


@pytest.fixture
def source(news, tmp_path):
    return write_news(news, tmp_path / "news.jsonl")


@pytest.mark.parametrize(
    "changes", [{}, {"step": "2d"}, {"topics": "nmf", "step": 60}, {"topics": "storylines", "topic_step": 50}], ids=str
)
def test_a_run_that_is_cut_anywhere_and_resumed_leaves_the_same_store(source, new_store, quick, changes):
    settings = quick(**changes)
    whole = run_to_end(settings, new_store("whole"), source)
    dice = random.Random(4)
    attempts = 0
    while attempts < 60:
        attempts += 1
        with Store(new_store("cut")) as store:
            runner = Runner(settings, store)
            stop_after = dice.choice((1, 2, 4))
            done = True
            # Leaving the generator where it stands, without close, is what a killed process does.
            runner.save = lambda: None
            for number, _ in enumerate(runner.run(read_all([str(source)], store.positions(), print)), 1):
                if number == stop_after:
                    done = False
                    break
        if done:
            break
    assert attempts > 2
    with Store(new_store("cut")) as store:
        cut = store.dump()
    whole.pop("states")
    assert cut == whole


def reposted(news, path):
    """The stream, and then all its texts again under new ids, shouted."""
    again = [replace(d, id=f"again-{d.id}", text=d.text.upper(), title=None) for d in news]
    lines = [json.dumps({"id": d.id, "text": d.text, "time": d.time.isoformat()}) for d in (*news, *again)]
    path.write_text("\n".join(lines) + "\n")
    return {d.id for d in again}


def test_a_text_that_comes_again_after_it_was_forgotten_is_known_by_the_store(news, tmp_path, new_store, quick):
    again = reposted(news, tmp_path / "again.jsonl")
    # More than a step remembers: nearly all re-posted texts have left the memory when they come again.
    settings = quick(window=30, step=10, budget="100%")
    run_to_end(settings, new_store("a"), tmp_path / "again.jsonl")
    with Store(new_store("a")) as store:
        verdicts = {v.document.id: v for v in store.verdicts()}
    assert len(verdicts) == 2 * len(news)
    for name in again:
        assert not verdicts[name].is_novel and verdicts[name].evidence.kind == "duplicate"
        original = verdicts[verdicts[name].duplicate_of].document
        assert text_fingerprints(original).whole == text_fingerprints(verdicts[name].document).whole


def test_texts_known_by_the_store_are_the_same_after_a_replay(news, tmp_path, new_store, quick):
    source = tmp_path / "again.jsonl"
    reposted(news[:60], source)
    settings = quick(window=20, step=10, save_every=5)
    whole = run_to_end(settings, new_store("whole"), source)
    said = []
    for _ in range(20):
        with Store(new_store("cut")) as store:
            runner = Runner(settings, store, said.append)
            runner.save = lambda: None
            if sum(1 for _ in islice(runner.run(read_all([str(source)], store.positions(), print)), 3)) < 3:
                break
    with Store(new_store("cut")) as store:
        cut = store.dump()
    whole.pop("states")
    assert cut == whole and not any("differently" in one for one in said)
    assert any("steps replayed" in one and "(0 steps" not in one for one in said)


KILLED_AT_A_STATEMENT = """
import os, signal, sys
from sqlalchemy import event
from sqlalchemy.engine import Engine

left = int(sys.argv.pop(1))

def count(*_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

@event.listens_for(Engine, "connect")
def connect(connection, record):
    if hasattr(connection, "set_trace_callback"):  # SQLite, also of what goes past SQLAlchemy
        connection.set_trace_callback(count)

@event.listens_for(Engine, "before_cursor_execute")
def execute(connection, *_):
    if connection.dialect.name != "sqlite":
        count()

from firststory.cli.main import main

main()
"""


def run_command(settings, store_path, source, statements):
    """Run the command, killed with signal 9 before statement number `statements`; 0: not killed."""
    names = ("detector", "language", "step", "topics", "save_every")
    options = [part for name in names for part in ("--" + name.replace("_", "-"), str(getattr(settings, name)))]
    command = ["run", str(source), "--store", store_path, *options]
    return subprocess.run(
        [sys.executable, "-c", KILLED_AT_A_STATEMENT, str(statements), *command], capture_output=True, text=True
    )


def kill_until_done(settings, store_path, source, dice, kills):
    """Start the command again and again, killed up to `kills` times, most often in the middle of a transaction."""
    killed = 0
    while True:
        done = run_command(settings, store_path, source, dice.randint(50, 400) if killed < kills else 0)
        if done.returncode == 0:
            return killed
        assert done.returncode == -signal.SIGKILL, done.stderr
        killed += 1


def compare_killed(news, tmp_path, new_store, quick, kills, seed, **changes):
    source = write_news(news, tmp_path / "news.jsonl")
    settings = quick(**changes)
    whole = run_to_end(settings, new_store("whole"), source)
    killed = kill_until_done(settings, new_store("cut"), source, random.Random(seed), kills)
    assert killed == kills
    with Store(new_store("cut")) as store:
        assert store.dump(state=True) == whole


def test_killed_with_9_and_run_again(news, tmp_path, new_store, quick):
    compare_killed(news, tmp_path, new_store, quick, kills=2, seed=1, step=1, save_every=40)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_killed_with_9_many_times(tmp_path, new_store, quick, seed):
    from firststory.datasets import make_story_stream

    news = make_story_stream(2000, 200, duplicates=0.1).documents
    compare_killed(news, tmp_path, new_store, quick, kills=10, seed=seed, step=3, save_every=25, topics="nmf")


def test_running_again_on_a_grown_file_takes_only_the_new(source, new_store, quick):
    run_to_end(quick(), new_store("a"), source)
    with source.open("a") as file:
        file.write('{"id": "late-one", "text": "Comet sighted over Tromso"}\n')
    with Store(new_store("a")) as store:
        steps = list(Runner(quick(), store).run(read_all([str(source)], store.positions(), print)))
        assert [v.document.id for step in steps for v in step.verdicts] == ["late-one"]
        assert store.status()["counts"]["redelivered"] == 1


def test_a_source_that_is_read_again_from_its_start_adds_nothing(source, new_store, quick):
    run_to_end(quick(), new_store("a"), source)
    with Store(new_store("a")) as store:
        before = store.status()["documents"]
        for _ in Runner(quick(window=50_000), store).run(read_all([str(source)], {}, print)):
            pass
        assert store.status()["documents"] == before


def test_a_store_keeps_to_its_model_settings(source, new_store, quick):
    run_to_end(quick(), new_store("a"), source)
    with Store(new_store("a")) as store, pytest.raises(ParameterError, match="Leave --step out"):
        Runner(quick(step=21), store)


def test_without_a_store_nothing_is_kept_and_the_verdicts_are_the_same(source, new_store, quick):
    kept = run_to_end(quick(), new_store("a"), source)
    steps = list(Runner(quick()).run(read_all([str(source)], {}, print)))
    assert [v.novelty for step in steps for v in step.verdicts] == [row[1] for row in kept["verdicts"]]


def test_a_step_that_fails_half_way_is_not_saved(source, new_store, quick, monkeypatch):
    with Store(new_store("a")) as store:
        runner = Runner(quick(), store)
        steps = runner.run(read_all([str(source)], {}, print))
        next(steps)
        monkeypatch.setattr(runner.core.parts.gate, "judge", lambda *a: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            next(steps)
        assert store.last_state() is None and store.last_step() == 0
    whole = run_to_end(quick(), new_store("whole"), source)
    assert run_to_end(quick(), new_store("a"), source) == whole


def test_a_change_of_budget_survives_a_kill_before_the_model_was_saved_again(source, new_store, quick):
    def take(path, settings, steps):
        with Store(path) as store:
            runner = Runner(settings, store)
            runner.save = lambda: None
            stream = runner.run(read_all([str(source)], store.positions(), print))
            for _ in range(steps):
                next(stream)

    for name, cuts in (("whole", [(3, "20/day"), (5, "10%")]), ("cut", [(3, "20/day"), (2, "10%"), (3, "10%")])):
        for steps, budget in cuts:
            take(new_store(name), quick(budget=budget, save_every=100), steps)
    with Store(new_store("whole")) as whole, Store(new_store("cut")) as cut:
        assert whole.dump() == cut.dump()
        assert whole.settings()["budget"] == "10%"
