"""The languages of a stream: each document's own, guessed by its stop words and by the documents before it."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.text.languages import (
    LATIN,
    SURE_DOCUMENTS,
    UNSEEN_DOCUMENTS,
    guess_languages,
    learn_language,
    majority,
)
from firststory.text.chunks import Chunk
from firststory.text.language import UNKNOWN, let_go_of_model, letters, rank_languages
from firststory.text.stop_word_index import codes, number_of, stop_word_index

ENOUGH_LETTERS = 600
"""The first letters of a stream, which help to tell the language of the documents that they come from."""
SHORT_LETTERS = 16
"""Texts of fewer letters say nothing to py3langid: the stream decides."""
MAX_LETTERS = 2000
"""Letters of a text that py3langid is asked about."""
SHOWN_SHARE = 0.02
"""Of the recent documents: from here on a language is one of the stream's."""
PROBABILITY_WEIGHT = 0.5
LEAST_LOG = -40.0
"""py3langid takes the pieces of a word for independent, and is far too sure: what it says counts half, and no less than
this."""

Numbers = NDArray[np.uint8]


class StreamLanguages:
    """Guesses the language of each document of a stream.

    A document's language is the one with most of its words among the stop words, with the languages of the latest
    documents as the prior. Only where that leaves a doubt, py3langid is asked. The guess depends on this document and
    those before it, and not on how the stream is cut into batches.
    """

    def __init__(self) -> None:
        self.weights: Floats = np.zeros(len(codes()))
        """How many of the recent documents were in each language, those further back counting less."""
        self.sample = ""
        """The first letters of the stream."""
        self.n_asked = 0
        """How often py3langid was asked; no part of the state."""

    @property
    def majority(self) -> str:
        """The language of most of the recent documents; "und" where there were none."""
        return codes()[majority(self.weights)]

    def recent(self) -> list[str]:
        """The languages of the recent documents, but for a few documents."""
        share = self.weights / max(self.weights.sum(), 1.0)
        return [codes()[number] for number in np.flatnonzero(share >= SHOWN_SHARE).tolist()]

    def guess(
        self,
        chunk: Chunk,
        points: NDArray[np.uint32],
        starts: NDArray[Any],
        ends: NDArray[Any],
        kinds: NDArray[np.uint8],
        *,
        learn: bool,
    ) -> Numbers:
        """The number of each document's language. `points` are the code points of the chunk; then its tokens."""
        bounds = np.concatenate([[0], np.searchsorted(starts, chunk.ends)])
        languages = np.zeros(chunk.ends.size, dtype=np.uint8)
        hits = np.zeros(len(codes()) - 1, dtype=np.int64)
        words = stop_word_index()
        d, asked = 0, self.n_asked
        while True:
            d = guess_languages(points, starts, ends, kinds, bounds, d, words, self.weights, learn, hits, languages)
            if d == chunk.ends.size:
                if self.n_asked > asked:
                    let_go_of_model()
                return languages
            begin = int(chunk.ends[d - 1]) + 1 if d else 0
            languages[d] = self._look_closer(chunk.text[begin : chunk.ends[d]], int(languages[d]), hits, learn)
            d += 1

    def _look_closer(self, text: str, likeliest: int, hits: NDArray[np.int64], learn: bool) -> int:
        """The language of a text whose stop words leave a doubt, by py3langid, the stop words and the prior."""
        heard = letters(text[: 4 * MAX_LETTERS])[:MAX_LETTERS]
        is_settled = self.weights.sum() >= SURE_DOCUMENTS
        if is_settled and len(heard) < SHORT_LETTERS:
            return likeliest
        asked = heard
        words = stop_word_index()
        if len(self.sample) < ENOUGH_LETTERS and words.written[LATIN, likeliest]:
            if np.sort(hits)[-2:] @ [-1, 1] < 2:  # its own words do not tell: the beginning of the stream helps
                asked = f"{self.sample} {heard}".strip()
            if learn:
                self.sample = f"{self.sample} {heard}".strip()[: 2 * ENOUGH_LETTERS]
        if not asked:
            return number_of(UNKNOWN)
        self.n_asked += 1
        allowed = np.append(words.written[words.written[:, likeliest]].any(axis=0), True)
        scores = np.log((self.weights + UNSEEN_DOCUMENTS) / (self.weights.sum() + 1.0)) + np.append(hits, 0)
        scores += PROBABILITY_WEIGHT * np.maximum(_log_probabilities(asked), LEAST_LOG)
        scores[~allowed] = -math.inf
        language = int(np.argmax(scores))
        if learn and len(heard) >= SHORT_LETTERS:
            learn_language(language, self.weights)
        return language

    def get_state(self) -> dict[str, Any]:
        """All of it, by the names of the languages."""
        return {
            "weights": {codes()[n]: float(self.weights[n]) for n in np.flatnonzero(self.weights)},
            "sample": self.sample,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        languages = cls()
        for code, weight in state["weights"].items():
            languages.weights[number_of(code)] = weight
        languages.sample = state["sample"]
        return languages


def _log_probabilities(text: str) -> Floats:
    """What py3langid makes of a text, by the numbers of the languages; those it knows and we do not are one."""
    logs = np.full(len(codes()), -math.inf)
    for code, probability in rank_languages(text):
        known = number_of(code) if code in codes() else number_of(UNKNOWN)
        logs[known] = max(logs[known], math.log(probability) if probability > 0.0 else -math.inf)
    return logs
