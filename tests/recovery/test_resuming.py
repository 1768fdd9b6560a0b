"""Where a run goes on: damaged models, and kills that come faster than a replay takes."""

from __future__ import annotations

import pytest
import zstandard
from sqlalchemy import select, update

from firststory.errors import StateError, StateVersionError
from firststory.pipeline import resuming, step
from firststory.pipeline.runner import Runner
from firststory.pipeline.step import StreamCore
from firststory.settings import load
from firststory.sources.files import read_all
from firststory.state import FORMAT, pack_state
from firststory.store import schema, states
from firststory.store.store import Store
from recovery.test_kills import write_stream


class Killed(BaseException):
    """As good as signal 9 for a store: nothing is saved after it."""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_stream(tmp_path_factory.mktemp("resuming") / "news.jsonl", 200, 30)


@pytest.fixture
def settings():
    return load({"detector": "neighbour", "language": "en", "step": 10, "topics": "none", "save_every": 4})


def run(url, settings, source, steps=None):
    """So many steps, then it stops as a killed run does; what was said."""
    said = []
    with Store(url) as store:
        runner = Runner(settings, store, said.append)
        stream = runner.run(read_all([source], store.positions(), print))
        if steps is None:
            list(stream)
        else:
            runner.save = lambda: None
            for _ in range(steps):
                next(stream)
    return said


def damage(url, how, which=0):
    """Change the saved models; `which`: the newest is 0."""
    with Store(url) as store, store._writing() as connection:
        step = store.saved_steps()[which]
        packed = connection.execute(select(schema.states.c.state).where(schema.states.c.step == step)).scalar_one()
        connection.execute(update(schema.states).where(schema.states.c.step == step).values(state=how(packed)))


def flipped(blob):
    middle = len(blob) // 2
    return blob[:middle] + bytes([blob[middle] ^ 0xFF]) + blob[middle + 1 :]


def newer(blob):
    unpacked, of_now = states.unpack(0, blob), b'"firststory":"%d ' % FORMAT
    assert of_now in unpacked
    return zstandard.ZstdCompressor().compress(unpacked.replace(of_now, b'"firststory":"%d ' % (FORMAT + 1)))


DAMAGES = {
    "flipped": flipped,
    "truncated": lambda blob: blob[: len(blob) // 2],
    "empty": lambda blob: b"",
    "other": lambda blob: b"\x80\x04\x95 cos\nsystem\n",
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_model_is_passed_over_for_the_one_before(new_store, settings, source, how):
    run(new_store("whole"), settings, source)
    run(new_store("cut"), settings, source, steps=14)
    damage(new_store("cut"), DAMAGES[how])
    said = run(new_store("cut"), settings, source)
    assert any("saved after step 11 is damaged" in one and "from the one after step 7." in one for one in said), said
    assert any("(6 steps replayed)" in one for one in said)
    with Store(new_store("whole")) as whole, Store(new_store("cut")) as cut:
        assert cut.dump(state=True) == whole.dump(state=True)


def test_where_both_are_damaged_everything_is_replayed(new_store, settings, source):
    run(new_store("whole"), settings, source)
    run(new_store("cut"), settings, source, steps=14)
    damage(new_store("cut"), flipped, 0)
    damage(new_store("cut"), flipped, 1)
    said = run(new_store("cut"), settings, source)
    assert any("All steps are replayed" in one for one in said) and any("(14 steps replayed)" in one for one in said)
    with Store(new_store("whole")) as whole, Store(new_store("cut")) as cut:
        assert cut.dump(state=True) == whole.dump(state=True)


def test_where_nothing_can_be_replayed_a_backup_is_asked_for(new_store, settings, source):
    run(new_store("a"), settings, source, steps=6)
    changed = load(settings.model() | {"save_every": 4, "budget": "10%"})
    run(new_store("a"), changed, source, steps=0)  # what came before was judged by another budget
    damage(new_store("a"), flipped)
    with pytest.raises(StateError, match=r"step 5 is damaged.*Restore a backup"):
        run(new_store("a"), changed, source)


def test_a_model_of_a_newer_version_is_never_passed_over(new_store, settings, source):
    run(new_store("a"), settings, source, steps=14)
    damage(new_store("a"), newer)
    with pytest.raises(StateVersionError, match=r"newer firststory.*pip install --upgrade"):
        run(new_store("a"), settings, source)


def test_models_of_an_earlier_version_are_made_anew_from_all_steps(new_store, settings, source, monkeypatch):
    run(new_store("whole"), settings, source)
    with monkeypatch.context() as before:
        before.setattr(step, "STATE_VERSION", step.STATE_VERSION - 1)
        run(new_store("a"), settings, source, steps=14)
    said = run(new_store("a"), settings, source)
    assert any("earlier version: all steps are replayed" in one for one in said), said
    assert not any("differently" in one for one in said)
    with Store(new_store("a"), read_only=True) as found, Store(new_store("whole"), read_only=True) as wanted:
        assert found.dump() == wanted.dump()


def test_a_model_with_parts_missing_is_damaged(new_store, settings, source):
    run(new_store("a"), settings, source, steps=9)
    with Store(new_store("a")) as store:
        state = Runner(settings, store).core.get_state()
        store.write_state(8, pack_state({key: value for key, value in state.items() if "/" not in key}))
    said = run(new_store("a"), settings, source)
    assert any("saved after step 8 is damaged" in one and "after step 7" in one for one in said), said


def test_kills_faster_than_the_replay_still_make_progress(new_store, settings, source, monkeypatch):
    """Each run is killed after so much work that a replay of everything would never end."""
    monkeypatch.setattr(resuming, "SAVE_AFTER", 3.0)
    monkeypatch.setattr(resuming, "WORTH_SAVING", 1.0)
    clock = iter(range(10**9))
    monkeypatch.setattr(resuming.time, "perf_counter", lambda: float(next(clock)))  # each step takes one second
    slow = load(settings.model() | {"save_every": 1000})
    run(new_store("a"), slow, source, steps=2)  # one long run would have to be replayed
    with Store(new_store("a")) as store, store._writing() as connection:
        connection.exec_driver_sql("DELETE FROM states")
    reached, attempts = [], 0
    step, left = StreamCore.step, 0

    def limited(*arguments, **options):
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return step(*arguments, **options)

    monkeypatch.setattr(StreamCore, "step", limited)
    while attempts < 40:
        attempts += 1
        left = 5  # fewer steps than the replay of the whole stream has
        try:
            run(new_store("a"), slow, source)
            break
        except Killed:
            with Store(new_store("a")) as store:
                reached.append((store.last_step(), *store.saved_steps()))
    assert attempts < 15, reached
    monkeypatch.undo()
    run(new_store("whole"), slow, source)
    with Store(new_store("whole")) as whole, Store(new_store("a")) as cut:
        assert cut.dump(state=True) == whole.dump(state=True)
