"""Which language each document is written in, by its stop words, its script and the languages before it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Array, Floats
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.prefetch import prefetch
from firststory.kernels.text.tokens import RUN, WORD

LATIN, KANA, HAN, OTHER = 0, 1, 2, 3
"""Scripts with rules of their own; the others are numbered from `OTHER` on. `OTHER` itself has no known language."""
NO_SCRIPT = 255

HIT_WEIGHT = 2.0
"""What a stop word of a language adds to the logarithm of its odds."""
UNSEEN_DOCUMENTS = 0.3
"""A language that the stream has not had counts as this many documents."""
SURE_DOCUMENTS = 10.0
"""Documents before which the stream says nothing about its languages."""
SURE_MARGIN = 1.5
"""How far ahead of the next a language must be to be taken without a closer look."""
MAX_WORDS_READ = 200
"""Words of a document that are looked at: many more than enough."""
KEEP = 0.5 ** (1 / 200)
"""A document 200 documents back counts half among the languages of the stream."""


class StopWordIndex(NamedTuple):
    """Stop words of all languages by the hash of their letters, and what each script is used for.

    The languages of the word in slot s are languages[first[s]:last[s]]; a key of 0 is an empty slot.
    """

    lower: NDArray[np.uint32]
    keys: NDArray[np.uint64]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    languages: NDArray[np.uint8]
    scripts: NDArray[np.uint8]
    """The script of each code point of the basic plane."""
    written: NDArray[np.bool_]
    """Whether a script (row) writes a language (column)."""


@part_of_kernel
def word_key(codes: Array, begin: int, end: int, lower: Array) -> np.uint64:
    """A hash (FNV-1a) of a word in lower case; never 0."""
    key = np.uint64(14695981039346656037)
    for j in range(begin, end):
        c = codes[j]
        if c < lower.shape[0]:
            c = lower[c]
        elif c == 0x2019:
            c = np.uint32(39)
        key = (key ^ np.uint64(c)) * np.uint64(1099511628211)
    return key | np.uint64(1)


@part_of_kernel
def first_slot(key: np.uint64, keys: Array) -> int:
    """Where a key is looked for first."""
    return int(np.int64((key ^ (key >> np.uint64(29))) & np.uint64(keys.shape[0] - 1)))


@part_of_kernel
def slot_of(key: np.uint64, keys: Array) -> int:
    """Where a key stands in the table, or the empty slot where it would."""
    slot = first_slot(key, keys)
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & (keys.shape[0] - 1)
    return slot


@part_of_kernel
def script_of(code: int, scripts: Array) -> int:
    if code < scripts.shape[0]:
        return int(scripts[code])
    return HAN if 0x20000 <= code < 0x33480 else OTHER


@kernel
def count_stop_words(
    codes: Array, starts: Array, ends: Array, kinds: Array, begin: int, end: int, words: StopWordIndex, hits: Array
) -> tuple[int, int]:
    """Fill `hits` with the number of stop words of each language among the tokens; returns (words, main script)."""
    hits[:] = 0
    in_script = np.zeros(words.written.shape[0], np.int64)
    keys = np.empty(MAX_WORDS_READ, np.uint64)
    n = 0
    for t in range(begin, end):
        if kinds[t] != WORD and kinds[t] != RUN:
            continue
        script = script_of(codes[starts[t]], words.scripts)
        if script == NO_SCRIPT:
            continue
        in_script[script] += 1
        keys[n] = word_key(codes, starts[t], ends[t], words.lower)
        prefetch(words.keys, first_slot(keys[n], words.keys))  # the table is larger than a processor's cache
        n += 1
        if n == MAX_WORDS_READ:
            break
    for i in range(n):
        slot = slot_of(keys[i], words.keys)
        if words.keys[slot] != 0:
            for a in range(words.first[slot], words.last[slot]):
                hits[words.languages[a]] += 1
    script = int(np.argmax(in_script))
    # Japanese mixes Chinese characters with its own.
    return n, KANA if script == HAN and in_script[KANA] > 0 else script


@part_of_kernel
def best_language(n_words: int, script: int, hits: Array, weights: Floats, words: StopWordIndex) -> tuple[int, bool]:
    """The likeliest language by hits and by the languages before; and whether a closer look is needless.

    `weights` has one entry more than there are languages: the last stands for "cannot be told", which is the answer
    for a script without a known language.
    """
    n_languages = words.written.shape[1]
    total = weights.sum()
    most = 0
    for language in range(n_languages):
        if words.written[script, language]:
            most = max(most, hits[language])
    # A text of stop words only is in a language that they are all stop words of.
    whole = most == n_words and n_words > 1
    best, best_score, second, candidates, unseen = n_languages, -math.inf, -math.inf, 0, -1
    for language in range(n_languages):
        if not words.written[script, language] or (whole and hits[language] < most):
            continue
        candidates += 1
        if hits[language] == 0 and weights[language] == 0.0:
            unseen = language  # they all have one score
            continue
        score = HIT_WEIGHT * hits[language] + math.log((weights[language] + UNSEEN_DOCUMENTS) / (total + 1.0))
        if score > best_score:
            best, best_score, second = language, score, best_score
        elif score > second:
            second = score
    if unseen >= 0:
        score = math.log(UNSEEN_DOCUMENTS / (total + 1.0))
        second = max(second, min(score, best_score))
        if score > best_score:
            best, best_score = unseen, score
    if candidates <= 1 or whole:
        return best, True
    settled = total >= SURE_DOCUMENTS and weights[best] >= 1.0
    return best, bool(settled and best_score - second >= SURE_MARGIN and most - hits[best] < 2)


@part_of_kernel
def majority(weights: Floats) -> int:
    """The language of most recent documents; the last entry where there were none."""
    best = int(np.argmax(weights))
    return best if weights[best] > 0.0 else weights.shape[0] - 1


@part_of_kernel
def learn_language(language: int, weights: Floats) -> None:
    """One more document in a language."""
    weights *= KEEP
    weights[language] += 1.0


@kernel
def guess_languages(
    codes: Array,
    starts: Array,
    ends: Array,
    kinds: Array,
    bounds: Array,
    first: int,
    words: StopWordIndex,
    weights: Floats,
    learn: bool,
    hits: Array,
    languages: Array,
) -> int:
    """Write the language of each document from `first` on to `languages`, until one needs a closer look.

    The tokens of document d are bounds[d] .. bounds[d + 1]. Returns the number of the document that needs it, with its
    likeliest language in `languages` and its stop words in `hits`; the number of documents where none does. Where
    `learn`, documents with a stop word of their language count among the languages of the stream.
    """
    for d in range(first, bounds.shape[0] - 1):
        n_words, script = count_stop_words(codes, starts, ends, kinds, bounds[d], bounds[d + 1], words, hits)
        if n_words == 0:
            languages[d] = majority(weights)
            continue
        language, sure = best_language(n_words, script, hits, weights, words)
        languages[d] = language
        if not sure:
            return d
        if learn and (hits[language] > 0 or script != LATIN):
            learn_language(language, weights)
    return int(bounds.shape[0] - 1)
