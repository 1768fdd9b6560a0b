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
    return [phrase for phrase, _ in choose_weighed(reader, phrases, most)]


def choose_weighed(reader: PhraseReader, phrases: Sequence[Phrase], most: int = MOST) -> list[tuple[Phrase, float]]:
    """`choose_phrases`, each with its weight."""
    words = [set(phrase.key.split()) for phrase in phrases]
    weights = phrase_weights(reader, phrases)
    left, is_new = list(range(len(phrases))), [False] * len(phrases)
    chosen: list[int] = []
    forms: Counter[Form] = Counter()
    while left and len(chosen) < most:
        gains = [
            weights[i]
            * (NEVER_TOGETHER if is_new[i] or not chosen else TOGETHER_BEFORE)
            * SAME_FORM ** max(forms[phrases[i].form] - 1, 0)
            for i in left
        ]
        best = left[gains.index(max(gains))]  # the first in the text among equals
        chosen.append(best)
        forms[phrases[best].form] += 1
        left = [i for i in left if i != best and not _overlap(words[best], words[i])]
        for i in left:
            is_new[i] = is_new[i] or reader.documents_together(phrases[best].key, phrases[i].key) < ONCE
    heaviest = max(weights, default=0.0)
    kept = {
        phrases[i]
        for n, i in enumerate(chosen)
        if n < LEAST or weights[i] > (KEPT if n < MOST - 1 else KEPT_LAST) * heaviest
    }
    return [pair for pair in zip(phrases, weights, strict=True) if pair[0] in kept]


def phrase_weights(reader: PhraseReader, phrases: Sequence[Phrase]) -> list[float]:
    """How much each phrase tells of its document, by itself."""
    # Of common words each is looked up, of all else the phrase as a whole.
    words = list(dict.fromkeys(word for one in phrases if one.form == "words" for word in one.key.split()))
    whole = [one.key for one in phrases if one.form != "words"]
    in_documents = dict(zip(words, reader.documents_with_each_word(words), strict=True))
    of_phrase = dict(zip(whole, reader.documents_with_each(whole), strict=True))
    n = 1.0 + reader.n_documents_
    weights = []
    for one in phrases:
        is_words = one.form == "words"
        seen = [in_documents[word] for word in one.key.split()] if is_words else [of_phrase[one.key]]
        rarity = [min(log(n / (1.0 + count)) + 1.0, LARGEST_RARITY) for count in seen]
        rare = 0.5 * max(rarity) + 0.5 * sum(rarity) / len(rarity)
        place = ZONE_WEIGHT[one.zone] * (1.0 + COUNT_WEIGHT * log(one.times))
        weights.append(place * max(rare, 0.0) * FORM_WEIGHT[one.form])
    return weights


def _overlap(one: set[str], other: set[str]) -> bool:
    """Whether half of the words of the shorter phrase are words of the longer one."""
    both = len(one & other)
    return both > 0 and 2 * both >= min(len(one), len(other))
