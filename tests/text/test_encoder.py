"""A tiny ONNX encoder made here gives what NumPy gives; what cannot be an encoder is refused with what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto

from firststory.errors import MissingExtraError, ParameterError
from firststory.text.encoder import SentenceEncoder, check_encoder
from tiny_encoder import DIMENSIONS, expected, make_encoder

TEXTS = ["Storm floods harbour", "gale", "mayor resigns " * 40, "", "vote closed bridge unknown words"] * 20


@pytest.mark.parametrize(
    "options", [{}, {"pooled": True}, {"kind": TensorProto.INT32, "pooled": True}, {"extra": ["token_type_ids"]}]
)
def test_the_vector_is_the_direction_of_the_mean_of_the_tokens(tmp_path, options):
    """Whatever texts share a batch, and however much it is filled up."""
    encoder = SentenceEncoder(make_encoder(tmp_path / "tiny", **options))
    vectors = encoder.encode(TEXTS)
    assert encoder.dimensions == DIMENSIONS and vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [expected(text) for text in TEXTS], atol=1e-5)


def test_long_texts_are_cut_where_the_tokenizer_says(tmp_path):
    encoder = SentenceEncoder(make_encoder(tmp_path / "tiny", max_tokens=3))
    text = "storm floods harbour mayor resigns"
    np.testing.assert_allclose(encoder.encode([text])[0], expected(text, max_tokens=3), atol=1e-5)
    assert encoder.encode(["storm " * 2_000_000]).shape == (1, DIMENSIONS)


def test_no_texts_no_rows(tmp_path):
    assert SentenceEncoder(make_encoder(tmp_path / "tiny")).encode([]).shape == (0, DIMENSIONS)


def test_it_counts_what_it_does(tmp_path):
    encoder = SentenceEncoder(make_encoder(tmp_path / "tiny"))
    assert encoder.texts_per_second == 0.0
    encoder.encode(TEXTS)
    assert encoder.n_texts == len(TEXTS) and encoder.texts_per_second > 0.0


def test_the_fingerprint_is_that_of_the_files_and_not_of_the_folder(tmp_path):
    one = make_encoder(tmp_path / "one")
    shutil.copytree(one, tmp_path / "same")
    names = ["one", "same", "other"]
    make_encoder(tmp_path / "other", seed=1)
    prints = [SentenceEncoder(tmp_path / name).fingerprint for name in names]
    assert prints[0] == prints[1] != prints[2]
    make_encoder(tmp_path / "same", max_tokens=7)
    assert SentenceEncoder(tmp_path / "same").fingerprint != prints[0]


def test_the_layout_of_model_repositories_is_known(tmp_path):
    folder = make_encoder(tmp_path / "tiny")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    np.testing.assert_allclose(SentenceEncoder(folder).encode(["storm"])[0], expected("storm"), atol=1e-5)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path, name):
    folder = make_encoder(tmp_path / "tiny")
    (folder / name).unlink()
    with pytest.raises(ParameterError, match=f"has no {name}.*nothing is downloaded"):
        check_encoder(folder)


def test_a_missing_folder_says_which_files_it_must_have(tmp_path):
    with pytest.raises(ParameterError, match=r"no folder .*model.onnx and tokenizer.json"):
        SentenceEncoder(tmp_path / "nothing")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_no_crash(tmp_path, name):
    folder = make_encoder(tmp_path / "tiny")
    (folder / name).write_bytes(b"not a model")
    with pytest.raises(ParameterError, match="can be read"):
        SentenceEncoder(folder)


def test_inputs_that_no_text_fills_are_refused(tmp_path):
    folder = make_encoder(tmp_path / "tiny", extra=["pixel_values"])
    with pytest.raises(ParameterError, match="pixel_values"):
        SentenceEncoder(folder)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_says_what_to_type(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[encoder\]'"):
        check_encoder(make_encoder(tmp_path / "tiny"))


def test_numbers_that_are_none_are_no_vector(tmp_path, monkeypatch):
    encoder = SentenceEncoder(make_encoder(tmp_path / "tiny"))

    class Broken:
        def run(self, names, feed):
            return [np.full((len(feed["input_ids"]), DIMENSIONS), np.nan)]

    monkeypatch.setattr(encoder, "_session", Broken())
    assert not encoder.encode(["storm"]).any()


def test_onnxruntime_is_loaded_only_where_an_encoder_is_named():
    code = "import sys, firststory as fs; fs.Monitor(); print({'onnxruntime', 'tokenizers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
