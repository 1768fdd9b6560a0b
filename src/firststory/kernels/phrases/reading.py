"""Read documents one after the other: tokens, boilerplate, case, names, phrases, and what they teach."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Ints
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.phrases.boilerplate import forget_bits, mark_boilerplate
from firststory.kernels.phrases.layout import (
    BODY,
    FIRST_LOWER,
    FIRST_UPPER,
    LEAD,
    LEAD_CHARACTERS,
    MAIN_PHRASES,
    N_DOCUMENTS,
    NUMBER_NOW,
    OF_SOURCE,
    TITLE,
    TITLE_CHARACTERS,
    UNIT_NOW,
    Alphabet,
    Codes,
    Found,
    Keys,
    Known,
    Lines,
    Spans,
    Tables,
    Tokens,
)
from firststory.kernels.phrases.learning import learn_names, learn_phrases
from firststory.kernels.phrases.lines import ask_case, learn_line, look_up, style_of
from firststory.kernels.phrases.names import read_names
from firststory.kernels.phrases.tables import add, count_of, rescale
from firststory.kernels.phrases.tokens import cut
from firststory.kernels.phrases.words import read_words

LARGEST_UNIT = 2.0**30


@kernel
def read_documents(
    codes: Codes, ends: Ints, sources: Keys, alphabet: Alphabet, tables: Tables, rate: float, learn: bool,
    tokens: Tokens, lines: Lines, found: Found, dull: Spans,
) -> tuple[int, int]:  # fmt: skip
    """Fill `found` and `dull` with what the documents have; returns how many rows of each.

    `ends` is one past the last character of each document, a character stands between them; `sources` are keys, 0
    where none is known. With `learn` every document is learnt before the next is read, its words before its names.
    """
    n = n_dull = begin = 0
    clock = tables.clock
    main = np.empty(MAIN_PHRASES, np.uint64)
    for i in range(ends.shape[0]):
        if learn:
            _tick(tables, rate)
        n_tokens, n_lines = cut(codes, begin, ends[i], alphabet, tokens, lines)
        look_up(tokens, n_tokens, alphabet.keys, alphabet.marks, tables.words, tables.word_marks, clock, learn)
        lead = LEAD_CHARACTERS + begin
        if n_lines > 0:
            lead += min(tokens[lines[1].first - 1].end - begin, TITLE_CHARACTERS)
        unit = clock[UNIT_NOW]
        items = count_of(tables.counts, sources[i] ^ OF_SOURCE) / unit
        for line in range(n_lines):
            a, b = lines[line].first, lines[line + 1].first
            style = style_of(tokens, a, b)
            lines[line].style = style
            if learn:
                learn_line(tokens, a, b, style, lead, tables.words.counts, clock, tables.counts, tables.neighbours)
            if sources[i] != 0:
                mark_boilerplate(
                    tokens,
                    n_tokens,
                    a,
                    b,
                    line,
                    sources[i],
                    items,
                    clock,
                    tables.grams,
                    tables.words.counts,
                    tables.seen,
                    learn,
                )
        if learn and sources[i] != 0:
            forget_bits(clock, tables.seen)
            add(tables.counts, sources[i] ^ OF_SOURCE, unit)
        n_dull = _dull_spans(tokens, n_tokens, begin, i, dull, n_dull)
        ask_case(tokens, n_tokens, tables.words.counts, unit)
        prior = clock[FIRST_UPPER] / (clock[FIRST_UPPER] + clock[FIRST_LOWER])
        known = Known(tables.names.keys, tables.names.counts, alphabet.keys, alphabet.marks, unit, prior)
        first = n
        for line in range(1, n_lines + 1):  # the title last: it is read best by what the body has taught
            k = line % n_lines
            a, b, style = lines[k].first, lines[k + 1].first, lines[k].style
            old = n
            n = read_names(tokens, a, b, style, known, found, n)
            while learn and b > a and tokens[b - 1].start >= lead:  # common words of bodies are read for those who ask
                b -= 1
            n = read_words(tokens, a, b, style, tables.counts, unit, found, n)
            for row in range(old, n):
                start, end = tokens[found[row].start].start, tokens[found[row].end - 1].end
                is_title = k == 0 and start - begin < TITLE_CHARACTERS
                found[row].zone = TITLE if is_title else (LEAD if start < lead else BODY)
                found[row].document = i
                found[row].start, found[row].end = start - begin, end - begin
            if learn:
                learn_names(found, old, n, codes, begin, tables.names, tables.name_texts, tables.holders, clock)
        if learn:
            learn_phrases(found, first, n, tables.counts, clock, main)
        begin = ends[i] + 1
    return n, n_dull


@part_of_kernel
def _tick(tables: Tables, rate: float) -> None:
    """One document more."""
    clock = tables.clock
    clock[UNIT_NOW] *= rate
    clock[N_DOCUMENTS] = clock[N_DOCUMENTS] / rate + 1.0
    clock[NUMBER_NOW] += 1.0
    if clock[UNIT_NOW] > LARGEST_UNIT:
        for table in (tables.words, tables.names, tables.counts, tables.grams, tables.neighbours):
            rescale(table, clock[UNIT_NOW])
        clock[UNIT_NOW] = 1.0


@part_of_kernel
def _dull_spans(tokens: Tokens, n_tokens: int, begin: int, document: int, dull: Spans, n: int) -> int:
    t = 0
    while t < n_tokens:
        if tokens[t].dull:
            dull[n].document, dull[n].start = document, tokens[t].start - begin
            while t + 1 < n_tokens and tokens[t + 1].dull:
                t += 1
            dull[n].end = tokens[t].end - begin
            n += 1
        t += 1
    return n
