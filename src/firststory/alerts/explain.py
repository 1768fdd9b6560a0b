"""Why a verdict says what it says: phrases with their place in the text, nearest earlier documents, one sentence.

What is shown are phrases: names, figures with their unit, a few words (`firststory.text.phrases`). A phrase is called
new by the terms that it is made of. A term is new when nothing near explains it: no term of the nearest earlier
documents, or, where a dictionary is the detector, the part of the term that the dictionary leaves over. Each weighs
as its squared weight, which is its part of the document's length.

Where there are no phrases, as in scripts without spaces, the new terms themselves are shown. Where nothing is new, the
terms that the nearest document lacks, or all of them, are named, and the sentence does not call them new. Everything
here is made harmless at birth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from firststory.alerts.memory import Remembered
from firststory.frozen import Ingredients
from firststory.harmless import harmless
from firststory.records import Document, Evidence, Neighbour, NoveltyKind, Term, TermKind

N_TERMS = 8
N_SHARED = 5
NEAR_SIMILARITY = 0.05
"""A neighbour less similar than this explains nothing and is not worth naming."""


LEAST_SHARED = 2
"""Words that a document shares with one that it is like: a single word is a coincidence."""
NEW_SHARE = 0.5
"""Of the weight of a phrase, how much must be new for the phrase to be called new."""


class TokenLike(Protocol):
    """A word of the original text: what `StreamVectorizer.tokens` gives."""

    @property
    def surface(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def column(self) -> int: ...


class PhraseLike(Protocol):
    """A phrase of a document, and the columns of its words."""

    @property
    def text(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def weight(self) -> float: ...
    @property
    def columns(self) -> Sequence[int]: ...
    @property
    def kind(self) -> TermKind: ...


def explain(
    document: Document,
    kind: NoveltyKind,
    *,
    tokens: Sequence[TokenLike] = (),
    phrases: Sequence[PhraseLike] = (),
    weights: Mapping[int, float] | None = None,
    nearest: Sequence[tuple[Remembered, float]] = (),
    like: float = NEAR_SIMILARITY,
    residual: Mapping[int, float] | None = None,
    n_terms: int = N_TERMS,
    duplicate_of: str | None = None,
) -> Evidence:
    """The evidence for one verdict.

    Parameters
    ----------
    document : Document
    kind : "event", "development", "known" or "duplicate"
        What the story tracker made of it.
    tokens : sequence of tokens
        The words of the document with columns and offsets into `document.text`, -1 for those of a title; leave empty
        for verdicts that are no alerts.
    phrases : sequence of phrases
        What to show of the document; leave empty to show single terms.
    weights : column -> weight, optional
        The document's row, unit length.
    nearest : sequence of (Remembered, similarity)
        Nearest earlier documents, nearest first; those less similar than 0.05 are left out.
    like : float
        The similarity from which on a document is like another; the sentence names none that is less similar.
    residual : column -> part in [0, 1], optional
        What a dictionary leaves unexplained of each term; without it, what the nearest documents do not contain.
    duplicate_of : str, optional
        The id of the first document with this text; with a nearest document it is all but the same text.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace as Token
    >>> storm = Document(id="2", text="Storm closes harbour bridge")
    >>> places = [("Storm", 0, 0), ("harbour", 13, 6), ("bridge", 21, 7)]
    >>> words = [Token(surface=word, start=at, end=at + len(word), column=column) for word, at, column in places]
    >>> before = Remembered("1", "Harbour bridge opened", None, np.array([6, 7], dtype=np.int32))
    >>> found = explain(storm, "event", tokens=words, weights={0: 0.8, 6: 0.5, 7: 0.4}, nearest=[(before, 0.31)])
    >>> found.terms[0]
    Term(text='Storm', weight=0.64, start=0, end=5, kind='other')
    >>> found.sentence.split("; ")[1]
    'the nearest earlier document is “Harbour bridge opened” (similarity 0.31, shared: harbour and bridge).'
    """
    first = _first_occurrences(tokens) if tokens else {}
    if not first:
        return ByNeighbours(kind, nearest, duplicate_of)()
    near = [pair for pair in nearest if pair[1] >= NEAR_SIMILARITY]
    neighbours = [
        Neighbour(one.id, _shown(similarity), one.title, one.time, _shared(one, first, weights or {}))
        for one, similarity in near
    ]
    terms: tuple[Term, ...] = ()
    sentence = ""
    if kind in ("event", "development"):
        earlier = [one for one, _ in near]
        named = [one for one in neighbours if one.similarity >= like and len(one.shared) >= LEAST_SHARED]
        if phrases:
            terms, n_new = _phrase_terms(phrases, weights or {}, earlier, residual, n_terms)
            sentence = _sentence(kind, terms[: n_new if named else n_terms], named)
        else:
            terms = _novel_terms(first, weights or {}, earlier, residual, n_terms)
            sentence = _sentence(kind, terms, named)
            # Where several documents have all of its terms between them, what is new is that they come together.
            for fewer in (earlier[:1], []):
                terms = terms or _novel_terms(first, weights or {}, fewer, None, n_terms)
    if kind == "duplicate":
        sentence = _copy_sentence(duplicate_of, neighbours)
    return Evidence(terms, tuple(neighbours), kind, sentence or _sentence(kind, terms, neighbours))


class ByNeighbours(Ingredients[Evidence]):
    """Evidence of which there are no words: that of a verdict that is no alert. The nearest are named, and no more.

    Parameters
    ----------
    kind, nearest, duplicate_of
        As in `explain`.
    """

    __slots__ = ("_duplicate_of", "_kind", "_nearest")

    def __init__(
        self, kind: NoveltyKind, nearest: Sequence[tuple[Remembered, float]], duplicate_of: str | None = None
    ) -> None:
        self._kind, self._nearest, self._duplicate_of = kind, nearest, duplicate_of

    def __call__(self) -> Evidence:
        terms, nearest, kind, sentence = self.values()
        return Evidence(terms, tuple([Neighbour(*near) for near in nearest]), kind, sentence)

    def values(self) -> tuple[tuple[()], list[_Values], NoveltyKind, str]:
        near: list[_Values] = [
            (name, _shown(similarity), title, time, ())
            for (name, title, time, _), similarity in self._nearest
            if similarity >= NEAR_SIMILARITY
        ]
        named = [Neighbour(*near[0])] if near else []
        if self._kind == "duplicate":
            sentence = _copy_sentence(self._duplicate_of, named)
        else:
            sentence = _sentence(self._kind, (), named)
        return (), near, self._kind, sentence


_Values = tuple[str, float, str | None, datetime | None, tuple[str, ...]]
"""Those of a `Neighbour`."""


def _shown(similarity: float) -> float:
    return round(similarity, 4) if 0.0 <= similarity <= 1.0 else float(similarity > 0.5)


def _first_occurrences(tokens: Sequence[TokenLike]) -> dict[int, TokenLike]:
    """Each term where it first stands in the text; where it first stands in the title, if the text has it not."""
    first: dict[int, TokenLike] = {}
    for token in tokens:
        if token.column >= 0 and (token.column not in first or first[token.column].start < 0 <= token.start):
            first[token.column] = token
    return first


def _novel_terms(
    first: Mapping[int, TokenLike],
    weights: Mapping[int, float],
    near: Sequence[Remembered],
    residual: Mapping[int, float] | None,
    n_terms: int,
) -> tuple[Term, ...]:
    explained = _columns_of(near) if residual is None else frozenset()
    scored = []
    for column, token in first.items():
        left = 1.0 if residual is None else min(max(residual.get(column, 0.0), 0.0), 1.0)
        score = weights.get(column, 0.0) ** 2 * left
        if score > 0.0 and column not in explained:
            scored.append((-score, token.start, token))
    return tuple(
        Term(text=harmless(token.surface, 60), weight=round(-score, 4), start=token.start, end=token.end)
        for score, _, token in sorted(scored, key=lambda entry: entry[:2])[:n_terms]
    )


def _phrase_terms(
    phrases: Sequence[PhraseLike],
    weights: Mapping[int, float],
    near: Sequence[Remembered],
    residual: Mapping[int, float] | None,
    n_terms: int,
) -> tuple[tuple[Term, ...], int]:
    """The phrases, those that are new first and otherwise the heaviest; and how many are new."""
    explained = _columns_of(near) if residual is None else frozenset()

    def newness(phrase: PhraseLike) -> float:
        whole = left = 0.0
        for column in phrase.columns:
            part = weights.get(column, 0.0) ** 2
            whole += part
            left += part * (column not in explained if residual is None else residual.get(column, 0.0))
        return left / whole if whole > 0.0 else 0.0

    scored = [(newness(phrase) > NEW_SHARE, phrase) for phrase in phrases]
    scored.sort(key=lambda one: (not one[0], -one[1].weight))
    terms = tuple([Term(one.text, round(one.weight, 4), one.start, one.end, one.kind) for _, one in scored[:n_terms]])
    return terms, sum(is_new for is_new, _ in scored[:n_terms])


def _columns_of(near: Sequence[Remembered]) -> frozenset[int]:
    return frozenset[int]().union(*(earlier.columns.tolist() for earlier in near))


def _shared(earlier: Remembered, first: Mapping[int, TokenLike], weights: Mapping[int, float]) -> tuple[str, ...]:
    """Surface forms, as they stand in the *new* document, of the heaviest terms that both have."""
    both = [column for column in earlier.columns.tolist() if column in first]
    both.sort(key=lambda column: (-weights.get(column, 0.0), first[column].start))
    return tuple(harmless(first[column].surface, 60) for column in both[:N_SHARED])


def _sentence(kind: NoveltyKind, terms: Sequence[Term], nearest: Sequence[Neighbour]) -> str:
    new = _and([f"“{term.text}”" for term in terms[:3]]) if terms else ""
    if not nearest:
        if kind == "known":
            return "Known: it brings nothing that stands out."
        return f"New event: nothing earlier is like it{f'; it speaks of {new}' if new else ''}."
    title = _named(nearest[0])
    if kind == "known":
        return f"Known story: it is most like {title}."
    if kind == "development":
        brings = f"it adds {new} to" if new else "it goes on from"
        return f"New development of a known story: {brings} {title}."
    what = f"what is new is {new}; " if new else ""
    return f"New event: {what}the nearest earlier document is {title}."


def _copy_sentence(first: str | None, nearest: Sequence[Neighbour]) -> str:
    """An exact duplicate has no neighbours: none were looked for."""
    original = "" if first is None else f"“{harmless(first, 60)}”"
    if not nearest:
        return f"Duplicate: the same text as {original}." if original else "Duplicate: this text was seen before."
    also = f", which is a copy of {original}" if original and nearest[0].id != first else ""
    return f"Near copy: but for a few words the text of {_named(nearest[0])}{also}."


def _named(earlier: Neighbour) -> str:
    """An earlier document by its title, with when it was and how like."""
    facts = [_day(earlier.time)] if earlier.time else []
    facts.append(f"similarity {earlier.similarity:.2f}")
    if earlier.shared:
        facts.append("shared: " + _and(list(earlier.shared[:3])))
    return f"“{earlier.title or earlier.id}” ({', '.join(facts)})"


def _and(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _day(time: datetime) -> str:
    return f"{time.day} {_month(time.year, time.month)}"


@lru_cache(maxsize=1024)
def _month(year: int, month: int) -> str:
    return f"{datetime(year, month, 1):%B %Y}"
