"""How storylines are called: by the words that their headlines share, else by their topic, else by a headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from weakref import WeakKeyDictionary

import regex

from firststory.harmless import display_title, harmless
from firststory.records import Storyline
from firststory.serve.page.numbers import sentence
from firststory.store.store import Store
from firststory.text.language import stop_words

LONGEST = 120
MOST_NAMES = 10_000
READ = 64
"""The latest headlines, which tell what a line is about now."""
LEAST = 12
"""A line of fewer documents is called by a headline, which says more than two words can."""
SHARED, ALONE, BESIDE, OFTEN = 0.2, 0.4, 0.15, 5
"""A phrase names a line when this part of its headlines has it; below `ALONE` a second one stands beside it. Either is
in so many headlines at least."""
LONGER, NAME = 0.25, 0.15
"""How much more a phrase of three words counts than one of two, and a name than other words."""
_RUN = regex.compile(r"[^\p{L}\p{M}\d\s.’'-]+|[.'’](?=\s|$)|(?<=\s)['‘’-]")
_WORD = regex.compile(r"\d[\d.,]*%?|\p{L}[\p{L}\p{M}\d]*(?:[.’'-]\p{L}[\p{L}\p{M}\d]*)*")
_OWNED = regex.compile(r"['’]s$")
_REPORTS = frozenset(["says", "say", "said", "live", "update", "updates", "watch", "report", "reports", "new"])
_named: WeakKeyDictionary[Store, dict[tuple[str, int], str]] = WeakKeyDictionary()
"""Names of lines that have not doubled since: reading headlines takes time, and a name should stay."""


def line_names(store: Store, lines: Sequence[Storyline]) -> dict[str, str]:
    """What to call some storylines; two of one name are told apart by a word of their own."""
    labels = store.topic_labels([line.id for line in lines])
    found: dict[str, str] = {}
    for line in lines:
        name = shared_of(store, line) or sentence(", ".join(labels.get(line.id, ()))) or line.title
        found[line.id] = harmless(told_apart(name, line, found.values()), LONGEST)
    return found


def told_apart(name: str, line: Storyline, others: Collection[str]) -> str:
    """A name that others have already gets a word that is the line's own."""
    terms = sorted(line.key_terms, key=lambda term: not term[:1].isupper())  # a name before other words
    own = next((term for term in terms if term.casefold() not in name.casefold()), "")
    return f"{name}: {own}" if name in others and own else name


def shared_of(store: Store, line: Storyline) -> str:
    """What the headlines of a line share; empty where that is nothing, or where there are few."""
    if line.size < LEAST:
        return ""
    known, key = _named.setdefault(store, {}), (line.id, line.size.bit_length())
    if key not in known:
        if len(known) >= MOST_NAMES:
            known.clear()
        known[key] = sentence(_shared_by_headlines(store, line))
    return known[key]


def line_name(store: Store, line: Storyline) -> str:
    """What to call one storyline."""
    return line_names(store, [line])[line.id]


def _shared_by_headlines(store: Store, line: Storyline) -> str:
    language = str(store.settings().get("language", "auto"))
    headlines = [display_title(one.document) for one in store.brought_by("storyline", line.id, limit=READ)]
    return shared_name(headlines, "en" if language == "auto" else language)


def shared_name(headlines: Sequence[str], language: str = "en") -> str:
    """One or two phrases that many headlines have; empty where they share none.

    Examples
    --------
    >>> shared_name([*["Migrant caravan nears border"] * 3, *["Who pays for the migrant caravan?"] * 2, "Rain in Rome"])
    'migrant caravan'
    """
    counts: Counter[tuple[str, ...]] = Counter()
    forms: dict[tuple[str, ...], Counter[str]] = {}
    fillers = _fillers(language)
    for headline in headlines:
        seen = set()
        for key, form in _phrases(headline, fillers):
            forms.setdefault(key, Counter())[form] += 1
            seen.add(key)
        counts.update(seen)

    def rank(key: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
        is_name = all(word[:1].isupper() for word in _form(forms[key]).split())
        return -counts[key] * (1 + LONGER * (len(key) - 2) + NAME * is_name), key

    least = max(BESIDE * len(headlines), OFTEN)
    frequent = sorted((key for key in counts if counts[key] >= least), key=rank)
    if not frequent or counts[frequent[0]] < SHARED * len(headlines):
        return ""
    first = frequent[0]
    others = [key for key in frequent[1:] if not set(key) & set(first)]
    if counts[first] >= ALONE * len(headlines) or not others:
        return _form(forms[first])
    return f"{_form(forms[first])} and {_form(forms[others[0]])}"


def _phrases(headline: str, fillers: frozenset[str]) -> list[tuple[tuple[str, ...], str]]:
    """Two or three words beside one another, none of them a filler, each with the form in which it stands there."""
    found = []
    for run in _RUN.split(headline):
        words = [_OWNED.sub("", word) for word in _WORD.findall(run)]
        keys = [_singular(word.casefold()) for word in words]
        is_filler = [word.casefold() in fillers for word in words]
        found += [
            (tuple(keys[at : at + n]), " ".join(words[at : at + n]))
            for n in (2, 3)
            for at in range(len(words) - n + 1)
            if not any(is_filler[at : at + n]) and not keys[at].isdigit()
        ]
    return found


@cache
def _fillers(language: str) -> frozenset[str]:
    return stop_words(language) | _REPORTS


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word


def _form(forms: Counter[str]) -> str:
    """In small letters where it is often written so: elsewhere a headline has capitals only for show."""
    small = {form: n for form, n in forms.items() if form[:1].islower()}
    chosen = small if sum(small.values()) > 0.3 * forms.total() else forms
    return max(chosen, key=lambda form: (chosen[form], form))
