"""Names in one piece: of single terms, those that stand together in the titles of a story."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

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
    bare = list(dict.fromkeys(map(_without_possessive, terms)))
    known, name_of = set(bare), dict[str, str]()
    for title in titles:
        _note_names(_title_words(title), known, name_of)
    return list(dict.fromkeys(name_of.get(term, term) for term in bare))


class _Word(NamedTuple):
    """A word of a title."""

    bare: str
    """Without signs and possessive."""
    is_upper: bool
    has_sign_before: bool
    has_sign_behind: bool


@lru_cache(maxsize=1 << 12)
def _title_words(title: str) -> tuple[_Word, ...]:
    """The words of a title in which capitals tell names; none otherwise. A story asks for its titles as it grows."""
    words = title.split()
    if sum(word[:1].isupper() for word in words) > TITLE_CASE_SHARE * len(words):
        return ()
    found = [(word, _without_possessive(word.strip(_SIGNS))) for word in words]
    return tuple(
        _Word(bare, bare[:1].isupper(), not word.startswith(bare), not word.endswith(bare)) for word, bare in found
    )


_END = _Word("", is_upper=False, has_sign_before=True, has_sign_behind=True)


def _note_names(words: Sequence[_Word], known: set[str], name_of: dict[str, str]) -> None:
    """Each term that is part of a name in the title -> the name; the longest that was found."""
    run: list[str] = []
    for word in (*words, _END):
        is_part = word.is_upper and word.bare in known
        # A sign before a word ends a name, one behind it ends it after the word.
        if not is_part or word.has_sign_before:
            _keep(run, name_of)
            run = []
        if is_part:
            run.append(word.bare)
            if word.has_sign_behind:
                _keep(run, name_of)
                run = []


def _keep(run: Sequence[str], name_of: dict[str, str]) -> None:
    if len(run) > 1:
        name = " ".join(run)
        name_of.update((part, name) for part in run if len(name_of.get(part, "")) < len(name))


def _without_possessive(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
