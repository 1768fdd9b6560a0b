"""The encoder's experiment: without a model it says what to do; with one every column is there."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.errors import ParameterError
from firststory.lab.experiments import encoder
from firststory.lab.experiments.fused_streams import from_texts
from firststory.records import Document
from tiny_encoder import WORDS, make_encoder


def test_without_a_model_nothing_is_downloaded(monkeypatch, tmp_path):
    monkeypatch.delenv(encoder.ENCODER_VARIABLE, raising=False)
    with pytest.raises(ParameterError, match=r"none is downloaded.*FIRSTSTORY_ENCODER=FOLDER"):
        encoder.run(quick=True, out=tmp_path)


def test_the_table_is_complete(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    documents = [Document(str(i), " ".join(rng.choice(WORDS[2:], size=6)), label=i // 3) for i in range(40)]
    monkeypatch.setattr(encoder, "_streams", lambda n: iter([from_texts("planted", "one", documents)]))
    monkeypatch.setenv(encoder.ENCODER_VARIABLE, str(make_encoder(tmp_path / "tiny")))
    text = encoder.run(quick=True, out=tmp_path)
    assert "| one: planted | 6 to 6 |" in text and "nan" not in text
    cells = next(line for line in text.splitlines() if "planted" in line).split("|")[3:8]
    assert cells[2] == cells[3] == cells[4], "all texts are short: the three rules are one"
