"""Cut a document into tokens: where each stands, how its capitals are, whether it begins a sentence, its key.

Unlike the tokens of the vectorizer these keep the signs between words and whole figures, since names end at a sign and
sentences begin behind one.
"""

from __future__ import annotations

import numpy as np

from firststory.kernels.jit import part_of_kernel
from firststory.kernels.phrases.keys import PRIME, SEED, joined, mix
from firststory.kernels.phrases.layout import (
    ABBREVIATION,
    AMPERSAND,
    APOSTROPHE,
    AT,
    BREAK,
    CAPITALISED,
    CAPITALS,
    COMMA,
    CURRENCY,
    DIGIT,
    DOT,
    HASH,
    HASHTAG,
    HEAD_END,
    HYPHEN,
    INVISIBLE,
    JOIN,
    LONGEST_WORD,
    LOWER,
    NO_FIGURE,
    NUMBER,
    OPENING,
    ORDINAL,
    SIGN,
    SMALL,
    SPACE,
    UNSPACED,
    UPPER,
    WHOLE_FIGURE,
    Alphabet,
    Bytes,
    Codes,
    Lines,
    Tokens,
)
from firststory.kernels.phrases.tables import marks_of

LONGEST_ABBREVIATION = 4
_SLASH, _COLON, _SEMICOLON, _PERCENT, _UNDERSCORE, _COMMA, _BAR, _S = 47, 58, 59, 37, 95, 44, 124, 115


@part_of_kernel
def cut(codes: Codes, begin: int, end: int, alphabet: Alphabet, tokens: Tokens, lines: Lines) -> tuple[int, int]:
    """Fill `tokens` and `lines` with those of codes[begin:end]; returns how many of each there are."""
    classes = alphabet.classes
    n, n_lines, i, behind = 0, 0, begin, -9
    opens = True
    is_new_line = True
    while i < end:
        kind = classes[codes[i]]
        if kind in (SPACE, INVISIBLE):
            i += 1
            continue
        if kind == BREAK:
            is_new_line = opens = True
            i += 1
            continue
        if is_new_line:
            lines[n_lines].first = n
            n_lines += 1
            is_new_line = False
        tokens[n].start = i
        tokens[n].opens = opens
        tokens[n].glued = i - behind == 1 and classes[codes[behind]] == SPACE
        tokens[n].owns = tokens[n].inner = tokens[n].dull = False
        tokens[n].slot = -1
        tokens[n].marks = 0
        tokens[n].words = 1
        following = classes[codes[i + 1]] if i + 1 < end else SPACE
        is_letter = kind in (LOWER, UPPER, UNSPACED)
        if is_letter:
            begin_word = i
            i = _word(codes, i, end, alphabet, tokens, n)
            if i < end and (codes[i] == _COLON or classes[codes[i]] in (DOT, AT, HYPHEN)):
                address = _address_end(codes, begin_word, end, classes)
                if address > begin_word:
                    i = _sign(tokens, n, codes, begin_word, address)
        elif kind == DIGIT or (kind == CURRENCY and _digit_follows(codes, i, end, classes)):
            i = _number(codes, i, end, alphabet, tokens, n)
        elif kind == HASH and (following in (LOWER, UPPER, DIGIT, UNSPACED)):
            i = _hashtag(codes, i, end, alphabet, tokens, n)
        elif kind == AT and (following in (LOWER, UPPER, DIGIT) or codes[i + 1] == _UNDERSCORE):
            i = _sign(tokens, n, codes, i, _run_end(codes, i + 1, end, classes))
        elif kind == AMPERSAND:
            i = _sign(tokens, n, codes, i, _entity_end(codes, i, end))
        else:
            i = _sign(tokens, n, codes, i, i + 1)
        if tokens[n].shape == SIGN:
            single = tokens[n].end - tokens[n].start == 1
            begins = kind in (OPENING, DOT) or codes[tokens[n].start] == _COLON or codes[tokens[n].start] == _SLASH
            opens = (single and begins) or opens
        else:
            opens = False
        behind = i
        n += 1
    lines[n_lines].first = n
    return n, n_lines


@part_of_kernel
def _word(codes: Codes, i: int, end: int, alphabet: Alphabet, tokens: Tokens, n: int) -> int:
    """Read the word at `i`; returns one past all of it."""
    classes, folded = alphabet.classes, alphabet.folded
    begin, last = i, i
    key, words, h = np.uint64(0), 0, SEED
    letters = capitals = small = 0
    is_inner = False
    first = classes[codes[i]]
    dotted = i
    if i + 1 < end and classes[codes[i + 1]] == DOT:
        dotted = _acronym_end(codes, i, end, classes)
    if dotted > i:
        for j in range(i, dotted):
            kind = classes[codes[j]]
            if kind in (LOWER, UPPER):
                h = (h ^ np.uint64(folded[codes[j]])) * PRIME
                capitals += kind == UPPER
                small += kind == LOWER
                letters += 1
        last = i = dotted
        is_inner = letters > 1 and first == UPPER
    while i < end and dotted == begin:
        c = codes[i]
        kind = classes[c]
        if kind == LOWER:  # most characters
            h = (h ^ np.uint64(folded[c])) * PRIME
            letters += 1
            small += 1
            i += 1
            last = i
        elif kind in (UPPER, DIGIT, UNSPACED):
            h = (h ^ np.uint64(folded[c])) * PRIME
            letters += 1
            if kind == UPPER:
                is_inner |= small > 0
                capitals += 1
            i += 1
            last = i
        elif kind == INVISIBLE:
            i += 1
        elif (kind in (APOSTROPHE, HYPHEN, AMPERSAND)) and i + 1 < end and i == last:
            following = classes[codes[i + 1]]
            if following not in (LOWER, UPPER, DIGIT):
                break
            if kind == APOSTROPHE:
                beyond = classes[codes[i + 2]] if i + 2 < end else SPACE
                if codes[i + 1] | 32 == _S and beyond not in (LOWER, UPPER, DIGIT, INVISIBLE):
                    tokens[n].owns = True
                    i += 2
                    break
                h = (h ^ np.uint64(39)) * PRIME
            elif kind == HYPHEN:
                key, words, h = joined(key, mix(h), 1), words + 1, SEED
                small = 0  # Jong-Un has no inner capital
            else:
                h = (h ^ np.uint64(folded[c])) * PRIME
            i += 1
        else:
            break
    tokens[n].end = last
    key, words = joined(key, mix(h), 1), words + 1
    tokens[n].key, tokens[n].words, tokens[n].inner = key, min(words, 255), is_inner
    if last - begin > LONGEST_WORD:
        tokens[n].shape = SIGN
        return i if tokens[n].owns else last
    tokens[n].shape = SMALL
    if first == UPPER:
        tokens[n].shape = CAPITALS if capitals == letters and (capitals > 1 or dotted - begin > 2) else CAPITALISED
    elif capitals > 0 and _small_before_capital(codes, begin, last, classes):
        tokens[n].shape = CAPITALISED
    is_dotted = last - begin <= LONGEST_ABBREVIATION and last < end and classes[codes[last]] == DOT
    if is_dotted and not tokens[n].owns and marks_of(alphabet.keys, alphabet.marks, key) & ABBREVIATION != 0:
        tokens[n].end = i = last + 1
    return i if tokens[n].owns or i > last else last


@part_of_kernel
def _small_before_capital(codes: Codes, begin: int, end: int, classes: Bytes) -> bool:
    """Names that begin small: iPhone, eBay, al-Assad, d'Arc."""
    for j in range(begin + 1, min(begin + 4, end)):
        kind = classes[codes[j]]
        if kind == UPPER:
            return j == begin + 1 or classes[codes[j - 1]] != LOWER
    return False


@part_of_kernel
def _acronym_end(codes: Codes, i: int, end: int, classes: Bytes) -> int:
    """One past U.S. or U.S, or the initial J. of a name; `i` where none stands there."""
    j, letters = i, 0
    while j + 1 < end and (classes[codes[j]] == LOWER or classes[codes[j]] == UPPER) and classes[codes[j + 1]] == DOT:
        j += 2
        letters += 1
    if letters == 0:
        return i
    follows = j < end and (classes[codes[j]] == LOWER or classes[codes[j]] == UPPER or classes[codes[j]] == DIGIT)
    if follows:
        beyond = classes[codes[j + 1]] if j + 1 < end else SPACE
        alone = beyond not in (LOWER, UPPER, DIGIT, APOSTROPHE, HYPHEN)
        return j + 1 if alone else (j if letters > 1 else i)
    if letters > 1:
        return j
    # One letter with a dot is an initial where a capital follows, else the end of a sentence.
    if classes[codes[i]] == UPPER and j + 1 < end and classes[codes[j]] == SPACE and classes[codes[j + 1]] == UPPER:
        return j
    return i


@part_of_kernel
def _number(codes: Codes, i: int, end: int, alphabet: Alphabet, tokens: Tokens, n: int) -> int:
    """Read the number at `i`, with its currency, what is written onto it, and hyphened words: $1.4, 5%, 254-pound."""
    classes, folded = alphabet.classes, alphabet.folded
    h, begin = SEED, i
    is_figure = False
    if classes[codes[i]] == CURRENCY:
        h = (h ^ np.uint64(codes[i])) * PRIME
        is_figure = True
        i += 1 if classes[codes[i + 1]] == DIGIT else 2
    digits, first, joins = 0, 0, 0
    while i < end:
        kind = classes[codes[i]]
        if kind == DIGIT:
            h = (h ^ np.uint64(folded[codes[i]])) * PRIME
            first = 10 * first + int(folded[codes[i]]) - 48 if digits < 4 else 0
            digits += 1
        elif kind in (JOIN, DOT) and i + 1 < end and classes[codes[i + 1]] == DIGIT:
            if codes[i] != _COMMA:
                h = (h ^ np.uint64(codes[i])) * PRIME
                joins += codes[i] in (_COLON, _SLASH)
        else:
            break
        i += 1
    is_year = digits == 4 and 1900 <= first < 2100
    # 9:30 is a time and 9/11 a date.
    is_none = (is_year and not is_figure) or joins > 0
    if i < end and codes[i] == _PERCENT:
        h = (h ^ np.uint64(_PERCENT)) * PRIME
        i += 1
        is_figure = True
    elif i < end and classes[codes[i]] in (LOWER, UPPER):  # 10m, 5G, but not 3rd, 1990s or 10am
        suffix = SEED
        while i < end and classes[codes[i]] in (LOWER, UPPER, DIGIT):
            h = (h ^ np.uint64(folded[codes[i]])) * PRIME
            suffix = (suffix ^ np.uint64(folded[codes[i]])) * PRIME
            i += 1
        is_none |= marks_of(alphabet.keys, alphabet.marks, mix(suffix)) & ORDINAL != 0
        is_figure = True
    key, words = joined(np.uint64(0), mix(h), 1), 1
    while i + 1 < end and classes[codes[i]] == HYPHEN and classes[codes[i + 1]] in (LOWER, UPPER, DIGIT):
        is_number = classes[codes[i + 1]] == DIGIT
        i += 1
        h = SEED
        while i < end and classes[codes[i]] in (LOWER, UPPER, DIGIT):
            h = (h ^ np.uint64(folded[codes[i]])) * PRIME
            i += 1
        key, words = joined(key, mix(h), 1), words + 1
        is_none |= is_number and is_year  # 2018-10-01
        is_figure |= not is_number  # 254-pound, not 3-1
    tokens[n].end, tokens[n].key, tokens[n].words = i, key, min(words, 255)
    tokens[n].shape = SIGN if i - begin > LONGEST_WORD else NUMBER
    tokens[n].marks = NO_FIGURE if is_none else (WHOLE_FIGURE if is_figure else 0)
    return i


@part_of_kernel
def _hashtag(codes: Codes, i: int, end: int, alphabet: Alphabet, tokens: Tokens, n: int) -> int:
    """Read the hashtag at `i`; its key is that of its words: #BostonMarathon is Boston Marathon."""
    classes, folded = alphabet.classes, alphabet.folded
    begin, stop = i, _run_end(codes, i + 1, end, classes)
    key, words, h, letters = np.uint64(0), 0, SEED, 0
    for j in range(begin + 1, stop):
        if letters > 0 and part_begins(codes, j, stop, classes):
            key, words, h, letters = joined(key, mix(h), 1), words + 1, SEED, 0
        if codes[j] != _UNDERSCORE and classes[codes[j]] != INVISIBLE:
            h = (h ^ np.uint64(folded[codes[j]])) * PRIME
            letters += 1
    if letters > 0:
        key, words = joined(key, mix(h), 1), words + 1
    tokens[n].end, tokens[n].key, tokens[n].words = stop, key, min(words, 255)
    tokens[n].shape = SIGN if stop - begin > LONGEST_WORD else HASHTAG
    return stop


@part_of_kernel
def part_begins(codes: Codes, j: int, end: int, classes: Bytes) -> bool:
    """Whether a word of a hashtag begins at `j`: behind an underscore, at a capital, where digits begin or end."""
    if codes[j] == _UNDERSCORE or codes[j - 1] == _UNDERSCORE:
        return True
    before, kind = classes[codes[j - 1]], classes[codes[j]]
    if (before == DIGIT) != (kind == DIGIT):
        return True
    return kind == UPPER and (before == LOWER or (before == UPPER and j + 1 < end and classes[codes[j + 1]] == LOWER))


@part_of_kernel
def _sign(tokens: Tokens, n: int, codes: Codes, i: int, stop: int) -> int:
    """A token that is no word: a sign, an address, an @name."""
    h = SEED
    for j in range(i, min(stop, i + LONGEST_WORD)):
        h = (h ^ np.uint64(codes[j])) * PRIME
    tokens[n].end, tokens[n].shape, tokens[n].key = stop, SIGN, mix(h)
    if stop == i + 1:
        tokens[n].marks = COMMA if codes[i] == _COMMA else (HEAD_END if codes[i] in (_COLON, _BAR) else 0)
    return stop


@part_of_kernel
def _digit_follows(codes: Codes, i: int, end: int, classes: Bytes) -> bool:
    if i + 1 < end and classes[codes[i + 1]] == DIGIT:
        return True
    return i + 2 < end and classes[codes[i + 1]] == SPACE and classes[codes[i + 2]] == DIGIT


@part_of_kernel
def _run_end(codes: Codes, i: int, end: int, classes: Bytes) -> int:
    while i < end:
        kind = classes[codes[i]]
        if kind not in (LOWER, UPPER, DIGIT, UNSPACED, INVISIBLE) and codes[i] != _UNDERSCORE:
            break
        i += 1
    return i


@part_of_kernel
def _entity_end(codes: Codes, i: int, end: int) -> int:
    """One past &amp; or &#39; at `i`, else one past the sign."""
    for j in range(i + 1, min(end, i + 9)):
        c = codes[j]
        if c == _SEMICOLON:
            return j + 1 if j > i + 1 else i + 1
        if not (97 <= c <= 122 or 48 <= c <= 57 or (c == 35 and j == i + 1)):
            break
    return i + 1


@part_of_kernel
def _address_end(codes: Codes, i: int, end: int, classes: Bytes) -> int:
    """One past the address at `i` (https://..., www.example.org, a.b/c, me@example.org), or `i` where there is none."""
    j = i
    while j < end and (classes[codes[j]] == LOWER or classes[codes[j]] == UPPER or classes[codes[j]] == DIGIT):
        j += 1
    if j + 1 >= end or j == i:
        return i
    is_address = False
    if codes[j] == _COLON:
        is_address = j + 2 < end and codes[j + 1] == _SLASH and codes[j + 2] == _SLASH
    elif classes[codes[j]] == AT:
        is_address = classes[codes[j + 1]] in (LOWER, UPPER, DIGIT)
    elif classes[codes[j]] == DOT and classes[codes[j + 1]] == LOWER:
        if j - i == 3 and codes[i] | 32 == 119 and codes[i + 1] | 32 == 119 and codes[i + 2] | 32 == 119:
            is_address = True
        else:
            k = j + 1
            while k < end and k - j < LONGEST_WORD and (classes[codes[k]] in (LOWER, UPPER, DIGIT, DOT, HYPHEN)):
                k += 1
            is_address = k + 1 < end and (codes[k] == _SLASH or classes[codes[k]] == AT) and classes[codes[k + 1]] in (
                LOWER, UPPER, DIGIT)  # fmt: skip
    if not is_address:
        return i
    while j < end and classes[codes[j]] != SPACE and classes[codes[j]] != BREAK:
        j += 1
    return j
