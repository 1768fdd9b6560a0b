"""The guess at languages against a plain twin of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firststory.kernels.text import languages as k
from firststory.kernels.text.tokens import RUN, WORD, find_tokens
from firststory.text.characters import word_classes
from firststory.text.language import stop_words, supported
from firststory.text.stop_word_index import SCRIPTS, number_of, stop_word_index

TEXTS = [
    "The storm has closed the bridge",
    "El puente de la ciudad",
    "de la que",
    "Hotel Central 24",
    "12 34",
    "Мост закрыт из-за шторма",
    "Το λιμάνι έκλεισε",
    "東京の港で地震が発生",
    "北京大学",
    "ქარიშხალი",
    "@someone https://example.org",
    "Die Brücke, DIE geschlossen wurde und der Sturm",
]


def script_of(letter):
    code = ord(letter)
    found = [n for n, (blocks, _) in enumerate(SCRIPTS) if any(a <= code <= b for a, b in blocks)]
    return (found or [k.OTHER])[0] if letter.isalpha() else None


def twin(words, weights):
    """Language and whether it is sure; None where there are no words."""
    scripts = [script for word in words if (script := script_of(word[0])) is not None]
    words = [word.lower() for word in words if script_of(word[0]) is not None]
    if not words:
        return None
    script = max(range(len(SCRIPTS)), key=lambda n: (scripts.count(n), -n))
    if script == k.HAN and k.KANA in scripts:
        script = k.KANA
    listed = SCRIPTS[script][1].split()
    if script == k.LATIN:
        elsewhere = {code for _, codes in SCRIPTS for code in codes.split()} - {"sr"}
        listed = [code for code in supported() if code not in elsewhere]
    hits = {code: sum(word in stop_words(code) for word in words) for code in listed}
    most = max(hits.values(), default=0)
    whole = len(words) > 1 and most == len(words)
    total = weights.sum()
    scores = {
        code: k.HIT_WEIGHT * n + math.log((weights[number_of(code)] + k.UNSEEN_DOCUMENTS) / (total + 1))
        for code, n in hits.items()
        if not whole or n == most
    }
    if not scores:
        return {len(supported())}, True
    ranked = sorted(scores.values(), reverse=True)
    best = {number_of(code) for code, score in scores.items() if score == ranked[0]}
    if len(scores) == 1 or whole:
        return best, True
    one = next(code for code in scores if number_of(code) in best)
    settled = total >= k.SURE_DOCUMENTS and weights[number_of(one)] >= 1.0
    return best, settled and ranked[0] - ranked[1] >= k.SURE_MARGIN and most - hits[one] < 2


@pytest.mark.parametrize("before", [{}, {"en": 30.0}, {"en": 12.0, "es": 8.0, "de": 5.0, "ru": 2.0}])
@pytest.mark.parametrize("text", TEXTS)
def test_best_language_equals_its_plain_twin(text, before):
    words = stop_word_index()
    weights = np.zeros(len(supported()) + 1)
    for code, weight in before.items():
        weights[number_of(code)] = weight
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    starts, ends = np.empty(codes.size, np.int32), np.empty(codes.size, np.int32)
    kinds = np.empty(codes.size, np.uint8)
    n = find_tokens(codes, word_classes(), False, True, starts, ends, kinds)
    hits = np.zeros(len(supported()), dtype=np.int64)
    n_words, script = k.count_stop_words(codes, starts, ends, kinds, 0, n, words, hits)
    spoken = [text[a:b] for a, b, kind in zip(starts[:n], ends[:n], kinds[:n], strict=True) if kind in (WORD, RUN)]
    expected = twin(spoken, weights)
    if expected is None:
        assert n_words == 0
        return
    language, sure = k.best_language(n_words, script, hits, weights, words)
    assert language in expected[0] and sure == expected[1]


def test_learning_fades_and_the_majority_is_the_largest():
    weights = np.zeros(4)
    assert k.majority(weights) == 3
    for language in (1, 0, 0):
        k.learn_language(language, weights)
    np.testing.assert_allclose(weights, [1 + k.KEEP, k.KEEP**2, 0, 0])
    assert k.majority(weights) == 0
