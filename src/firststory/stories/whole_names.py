"""Names in one piece: of single terms, those that stand together in the titles of a story."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
        _note_names(title.split(), known, name_of)
    return list(dict.fromkeys(name_of.get(term, term) for term in bare))


def _note_names(words: Sequence[str], known: set[str], name_of: dict[str, str]) -> None:
    """Each term that is part of a name in the title -> the name; the longest that was found."""
    if sum(word[:1].isupper() for word in words) > TITLE_CASE_SHARE * len(words):
        return
    run: list[str] = []
    for word in [*words, ""]:
        bare = _without_possessive(word.strip(_SIGNS))
        is_part = bare in known and bare[:1].isupper()
        # A sign before a word ends a name, one behind it ends it after the word.
        if not is_part or not word.startswith(bare):
            _keep(run, name_of)
            run = []
        if is_part:
            run.append(bare)
            if not word.endswith(bare):
                _keep(run, name_of)
                run = []


def _keep(run: Sequence[str], name_of: dict[str, str]) -> None:
    if len(run) > 1:
        name = " ".join(run)
        name_of.update((part, name) for part in run if len(name_of.get(part, "")) < len(name))


def _without_possessive(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
