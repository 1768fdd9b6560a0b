"""Names in one piece: of single terms, those that stand together in the titles of a story."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

TITLE_CASE_SHARE = 0.7
"""Where more of the words of a title begin with a capital letter, capitals do not tell names."""
_SIGNS = "\"'“”‘’.,;:!?()[]…"


def whole_names(terms: Sequence[str], titles: Iterable[str]) -> list[str]:
    """The terms, in their order; those that stand together in a title, each with a capital letter, are one name.

    Examples
    --------
    >>> whole_names(["Khashoggi's", "missing", "Jamal"], ["Writer Jamal Khashoggi is missing in Turkey"])
    ['Jamal Khashoggi', 'missing']
    """
    bare = list(dict.fromkeys([_without_possessive(term) if term[-1:] == "s" else term for term in terms]))
    known, name_of = set(bare), dict[str, str]()
    for title in titles:
        for run in _capital_runs(title):
            if not known.isdisjoint(run):
                _note_names(run, known, name_of)
    return list(dict.fromkeys([name_of.get(term, term) for term in bare])) if name_of else bare


@lru_cache(maxsize=1 << 12)
def _capital_runs(title: str) -> tuple[tuple[str, ...], ...]:
    """The words that may be a name together: several in a row with a capital letter, without signs and possessive.

    A sign before a word ends a name, one behind it ends it after the word. None where capitals do not tell names. A
    story asks for its titles as it grows.
    """
    words = title.split()
    if sum([word[0].isupper() for word in words]) > TITLE_CASE_SHARE * len(words):
        return ()
    runs: list[tuple[str, ...]] = []
    run: list[str] = []
    for word in words:
        if word[0].islower():  # most words
            if run:
                runs.append(tuple(run))
                run = []
            continue
        bare = _without_possessive(word.strip(_SIGNS))
        is_part = bare[:1].isupper()
        if run and not (is_part and word.startswith(bare)):
            runs.append(tuple(run))
            run = []
        if is_part:
            run.append(bare)
            if not word.endswith(bare):
                runs.append(tuple(run))
                run = []
    runs.append(tuple(run))
    return tuple([run for run in runs if len(run) > 1])


def _note_names(run: Sequence[str], known: set[str], name_of: dict[str, str]) -> None:
    """Each term that is part of a name in a run -> the name; the longest that was found."""
    for is_known, words in groupby(run, known.__contains__):
        parts = list(words)
        if is_known and len(parts) > 1:
            name = " ".join(parts)
            name_of.update((part, name) for part in parts if len(name_of.get(part, "")) < len(name))


def _without_possessive(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
