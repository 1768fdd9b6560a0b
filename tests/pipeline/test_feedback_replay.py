"""Feedback reaches the next step, survives a crash, and taken back it leaves no trace."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from firststory.cli.application import build
from firststory.pipeline.runner import Runner
from firststory.state import pack_state
from firststory.store.store import Store


def novel_ids(steps):
    return [verdict.document.id for step in steps for verdict in step.verdicts if verdict.is_novel]


def test_marks_move_the_bar_and_a_replay_moves_it_at_the_same_step(new_store, quick, arrivals):
    settings = quick(save_every=1000, budget="30%")  # no state is saved on the way: resuming replays everything
    with Store(new_store("a")) as store:
        runner = Runner(settings, store)
        steps = runner.run(iter(arrivals))
        alerts = novel_ids([next(steps), next(steps)])
        for name in alerts[:4]:
            store.add_feedback(name, useful=False)
        list(steps)
        assert runner.core.parts.gate.keeper.strictness < 1.0
        assert any("not useful" in record.reason for record in runner.core.parts.gate.keeper.history())
        assert store.pending_feedback() == () and {row["step"] for row in store.feedback()} == {2}
        told = pack_state(runner.core.get_state())
        with store._writing() as connection:  # as after a kill before the first save
            connection.exec_driver_sql("DELETE FROM states")
    with Store(new_store("a")) as store:
        assert pack_state(Runner(settings, store).core.get_state()) == told


def test_a_mark_taken_back_leaves_the_same_strictness(quick, arrivals):
    runner = Runner(quick(budget="30%"))
    alerts = novel_ids(runner.run(iter(arrivals[:60])))
    before = runner.core.parts.feedback.get_state()
    runner.core.apply_feedback([(alerts[0], False), (alerts[0], None)])
    assert runner.core.parts.feedback.get_state() == before
    assert runner.core.parts.gate.keeper.strictness == 1.0


def test_the_reasons_of_a_store_tell_of_feedback_and_of_another_budget(tmp_path, quick, arrivals):
    url = str(tmp_path / "a.db")
    with Store(url) as store:
        steps = Runner(quick(budget="30%"), store).run(iter(arrivals[:120]))
        alerts = novel_ids([next(steps), next(steps)])
        for name in alerts[:4]:
            store.add_feedback(name, useful=False)
        list(steps)
    with Store(url) as store:
        list(Runner(quick(budget="0.7"), store).run(iter(arrivals[120:])))
        reasons = {row["step"]: row["reason"] for row in store.thresholds(100)}
        bars = {row["step"]: row["threshold"] for row in store.thresholds(100)}
    assert reasons[2].startswith("4 marks (4 not useful). 0 of 4 marked verdicts were useful: ")
    assert [step for step, reason in reasons.items() if "marks" in reason] == [2]
    assert reasons[6].startswith("the budget was changed from 30% to 0.7; the threshold is fixed at 0.7, moved by")
    assert "changed" not in reasons[7] and bars[7] > 0.7
    shown = CliRunner().invoke(build(("status",)), ["status", "--store", url]).stdout
    assert "0 of 4 marked verdicts were useful: the threshold is now 0.7127 in place of 0.7" in shown
    told = json.loads(CliRunner().invoke(build(("status",)), ["status", "--json", "--store", url]).stdout)["feedback"]
    assert (told["marks"], told["useful"], told["pending"]) == (4, 0, 0) and told["strictness"] < 1.0


def test_command_line(tmp_path, quick, arrivals):
    url = str(tmp_path / "a.db")
    with Store(url) as store:
        (first, *_) = novel_ids(Runner(quick(budget="30%"), store).run(iter(arrivals[:40])))
    app = build(("feedback", "status"))

    def call(*words):
        return CliRunner().invoke(app, ["feedback", *words, "--store", url])

    said = json.loads(call(first, "--not-useful", "--json").stdout)
    assert said["strictness"] < 1.0 and "not useful" in said["sentence"]
    assert "Taken back" in call(first, "--undo").stdout
    assert call(first, "--undo").exit_code == 2  # nothing left to take back
    assert call(first).exit_code == 2
    assert call("nobody", "--useful").exit_code == 1
    with Store(url) as store:
        assert [row["useful"] for row in store.pending_feedback()] == [False, None]


@pytest.mark.parametrize("useful", [True, False])
def test_weights_reach_the_score_after_enough_marks(quick, arrivals, useful):
    runner = Runner(quick(detector="fused", budget="60%"))
    alerts = novel_ids(runner.run(iter(arrivals[:120])))
    # Usefulness that follows one of the two parts alone: the fused score must follow.
    made_of = runner.core.parts.feedback._alerts
    order = sorted(alerts, key=lambda name: made_of[name][1][0])
    runner.core.apply_feedback([(name, (place < len(order) / 2) == useful) for place, name in enumerate(order)])
    weight = runner.core.parts.feedback.neighbour_weight
    assert weight is not None
    step = next(runner.run(iter(arrivals[120:140])))
    detector = runner.core.parts.detector
    expected = 1 - (weight * detector.neighbour_scores_ + (1 - weight) * detector.cluster_scores_)
    scored = [v.novelty for v in step.verdicts if v.duplicate_of is None and v.p_value is not None]
    assert scored == pytest.approx(expected.tolist())
