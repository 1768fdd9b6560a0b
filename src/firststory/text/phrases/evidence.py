"""Choose the three to six phrases of a document that say what is new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from firststory.records import Document
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Form, Phrase, Zone

LEAST, MOST = 3, 6
ZONE_WEIGHT: dict[Zone, float] = {"title": 3.0, "lead": 1.4, "body": 0.8}
FORM_WEIGHT: dict[Form, float] = {"name": 1.2, "words": 0.9, "figure": 0.85, "hashtag": 0.85}
COUNT_WEIGHT = 0.35
LARGEST_RARITY = 7.0
TOGETHER_BEFORE, NEVER_TOGETHER = 0.9, 1.15
SAME_FORM = 0.75
"""For each further phrase of a form beyond the second."""
KEPT, KEPT_LAST = 0.25, 0.45
"""Of the best phrase's weight, for a phrase beyond the third, and for the sixth."""
ONCE = 1.5
"""Two phrases in fewer documents than this are new together: the document itself may have been learnt."""


def choose_evidence(reader: PhraseReader, document: Document, most: int = MOST) -> list[Phrase]:
    """The phrases that say what is new in a document, in the order of the text.

    A phrase weighs by where it stands, how often, how rare it is, and its form. The heaviest is taken first, then one
    after the other what adds most: more if it was never together with one of those chosen, less if it is of the same
    form; none that shares its words with them.

    Parameters
    ----------
    reader : PhraseReader
        Whatever it has learnt says what is rare. It does not matter whether it has learnt this document.
    document : Document
    most : int
        How many phrases at most.

    Examples
    --------
    >>> reader = PhraseReader()
    >>> found = choose_evidence(reader, Document(id="1", text="A storm kills 12 people in Porto Alegre"))
    >>> [phrase.text for phrase in found]
    ['storm kills', '12 people', 'Porto Alegre']
    """
    return choose_phrases(reader, reader.phrases(document), most)


def choose_phrases(reader: PhraseReader, phrases: Sequence[Phrase], most: int = MOST) -> list[Phrase]:
    """Of the phrases of a document those that say what is new in it, in the order of the text."""
    left = {phrase: weight(reader, phrase) for phrase in phrases}
    is_new = dict.fromkeys(phrases, False)
    best = max(left.values(), default=0.0)
    chosen: list[tuple[Phrase, float]] = []
    while left and len(chosen) < most:
        forms = Counter(phrase.form for phrase, _ in chosen)
        gains = {
            phrase: value
            * (NEVER_TOGETHER if is_new[phrase] or not chosen else TOGETHER_BEFORE)
            * SAME_FORM ** max(forms[phrase.form] - 1, 0)
            for phrase, value in left.items()
        }
        phrase = max(gains, key=gains.__getitem__)  # the first in the text among equals
        chosen.append((phrase, left.pop(phrase)))
        left = {other: value for other, value in left.items() if not _overlaps(phrase.key, other.key)}
        for other in left:
            is_new[other] = is_new[other] or reader.documents_together(phrase.key, other.key) < ONCE
    kept = {
        phrase
        for n, (phrase, value) in enumerate(chosen)
        if n < LEAST or value > (KEPT if n < MOST - 1 else KEPT_LAST) * best
    }
    return [phrase for phrase in phrases if phrase in kept]


def weight(reader: PhraseReader, phrase: Phrase) -> float:
    """How much a phrase tells of its document, by itself."""
    words = phrase.key.split()
    if phrase.form == "words":
        seen: Sequence[float] = [reader.documents_with_word(word) for word in words]
    else:
        seen = [reader.documents_with(phrase.key)]
    rarity = [min(log((1.0 + reader.n_documents_) / (1.0 + count)) + 1.0, LARGEST_RARITY) for count in seen]
    rare = 0.5 * max(rarity) + 0.5 * sum(rarity) / len(rarity)
    place = ZONE_WEIGHT[phrase.zone] * (1.0 + COUNT_WEIGHT * log(phrase.times))
    return place * max(rare, 0.0) * FORM_WEIGHT[phrase.form]


def _overlaps(one: str, other: str) -> bool:
    """Whether half of the words of the shorter phrase are words of the longer one."""
    a, b = set(one.split()), set(other.split())
    return 2 * len(a & b) >= min(len(a), len(b)) and bool(a & b)
