"""Vectors of a sentence encoder beside words alone and the built-in table: for texts of which length do they help?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from firststory.datasets import load_gitbugs_hadoop, load_localnews, load_news2017
from firststory.errors import ParameterError
from firststory.lab.experiments.bootstrap import difference_interval
from firststory.lab.experiments.fused_measure import Yardstick, fused_scores
from firststory.lab.experiments.fused_streams import LabelledRows, from_texts
from firststory.lab.experiments.headlines import headlines
from firststory.text.encoder import SentenceEncoder

TITLE = "Vectors of a sentence encoder, by length of text"

ENCODER_VARIABLE = "FIRSTSTORY_ENCODER"
N_DOCUMENTS = 2000
"""Of each stream: encoding is slow."""
MAX_WORDS = {"up to 30 words": 30.0, "up to 100 words": 100.0, "any length": np.inf}
"""Texts that get the encoder's vector; longer ones go by their words."""

INTRODUCTION = (
    "Share of the plain neighbour's topic-weighted cost (and how far the AUC lies above its) of `FusedNovelty()` on the "
    "first {n:,} documents of each stream, with times: by words alone, with the built-in table (texts of up to 30 "
    "words), and with the vectors of the encoder in `$"
    + ENCODER_VARIABLE
    + "` ({model}, {dimensions} numbers, at most "
    "{tokens} tokens of a text) for texts of up to 30 words, up to 100 words, and of any length. *Difference*: cost with "
    "the encoder at any length less that by words alone, 95 % interval of 200 paired draws of topics. *Texts/s*: of the "
    "encoder on two threads of a busy machine. Words, 5 % and 95 % quantile, are those of the texts."
)


def run(*, quick: bool, out: Path) -> str:
    """The table as Markdown."""
    encoder = _encoder()
    lines = []
    shares: list[list[float]] = []
    for stream in _streams(40 if quick else N_DOCUMENTS):
        assert stream.texts is not None
        n_words = np.array([len(text.split()) for text in stream.texts])
        encoder.n_texts, encoder.seconds = 0, 0.0
        vectors = encoder.encode(stream.texts)
        scores = {"words alone": fused_scores(replace(stream, vectors=None)), "built-in table": fused_scores(stream)}
        for name, most in MAX_WORDS.items():
            scores[name] = fused_scores(replace(stream, vectors=vectors * (n_words <= most)[:, None]))
        yardstick = Yardstick(stream, n_bootstrap=0)
        measured = [yardstick.measure(score) for score in scores.values()]
        shares.append([one.share for one in measured])
        low, high = difference_interval(stream.labels, stream.first, scores["any length"], scores["words alone"])
        words = "{:.0f} to {:.0f}".format(*np.quantile(n_words, [0.05, 0.95]))
        cells = [f"{one.share:.2f} ({one.auc_gain:+.3f})" for one in measured]
        lines.append([stream.name, words, *cells, f"[{low:+.3f}, {high:+.3f}]", f"{encoder.texts_per_second:.0f}"])
    head = ["stream", "words", "words alone", "built-in table", *(f"encoder, {name}" for name in MAX_WORDS)]
    head += ["difference", "texts/s"]
    mean = ["**mean**", "", *(f"**{value:.3f}**" for value in np.mean(shares, axis=0)), "", ""]
    table = ["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines, mean)]
    about = INTRODUCTION.format(
        n=N_DOCUMENTS, model=encoder.folder.name, dimensions=encoder.dimensions, tokens=encoder.max_tokens
    )
    return about + "\n\n" + "\n".join(table)


def _encoder() -> SentenceEncoder:
    folder = os.environ.get(ENCODER_VARIABLE)
    if not folder:
        raise ParameterError(
            owner="firststory reproduce encoder",
            parameter=ENCODER_VARIABLE,
            allowed="the folder of a sentence encoder, with model.onnx and tokenizer.json",
            received="nothing",
            remedy=f"Type: {ENCODER_VARIABLE}=FOLDER firststory reproduce encoder. docs/how-to/vectors.md says how to "
            "make one.",
            message="This experiment needs a sentence encoder, and none is downloaded.",
        )
    return SentenceEncoder(folder)


def _streams(n: int) -> Iterator[LabelledRows]:
    local = [d for d in load_localnews().documents if d.label is not None][:n]
    yield from_texts("headlines", "news2017", headlines(load_news2017().documents, days=7.0, most=n))
    yield from_texts("incidents, 20 words", "localnews", local, lambda text: " ".join(text.split()[:20]))
    yield from_texts("incidents, 60 words", "localnews", local, lambda text: " ".join(text.split()[:60]))
    yield from_texts("incidents", "localnews", local)
    yield from_texts("hadoop (duplicates)", "gitbugs", list(load_gitbugs_hadoop().documents)[:n])
