"""Vectors of one's own, brought or encoded: they are what the detector compares, they are stored, and a run resumes."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

import firststory as fs
from firststory.errors import ParameterError
from firststory.pipeline.runner import Runner
from firststory.pipeline.vectors import is_short
from firststory.records import Position
from firststory.settings import Settings
from firststory.store.store import Store
from tiny_encoder import DIMENSIONS, WORDS, expected, make_encoder

SETTINGS = Settings(language="en", topics="none", step=10, save_every=3, budget="20%")


def stream(n=60, dimensions=4, seed=0):
    rng = np.random.default_rng(seed)
    return [
        fs.Document(
            id=f"d{i}",
            text=" ".join(rng.choice(WORDS[2:], size=5)),
            vector=rng.normal(size=dimensions).tolist(),
        )
        for i in range(n)
    ]


def arrivals(documents, first=0):
    return [(document, Position("test", {"line": i})) for i, document in enumerate(documents, 1) if i > first]


def run(settings, documents, store=None):
    steps = list(Runner(settings, store).run(arrivals(documents)))
    return [verdict for step in steps for verdict in step.verdicts], [bad for step in steps for bad in step.quarantined]


def novelties(settings, documents):
    return [verdict.novelty for verdict in run(settings, documents)[0]]


def test_the_detector_is_given_the_vectors(monkeypatch):
    seen = []
    learn = fs.FusedNovelty.score_then_learn

    def spy(self, X, y=None, *, times=None, **given):
        seen.append(given.get("vectors"))
        return learn(self, X, y, times=times, **given)

    monkeypatch.setattr(fs.FusedNovelty, "score_then_learn", spy)
    documents = stream(20)
    documents[3] = replace(documents[3], vector=None)
    verdicts, _ = run(SETTINGS, documents)
    given = np.concatenate(seen)
    judged = [verdict.document for verdict in verdicts if verdict.duplicate_of is None or verdict.novelty > 0]
    assert given.shape == (len(judged), 4)
    for document, row in zip(judged, given, strict=True):
        own = np.zeros(4) if document.id == "d3" else np.array(documents[int(document.id[1:])].vector)
        np.testing.assert_allclose(row, own / max(np.linalg.norm(own), 1e-9), atol=1e-3)


def test_alike_vectors_make_texts_less_new():
    """A second text in other words: known where its vector says so, new where it says the contrary."""
    texts = ["storm floods harbour", "storm closes port under water"]
    same, other = (
        novelties(SETTINGS, [fs.Document("a", texts[0], vector=[1, 0]), fs.Document("b", texts[1], vector=vector)])
        for vector in ([1, 0], [0, 1])
    )
    assert same[1] < other[1]


def test_own_vectors_take_the_place_of_the_built_in_table():
    """After the first of them nothing is left of the table: not its vectors, and none for texts without their own."""
    plain = [replace(document, vector=None) for document in stream(20)]
    runner = Runner(SETTINGS)
    list(runner.run(arrivals(plain + stream(40)[20:] + [replace(one, id="x" + one.id) for one in plain])))
    detector = runner.core.parts.detector
    assert runner.core.parts.own_vectors.begun
    assert detector.vectors_.vectors.shape[1] == 4 and detector.vectors_.begun >= 10


def test_detectors_that_compare_words_keep_vectors_and_do_not_use_them():
    settings = replace(SETTINGS, detector="fused-words")
    plain = [replace(document, vector=None) for document in stream()]
    assert novelties(settings, stream()) == novelties(settings, plain)
    assert run(settings, stream())[0][0].document.vector is not None


def test_long_texts_go_by_their_words_unless_asked_otherwise(tmp_path):
    long = [replace(one, text=f"{one.text} " * 7) for one in stream(40)]
    plain = [replace(one, vector=None) for one in long]
    assert novelties(SETTINGS, long) == novelties(SETTINGS, plain)
    assert novelties(replace(SETTINGS, vector_words=35), long) != novelties(SETTINGS, plain)
    runner = Runner(replace(SETTINGS, vectors=str(make_encoder(tmp_path / "tiny"))))
    found = [verdict for step in runner.run(arrivals(plain)) for verdict in step.verdicts]
    assert runner.encoder.n_texts == 0 and all(verdict.document.vector is None for verdict in found)


def test_texts_without_spaces_are_long_by_their_characters():
    assert is_short("港" * 360, 30) and not is_short("港" * 361, 30)


def test_another_dimension_is_quarantined_and_the_stream_goes_on(tmp_path):
    documents = stream(30)
    documents[5] = replace(documents[5], vector=[1.0, 2.0])
    documents[7] = replace(documents[7], vector=[1.0, float("nan"), 0.0, 0.0])
    verdicts, bad = run(SETTINGS, documents)
    assert [one.reason for one in bad] == ["bad-vector"] * 2 and len(verdicts) == 28
    assert "of 4 numbers" in bad[0].message
    with Store(tmp_path / "news.db") as store:
        run(SETTINGS, documents[:10], store)
    with Store(tmp_path / "news.db") as store:
        assert store.vector_dimensions() == 4
        _, bad = run(SETTINGS, [replace(one, vector=[1.0, 1.0]) for one in documents[10:]], store)
        assert len(bad) == 20


def test_vectors_come_back_from_the_store_bit_for_bit(tmp_path):
    with Store(tmp_path / "news.db") as store:
        verdicts, _ = run(SETTINGS, stream(), store)
        kept = store.verdicts()
        assert {row[-1] for row in store.dump()["documents"]} == {"<f2"}
    for verdict, other in zip(verdicts, kept, strict=True):
        np.testing.assert_array_equal(verdict.document.vector, other.document.vector)
        assert other.document.vector.dtype == np.float16


@pytest.mark.parametrize("kill_after", [1, 4, 5])
@pytest.mark.parametrize("encoder", [False, True])
def test_a_run_that_was_killed_leaves_the_same_store(tmp_path, kill_after, encoder):
    """The first documents have no vector, so that the table is given up on the way, before or after the kill."""
    documents = [replace(one, vector=None) if i < 25 or encoder else one for i, one in enumerate(stream())]
    settings = SETTINGS
    if encoder:
        settings = replace(SETTINGS, vectors=str(make_encoder(tmp_path / "tiny")))
    with Store(tmp_path / "whole.db") as store:
        run(settings, documents, store)
        whole = store.dump()
        state = store.last_state()
    with Store(tmp_path / "killed.db") as store:
        runner = Runner(settings, store)
        runner.save = lambda: None  # killed: what the end of a run would have saved is not
        steps = runner.run(arrivals(documents))
        for _ in range(kill_after):
            next(steps)
        steps.close()
    with Store(tmp_path / "killed.db") as store:
        first = store.positions()["test"].at["line"]
        list(Runner(settings, store).run(arrivals(documents, first)))
        assert store.dump() == whole
        assert store.last_state() == state


def test_an_encoder_gives_each_document_its_vector(tmp_path):
    settings = replace(SETTINGS, vectors=str(make_encoder(tmp_path / "tiny")))
    own = np.eye(DIMENSIONS)[0]
    documents = [replace(one, vector=own if one.id == "d4" else None) for one in stream(20)]
    verdicts, _ = run(settings, documents)
    for verdict in verdicts:
        wanted = own if verdict.document.id == "d4" else expected(verdict.document.text)
        np.testing.assert_allclose(verdict.document.vector.astype(float), wanted, atol=1e-3)


def test_the_encoder_is_part_of_the_store(tmp_path):
    """The same files from another folder go on; other files, or none, do not; nor does a store begun without."""
    documents = [replace(one, vector=None) for one in stream(30)]
    folder = make_encoder(tmp_path / "tiny")
    shutil.copytree(folder, tmp_path / "moved")
    other = make_encoder(tmp_path / "other", seed=1)
    begun = replace(SETTINGS, vectors=str(folder))
    with Store(tmp_path / "news.db") as store:
        run(begun, documents[:10], store)
        assert store.settings()["vectors"] == str(folder) and len(store.settings()["encoder"]) == 64
    with Store(tmp_path / "news.db") as store:
        run(replace(begun, vectors=str(tmp_path / "moved")), documents[10:20], store)
    for vectors in (str(other), None):
        with Store(tmp_path / "news.db") as store, pytest.raises(ParameterError, match="begun with the encoder"):
            Runner(replace(begun, vectors=vectors), store)
    with Store(tmp_path / "plain.db") as store:
        run(SETTINGS, documents[:10], store)
    with Store(tmp_path / "plain.db") as store, pytest.raises(ParameterError, match="begun without an encoder"):
        Runner(begun, store)


def test_a_replay_needs_no_encoder_run(tmp_path, monkeypatch):
    settings = replace(SETTINGS, vectors=str(make_encoder(tmp_path / "tiny")), save_every=100)
    documents = [replace(one, vector=None) for one in stream(30)]
    with Store(tmp_path / "news.db") as store:
        runner = Runner(settings, store)
        runner.save = lambda: None
        list(runner.run(arrivals(documents)))
    with Store(tmp_path / "news.db") as store:
        said = []
        assert Runner(settings, store, said.append).encoder.n_texts == 0
        assert said == ["resuming after step 2 (3 steps replayed)"]


def test_the_monitor_takes_both(tmp_path):
    monitor = fs.Monitor(vectors=make_encoder(tmp_path / "tiny"), language="en", topics="none", step=1, budget=0.5)
    found = list(monitor.watch(["storm floods harbour", {"text": "vote", "vector": [1.0] * DIMENSIONS}]))
    assert [len(verdict.document.vector) for verdict in found] == [DIMENSIONS] * 2
    assert not list(monitor.watch([{"text": "mayor resigns", "vector": [1.0]}]))
    assert monitor.status()["counts"]["quarantined"] == 1


@pytest.mark.parametrize("detector", ["neighbour", "fused-words", "mixture"])
def test_an_encoder_for_a_detector_that_compares_words_is_refused(tmp_path, detector):
    with pytest.raises(ParameterError, match="no use for vectors"):
        fs.Monitor(detector=detector, vectors=make_encoder(tmp_path / "tiny"))


def test_a_folder_without_a_model_leaves_no_store_behind(tmp_path):
    with pytest.raises(ParameterError, match=r"model.onnx and no tokenizer.json"):
        fs.Monitor(tmp_path / "news.db", vectors=tmp_path)
    assert not (tmp_path / "news.db").exists()
