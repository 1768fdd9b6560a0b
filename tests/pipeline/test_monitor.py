"""Monitor: the whole stream from Python."""

from __future__ import annotations

import warnings
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import zip_longest

import numpy as np
import pytest

import firststory as fs
from firststory.errors import ParameterError, StoreError
from firststory.pipeline.build import detector_names, recipe_of
from firststory.sources.times import parse_time
from firststory.store.store import Store

QUICK = {"detector": "neighbour", "language": "en", "topics": "none"}


def test_documents_mappings_and_texts_in_order(news):
    mixed = [news[0], {"id": "m", "text": "Comet over Tromso", "page": 4}, "Mayor of Oslo resigns"]
    with fs.Monitor(**QUICK) as monitor:
        verdicts = list(monitor.watch(mixed))
    assert [v.document.text for v in verdicts] == [news[0].text, "Comet over Tromso", "Mayor of Oslo resigns"]
    assert verdicts[1].document.extra == {"page": 4}
    assert all(np.isfinite(v.novelty) and v.story for v in verdicts)


def test_window_1_answers_each_document_at_once():
    asked = []

    def feed():
        for text in ("Flood in Bremen", "Fire in Oslo", "Strike in Hull"):
            asked.append(text)
            yield text

    verdicts = fs.Monitor(step=1, **QUICK).watch(feed())
    assert next(verdicts).document.text == "Flood in Bremen" and len(asked) == 1


def test_a_store_is_filled_resumed_and_watching_again_adds_nothing(news, new_store):
    path = new_store("news")
    with fs.Monitor(store=path, step=20, **QUICK) as monitor:
        first = list(monitor.watch(news[:100]))
        assert len(first) == 100 and monitor.status()["documents"] == 100
    with fs.Monitor(store=path, step=20, **QUICK) as monitor:
        assert list(monitor.watch(news[:100])) == []
        rest = list(monitor.watch(news[100:]))
        assert monitor.status()["counts"]["redelivered"] == 100
        assert monitor.stories() and monitor.verdicts(limit=1)[0].document == news[-1]
        with_word = {document.id for document in news if "government" in document.text.lower()}
        assert 0 < len(with_word) < len(news)
        assert {v.document.id for v in monitor.search("government", limit=len(news))} == with_word
    with fs.Monitor(step=20, **QUICK) as whole:
        assert [v.novelty for v in whole.watch(news)] == [v.novelty for v in first + rest]


def test_the_same_text_twice_is_a_duplicate_and_not_lost():
    monitor = fs.Monitor(step=1, **QUICK)
    verdicts = list(monitor.watch(["Flood in Bremen", "Flood in Bremen"]))
    assert len(verdicts) == 2 and verdicts[1].duplicate_of == verdicts[0].document.id


def test_bad_documents_are_put_aside_and_the_stream_goes_on(new_store):
    with fs.Monitor(store=new_store("a"), **QUICK) as monitor:
        given = [{"title": "no text"}, {"text": 3}, 17, "Flood in Bremen", {"text": "x", "time": "nonsense"}]
        assert [v.document.text for v in monitor.watch(given)] == ["Flood in Bremen"]
        told = monitor.status()
    assert told["quarantined"] == 4
    assert told["quarantine_reasons"] == {"bad-time": 1, "missing-text": 1, "not-an-object": 1, "text-not-a-string": 1}


def test_documents_of_ones_own_are_held_to_the_same_rules(new_store):
    def document(name, text="Flood in Bremen", **fields):
        return fs.Document(id=name, text=f"{text} {name}" if text == "Flood in Bremen" else text, **fields)

    noon = datetime(2020, 1, 1, 12)
    later = datetime(2020, 1, 1, 15, tzinfo=timezone(timedelta(hours=2)))
    good = [
        document("naive", time=noon),
        document("text", time="2020-01-01T13:00:00Z"),
        document("zone", time=later),
        document("half", text="Fire in Oslo \ud800", label="\ud800", extra={"\ud800": ["\ud800"], 3: 4}),
        document("title", title=7),
        document(None),
    ]
    bad = [
        document("1", text=None), document("2", text=b"bytes"), document("3", time="nonsense"),
        document("4", extra=None),
        document(["5"]), document("6", label={(1, 2): 3}), {"text": "x", "time": "\ud800"},
    ]  # fmt: skip
    with fs.Monitor(store=new_store("a"), **QUICK) as monitor:
        found = {
            v.document.text: v.document
            for v in monitor.watch([one for pair in zip_longest(good, bad) for one in pair if one])
        }
        told = monitor.status()
        stored = {v.document.text: v.document for v in monitor.verdicts()}
    assert len(found) == len(stored) == 6
    times = [found[f"Flood in Bremen {name}"].time for name in ("naive", "text", "zone")]
    assert times == [datetime(2020, 1, 1, hour, tzinfo=UTC) for hour in (12, 13, 13)]
    assert told["counts"]["assumed_utc"] == 1
    assert stored["Fire in Oslo �"].label == "�" and stored["Fire in Oslo �"].extra == {"�": ["�"], "3": 4}
    assert found["Flood in Bremen title"].title == "7" and found["Flood in Bremen None"].id.startswith("c-")
    assert told["quarantine_reasons"] == {
        "bad-extra": 1, "bad-id": 1, "bad-label": 1, "bad-time": 2, "missing-text": 1, "text-not-a-string": 1,
    }  # fmt: skip


def test_a_good_document_comes_back_as_it_was_given(news):
    given = [replace(news[0], extra={"page": 4}, label=["a", 1]), replace(news[1], time=parse_time("2026-01-01"))]
    with fs.Monitor(**QUICK) as monitor:
        assert [v.document for v in monitor.watch(given)] == given
        assert monitor.status()["counts"]["assumed_utc"] == 1


def test_topics_stories_and_status_without_a_store(news):
    monitor = fs.Monitor(detector="neighbour", language="en", step=20, topic_step=50, topics="nmf")
    novel = sum(verdict.is_novel for verdict in monitor.watch(news))
    topics = monitor.topics()
    assert topics and sum(topic.share for topic in topics) == pytest.approx(1.0)
    assert {len(monitor.stories(limit=3))} == {3}
    told = monitor.status()
    assert told["novel"] == novel and told["novelty"]["budget"] == "20/day"


def test_a_detector_of_ones_own(news):
    own = fs.NearestNeighbour(window=30, n_neighbours=2)
    verdicts = list(fs.Monitor(detector=own, language="en", topics="none").watch(news[:60]))
    assert len(verdicts) == 60 and max(len(v.nearest) for v in verdicts) == 2


def test_mistakes_are_said(tmp_path):
    with pytest.raises(ParameterError, match=r"monitor.watch\(\[text\]\)"):
        list(fs.Monitor(**QUICK).watch("one text"))
    with pytest.raises(ParameterError, match="one of"):
        fs.Monitor(detector="psychic")
    with pytest.raises(ParameterError, match="budget"):
        fs.Monitor(budget="plenty", detector="neighbour")
    with pytest.raises(ParameterError, match="store"):
        fs.Monitor(**QUICK).search("x")
    with pytest.raises(ParameterError, match="one of"):
        fs.Monitor(**QUICK, colour="red")
    for wrong in (3, fs.FusedNovelty, object()):
        with pytest.raises(ParameterError, match="score_then_learn"):
            fs.Monitor(detector=wrong)
    for wrong in (5, "", b"a.db"):
        with pytest.raises(StoreError, match="a path"):
            fs.Monitor(store=wrong, **QUICK)
    with fs.Monitor(store=tmp_path / "path.db", **QUICK) as monitor:
        (name,) = [verdict.document.id for verdict in monitor.watch(["Flood in Bremen"])]
        with pytest.raises(ParameterError, match="True, False or None"):
            monitor.feedback(name, "yes")
    with fs.Monitor(store=str(tmp_path / "a.db"), **QUICK), pytest.raises(StoreError, match="Another Monitor"):
        fs.Monitor(store=str(tmp_path / "a.db"), **QUICK)


def test_a_closed_monitor_writes_nothing_and_leaves_the_next_writer_alone(news, new_store):
    path = new_store("a")
    closed = fs.Monitor(store=path, step=10, **QUICK)
    list(closed.watch(news[:20]))
    half_way = closed.watch(news[20:60])
    next(half_way)
    closed.close()
    with fs.Monitor(store=path) as owner:
        writes = (
            lambda: list(half_way),
            lambda: list(closed.watch(news[20:])),
            lambda: closed.feedback(news[0].id, True),
        )
        for refused in writes:
            with pytest.raises(StoreError, match="Open it again"):
                refused()
        assert len(list(owner.watch(news[30:60]))) == 30
        assert owner.status()["documents"] == 60
        closed.close()
    assert len(closed.stories()) == len(owner.stories())  # what was found can still be read


def test_closing_in_the_middle_of_a_stream_saves_the_model(news, new_store):
    path = new_store("a")
    with fs.Monitor(store=path, step=10, **QUICK) as monitor:
        unfinished = monitor.watch(news[:60])
        next(unfinished)
    with Store(path) as store:
        assert store.last_state()[0] == store.last_step() == 0
    unfinished.close()
    with fs.Monitor(store=path) as monitor:
        rest = list(monitor.watch(news[10:60]))
    with fs.Monitor(step=10, **QUICK) as whole:
        assert [v.novelty for v in whole.watch(news[:60])][10:] == [v.novelty for v in rest]


@pytest.mark.parametrize("wrong", [{"step": 0}, {"language": "xx"}, {"window": -1}, {"budget": "plenty"}])
def test_a_wrong_setting_leaves_no_store_behind(wrong, tmp_path):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        fs.Monitor(store=str(tmp_path / "a.db"), **{**QUICK, **wrong})
    assert list(tmp_path.iterdir()) == []


def test_the_environment_wins_over_the_settings_file_and_what_is_given_over_both(news, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = 'detector = "clustering"\nbudget = "7%"\nstep = 10\nstore = "from-file.db"\n'
    (tmp_path / "firststory.toml").write_text(file)
    monkeypatch.setenv("FIRSTSTORY_DETECTOR", "neighbour")
    monkeypatch.setenv("FIRSTSTORY_BUDGET", "8%")
    monkeypatch.setenv("FIRSTSTORY_STORE", "from-environment.db")
    with fs.Monitor(store="given.db", budget="9%", topics="none", language="en") as monitor:
        list(monitor.watch(news[:20]))
        kept = monitor._store.settings()
        assert (kept["detector"], kept["budget"], kept["step"]) == ("neighbour", "9%", 10)
    assert fs.Monitor().status()["novelty"]["budget"] == "8%"
    assert {path.name for path in tmp_path.glob("*.db")} == {"given.db"}


def test_a_budget_that_no_score_reaches_is_refused_where_scores_have_an_end(news):
    for budget in ("20", 20, "1.01"):
        with pytest.raises(ParameterError, match=r"Did you mean (20|1\.01)/day\?"):
            fs.Monitor(**QUICK, budget=budget)
    assert fs.Monitor(**QUICK, budget=1).status()["novelty"]["budget"] == "1"
    # The scores of a mixture have no end, and of a detector of one's own nothing is known.
    mixture = fs.Monitor(detector="mixture", budget=20, step=10, topics="none", language="en")
    assert any(verdict.is_novel for verdict in mixture.watch(news[:30]))
    assert fs.Monitor(detector=fs.NearestNeighbour(), budget=20).status()["novelty"]["budget"] == "20"


@pytest.mark.parametrize("name", detector_names())
def test_no_score_is_above_the_highest_that_is_promised(name, news):
    verdicts = fs.Monitor(detector=name, step=20, topics="none", language="en").watch(news[:80])
    assert max(verdict.novelty for verdict in verdicts) <= recipe_of(name).highest + 1e-12


def test_memory_is_bounded_without_a_store():
    from firststory.datasets import make_story_stream
    from firststory.state import pack_state

    monitor = fs.Monitor(window=50, step=50, **QUICK)
    sizes = []
    for verdict in monitor.watch(make_story_stream(600, 60).documents):
        if verdict.document.id.endswith("99"):
            state = {key: value for key, value in monitor._runner.core.get_state().items()
                     if key.split("/")[0] == "duplicates" or key.startswith("parts/memory")}  # fmt: skip
            sizes.append(len(pack_state(state)))
    assert sizes[-1] <= 1.2 * sizes[0]


def test_what_is_left_out_is_as_the_store_was_begun_and_the_budget_may_change(news, new_store):
    path = new_store("news")
    with fs.Monitor(store=path, step=20, budget="10%", **QUICK) as monitor:
        list(monitor.watch(news[:60]))
    with fs.Monitor(store=path) as monitor:
        assert monitor.status()["novelty"]["budget"] == "10%"
    with fs.Monitor(store=path, budget="50%") as monitor:
        assert "changed from 10% to 50%" in monitor.status()["novelty"]["history"][-1]["reason"]
        list(monitor.watch(news[60:120]))
    with fs.Monitor(store=path) as monitor:
        assert monitor.status()["novelty"]["budget"] == "50%"


def test_feedback_moves_the_bar_of_the_next_step(news, new_store):
    with fs.Monitor(store=new_store("news"), step=20, budget="20%", **QUICK) as monitor:
        novel = [v.document.id for v in monitor.watch(news[:100]) if v.is_novel]
        for name in novel[:3]:
            monitor.feedback(name, False)
        list(monitor.watch(news[100:120]))
        assert monitor.status()["novelty"]["strictness"] < 1.0
    with pytest.raises(ParameterError, match="store"):
        fs.Monitor(**QUICK).feedback("x", True)


def test_a_missing_table_of_word_vectors_is_said(monkeypatch):
    monkeypatch.setattr("firststory.text.word_pieces.PACKAGE", "no_such_package_anywhere")
    with pytest.warns(UserWarning, match=r"pip install 'firststory\[meaning\]'"):
        fs.Monitor(topics="none")
    with warnings.catch_warnings(action="error"):
        fs.Monitor(topics="none", detector="fused-words")
        fs.Monitor(topics="none", language="de")
