"""The terms of an alert as people read them: strongest first, names in one piece."""

from __future__ import annotations

from collections.abc import Sequence

from firststory.harmless import harmless

N_TERMS = 5
N_LOOKED_AT = 12
"""The strongest terms, of which names are made."""
MAX_TERM_CHARACTERS = 60
TITLE_CASE_SHARE = 0.7
"""Where more of the words begin with a capital letter, capitals do not tell names."""
_SIGNS = "\"'“”‘’.,;:!?()[]…"


def shown_terms(surfaces: Sequence[str], text: str, most: int = N_TERMS) -> tuple[str, ...]:
    """The strongest surface forms; those that stand together in the text, each with a capital letter, are one name.

    Examples
    --------
    >>> shown_terms(["Khashoggi", "missing", "Jamal"], "Writer Jamal Khashoggi is missing in Turkey")
    ('Jamal Khashoggi', 'missing')
    """
    strongest = list(dict.fromkeys(map(_without_possessive, surfaces)))[:N_LOOKED_AT]
    name_of = _names(set(strongest), text)
    shown = dict.fromkeys(name_of.get(surface, surface) for surface in strongest)
    return tuple(harmless(term, MAX_TERM_CHARACTERS) for term in list(shown)[:most])


def _names(known: set[str], text: str) -> dict[str, str]:
    """Each surface form that is part of a name -> the name."""
    words = text.split()
    if sum(word[:1].isupper() for word in words) > TITLE_CASE_SHARE * len(words):
        return {}
    names: dict[str, str] = {}
    run: list[str] = []
    for word in [*words, ""]:
        bare = _without_possessive(word.strip(_SIGNS))
        is_part = bare in known and bare[:1].isupper()
        # A sign before a word ends a name, one behind it ends it after the word.
        if not is_part or not word.startswith(bare):
            _keep(run, names)
            run = []
        if is_part:
            run.append(bare)
            if not word.endswith(bare):
                _keep(run, names)
                run = []
    return names


def _keep(run: list[str], names: dict[str, str]) -> None:
    if len(run) > 1:
        names.update((part, " ".join(run)) for part in run if part not in names)


def _without_possessive(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
