"""Names, figures and hashtags of a line, with the votes of what stands beside a name for its kind."""

from __future__ import annotations

import numpy as np

from firststory.kernels.jit import part_of_kernel
from firststory.kernels.phrases.keys import joined
from firststory.kernels.phrases.layout import (
    CAPITALISED,
    CAPITALS,
    COMMA,
    DATE,
    DATE_OR_NAME,
    DIRECTION,
    FIGURE,
    FIRST_NAME,
    HASHTAG,
    IN_SENTENCE,
    INSIDE,
    LONGEST_NAME,
    MAGNITUDE,
    NAME,
    NAME_OR_WORD,
    NEAR,
    NO_FIGURE,
    NUMBER,
    OF,
    ORGANISATION_ALONE,
    ORGANISATION_HEAD,
    ORGANISATION_WORD,
    PARTICLE,
    PERSON_TITLE,
    PLACE_HEAD,
    PLACE_NAME,
    PLACE_WORD,
    ROYAL,
    SAYS,
    SENTENCE_CASE,
    SMALL,
    STOP,
    TAG,
    TAKES_OF,
    THE,
    THING,
    UNIT,
    WHO,
    WHOLE_FIGURE,
    Found,
    Known,
    Tokens,
)
from firststory.kernels.phrases.lines import is_name_word
from firststory.kernels.phrases.tables import find_key, marks_of

KNOWN = 2.0
"""Times that a name of several words must have been seen in sentence case to be known."""
KNOWN_ALONE = 4.0
"""The same for one word, in lines where all words are capitalised."""


@part_of_kernel
def run_key(tokens: Tokens, begin: int, end: int) -> np.uint64:
    """The key of some tokens together."""
    key = np.uint64(tokens[begin].key)
    for t in range(begin + 1, end):
        key = joined(key, tokens[t].key, tokens[t].words)
    return key


@part_of_kernel
def times_in_sentences(known: Known, key: np.uint64) -> float:
    """How often a name was seen in sentence case."""
    slot = find_key(known.name_keys, key)
    return 0.0 if slot < 0 else known.name_counts[slot, IN_SENTENCE] / known.unit


@part_of_kernel
def mark_names(tokens: Tokens, begin: int, end: int, style: int, known: Known) -> None:
    """Which words of a line belong to names."""
    is_plain = style == SENTENCE_CASE
    for t in range(begin, end):
        shape, marks = tokens[t].shape, tokens[t].marks
        tokens[t].taken = False
        big = (shape in (CAPITALISED, CAPITALS)) and not tokens[t].dull
        if big and marks & DATE != 0:  # Theresa May and Jan Brewer, not May 5
            behind = t > begin and tokens[t].glued and tokens[t - 1].ok and tokens[t - 1].marks & FIRST_NAME != 0
            before = t + 1 < end and tokens[t + 1].glued and tokens[t + 1].shape == CAPITALISED
            before = before and is_plain and tokens[t + 1].marks & (DATE | STOP) == 0
            is_dated = t + 1 < end and tokens[t + 1].shape == NUMBER
            tokens[t].big = tokens[t].ok = marks & DATE_OR_NAME != 0 and (behind or before) and not is_dated
            continue
        tokens[t].big = big
        ok = False
        if big and marks & STOP == 0:
            ok = is_plain and (not tokens[t].opens or (shape == CAPITALS and tokens[t].end - tokens[t].start <= 3))
            ok = ok or tokens[t].inner or is_name_word(tokens, t, known.prior)
        tokens[t].ok = ok
    for t in range(begin, end - 1):  # common words in names: White House, New York
        if not (tokens[t + 1].glued and tokens[t].big and tokens[t + 1].big) or tokens[t].owns:
            continue
        if tokens[t].ok and tokens[t + 1].ok:
            continue
        free = is_plain and not tokens[t].opens
        joins = free and (tokens[t].ok or tokens[t + 1].ok)
        if not joins and not free and tokens[t + 1].ok:
            marks = tokens[t].marks
            joins = marks & FIRST_NAME != 0 or (marks & STOP == 0 and tokens[t].lower < 1.0)
        if not joins:
            both = joined(tokens[t].key, tokens[t + 1].key, tokens[t + 1].words)
            joins = (
                times_in_sentences(known, both) >= KNOWN
                or marks_of(known.list_keys, known.list_marks, both) & PLACE_NAME != 0
            )
        if joins:
            tokens[t].ok = tokens[t + 1].ok = True


@part_of_kernel
def name_end(tokens: Tokens, t: int, end: int) -> int:
    """One past the run of name words at `t`, particles and "of" inside; a possessive ends it."""
    j = t + 1
    while j < end and not tokens[j - 1].owns and tokens[j].glued:
        if tokens[j].ok:
            j += 1
            continue
        inside = j
        while inside < min(end, j + 2) and tokens[inside].glued and tokens[inside].marks & PARTICLE != 0:
            inside += 1
        if inside == j and tokens[j].marks & OF != 0 and tokens[j - 1].marks & TAKES_OF != 0:
            inside += 1
        if inside in (j, end) or not (tokens[inside].glued and tokens[inside].ok):
            break
        j = inside + 1
    return j


@part_of_kernel
def read_names(tokens: Tokens, begin: int, end: int, style: int, known: Known, found: Found, n: int) -> int:
    """Put the names, figures and hashtags of a line behind the n phrases found so far; `start` and `end` are tokens.

    Returns how many phrases there are now.
    """
    mark_names(tokens, begin, end, style, known)
    t = begin
    while t < end:
        shape = tokens[t].shape
        stop = t + 1
        if tokens[t].dull:
            pass
        elif shape == NUMBER:
            stop = _figure_end(tokens, t, end)
            if stop > t:
                n = _put(tokens, t, stop, FIGURE, style, found, n)
            stop = max(stop, t + 1)
        elif shape == HASHTAG:
            n = _put(tokens, t, stop, TAG, style, found, n)
        elif tokens[t].ok:
            stop = name_end(tokens, t, end)
            n = _cut_run(tokens, t, stop, begin, end, style, known, found, n)
        t = stop
    return n


@part_of_kernel
def _figure_end(tokens: Tokens, t: int, end: int) -> int:
    """One past the figure at `t`: number, million, unit; `t` where the number says nothing by itself."""
    marks = tokens[t].marks
    if marks & NO_FIGURE != 0:
        return t
    stop = t + 1
    if stop < end and tokens[stop].glued and tokens[stop].marks & MAGNITUDE != 0:
        stop += 1
    if stop < end and tokens[stop].glued and tokens[stop].shape == SMALL:
        word = tokens[stop].marks
        if word & UNIT != 0 or (word & STOP == 0 and tokens[stop].counted):
            stop += 1
    return stop if stop > t + 1 or marks & WHOLE_FIGURE != 0 else t


@part_of_kernel
def _cut_run(
    tokens: Tokens,
    i: int,
    j: int,
    begin: int,
    end: int,
    style: int,
    known: Known,
    found: Found,
    n: int,
) -> int:
    """A run of name words: titles of people off, long runs and Title Case runs cut into the names that are known."""
    for h in range(j - 2, i - 1, -1):
        if tokens[h].marks & PERSON_TITLE != 0 and tokens[h + 1].marks & ORGANISATION_WORD == 0:
            n = _put_name(tokens, i, h, begin, end, style, known, found, n)  # Arizona Gov. Jan Brewer
            i = h + 1
            break
    if j - i < (4 if style == SENTENCE_CASE else 2):
        return _put_name(tokens, i, j, begin, end, style, known, found, n)
    if j - i <= LONGEST_NAME and times_in_sentences(known, run_key(tokens, i, j)) >= KNOWN:
        return _put_name(tokens, i, j, begin, end, style, known, found, n)
    rest = k = i
    while k < j:
        cut = 0
        for m in range(min(j, k + 4), k, -1):
            if m - k == j - i or (m - k == 1 and style == SENTENCE_CASE):
                continue
            if times_in_sentences(known, run_key(tokens, k, m)) >= (KNOWN if m - k > 1 else KNOWN_ALONE):
                cut = m
                break
        if cut == 0:
            k += 1
            continue
        n = _put_name(tokens, rest, k, begin, end, style, known, found, n)
        n = _put_name(tokens, k, cut, begin, end, style, known, found, n)
        rest = k = cut
    return _put_name(tokens, rest, j, begin, end, style, known, found, n)


@part_of_kernel
def _put_name(
    tokens: Tokens,
    i: int,
    j: int,
    begin: int,
    end: int,
    style: int,
    known: Known,
    found: Found,
    n: int,
) -> int:
    """A name without particles at its ends, with its votes."""
    while i < j and not tokens[i].ok:
        i += 1
    while j > i and (not tokens[j - 1].ok or (j - i > 1 and tokens[j - 1].marks & PERSON_TITLE != 0)):
        j -= 1  # Arizona Gov.
    if i == j or j - i > LONGEST_NAME or (j - i == 1 and tokens[i].end - tokens[i].start < 2):
        return n
    if j - i == 1 and tokens[i].marks & PERSON_TITLE != 0:  # the President is no name
        return n
    n = _put(tokens, i, j, NAME, style, found, n)
    _vote(tokens, i, j, begin, end, style, known, found, n - 1)
    return n


@part_of_kernel
def _put(tokens: Tokens, i: int, j: int, form: int, style: int, found: Found, n: int) -> int:
    found[n].start, found[n].end = i, j
    found[n].key = run_key(tokens, i, j)
    found[n].form, found[n].style = form, style
    words = 0
    for t in range(i, j):
        words += tokens[t].words
        tokens[t].taken = True
    found[n].words = min(words, 255)
    found[n].last = tokens[j - 1].key if tokens[j - 1].words == 1 else np.uint64(0)
    found[n].person = found[n].place = found[n].organisation = 0.0
    return n + 1


@part_of_kernel
def _vote(
    tokens: Tokens,
    i: int,
    j: int,
    begin: int,
    end: int,
    style: int,
    known: Known,
    found: Found,
    n: int,
) -> None:
    """What speaks for a person, a place, an organisation: words beside the name and in it, and the lists."""
    person = place = organisation = 0.0
    size = j - i
    before = 0 if i == begin else int(tokens[i - 1].marks)
    after = int(tokens[j].marks) if j < end and tokens[j].glued and not tokens[j - 1].owns else 0
    first, last = tokens[i].marks, tokens[j - 1].marks
    if before & PERSON_TITLE != 0 and first & ORGANISATION_WORD == 0:
        person += 3.0
    if before & INSIDE != 0:
        place += 1.0
    if before & NEAR != 0:
        place += 0.3
    if before & THE != 0:  # too little by itself: the Midterm Elections
        organisation += 0.1
    if before & SAYS != 0:
        person += 0.5
    is_thing = size == 1 and before & THE != 0  # "the Pentagon says"
    if after & (SAYS | WHO) != 0:
        person += 0.2 if is_thing else 1.0
    is_aged = j + 2 < end and tokens[j + 1].shape == NUMBER and _is_comma(tokens, j) and _is_comma(tokens, j + 2)
    if is_aged:  # Jane Doe, 39,
        person += 2.0
    if last & THING != 0:  # the Nobel Prize, Christmas
        return
    is_name_too = first & PLACE_NAME == 0  # Boston is a first name, and George a city
    if size > 1:
        # A first name that is a word as well (Mark) may be written small at times, others (Red) may not.
        share = 1.0 if first & NAME_OR_WORD != 0 else 0.1
        is_first = first & FIRST_NAME != 0 and size <= 4 and tokens[i].lower <= share * tokens[i].upper
        if is_first and last & (PLACE_WORD | ORGANISATION_WORD) == 0 and _is_mostly_upper(tokens, j - 1, 1.0):
            person += 2.0 if is_name_too else 0.5
        if first & ROYAL != 0:
            person += 2.0
        if last & ORGANISATION_WORD != 0 or first & ORGANISATION_HEAD != 0:
            organisation += 3.0
        is_part = (
            first & DIRECTION != 0
            and marks_of(known.list_keys, known.list_marks, run_key(tokens, i + 1, j)) & PLACE_NAME != 0
        )
        if (last & PLACE_WORD != 0 and last & ORGANISATION_WORD == 0) or first & PLACE_HEAD != 0 or is_part:
            place += 3.0
    else:
        is_short = tokens[i].shape == CAPITALS and tokens[i].end - tokens[i].start <= 6
        if is_short and style == SENTENCE_CASE and _is_mostly_upper(tokens, i, 0.0):
            organisation += 1.5
        if last & ORGANISATION_ALONE != 0:
            organisation += 1.0
    if marks_of(known.list_keys, known.list_marks, found[n].key) & PLACE_NAME != 0:
        place += 1.0 if size == 1 and first & FIRST_NAME != 0 else 5.0
    if last & PERSON_TITLE != 0:
        person = 0.0
    found[n].person, found[n].place, found[n].organisation = person, place, organisation


@part_of_kernel
def _is_comma(tokens: Tokens, t: int) -> bool:
    return bool(tokens[t].marks & COMMA != 0)


@part_of_kernel
def _is_mostly_upper(tokens: Tokens, t: int, slack: float) -> bool:
    return bool(tokens[t].lower <= tokens[t].upper + slack)
