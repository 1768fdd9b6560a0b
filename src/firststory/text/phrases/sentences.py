"""One sentence, taken from the documents of a burst, that tells the event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import regex

from firststory.headlines import is_format
from firststory.text.phrases.alphabet import fold
from firststory.text.phrases.profiles import Profile, WordKeys, first_day, profiles, rarities
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Report

FIRST_SENTENCES = 3
SHORTEST, LONGEST = 6, 45
"""Words of a sentence."""
READ_CHARACTERS = 1500
A_FORMAT, CAPITALS_FIRST, LATER = 0.6, 0.8, 0.2

_ENDS = regex.compile(
    r"[.!?][\"”]?\K\s(?:(?<=[\p{Ll}\p{N})%\"”][.!?]\s)|(?<=[.!?][\"”]\s))"
    r"(?<!\b(?:Mr|Dr|St|Jr|Sr|Lt|Ms|No|Gen|Gov|Sen|Rep|Sgt|Col|Mrs|Capt|Prof)\.\s)\s*(?=[\p{Lu}\"“])"
    r"|\n+|[。！？]\K"
)
"""It begins with what few characters are: looking behind every character takes ten times as long."""
_DATELINE = regex.compile(r"^\p{Lu}{3,}[\p{Lu}, ]*(?:\p{L}+ \d+\. ?)?(?:/\w+/\.?|\(\p{L}+\)|--?|[—–])\s*(?:[—–-]+\s*)?")
_LEANS = regex.compile(r"[\"'“‘]|(?:he|she|it|they|but|and|this|that|we|i|so)\b", regex.IGNORECASE)
"""Sentences that begin so lean on the one before."""
_IS_ENDED = regex.compile(r"[.!?…。！？।؟][\"'”’»)\]]*$")
"""What ends otherwise is a caption, a list or a text without sentences."""


def sentences(text: str, is_cut: bool = False) -> list[str]:
    """The sentences at the beginning of a text, without its dateline.

    Examples
    --------
    >>> sentences("MOSCOW, March 16. /TASS/. Mr. Smith said so. It was late.")
    ['Mr. Smith said so.', 'It was late.']
    """
    head = text[:READ_CHARACTERS].strip()
    found = [one.strip() for one in _ENDS.split(_DATELINE.sub("", head))]
    if is_cut or len(text.strip()) > READ_CHARACTERS:
        found = found[:-1]  # the last one may be cut
    return [one for one in found if one]


def telling_sentence(reader: PhraseReader, reports: Sequence[Report]) -> str:
    """The sentence, of the first three of each report of the burst's first day, that says most of what all of them say.

    It stands in one of the reports; nothing is made up. Empty where none has a whole sentence of 6 to 45 words.

    Examples
    --------
    >>> text = "A bridge in Genoa collapsed on Tuesday during a storm. It was raining."
    >>> telling_sentence(PhraseReader(), [Report("Bridge in Genoa collapses", text)])
    'A bridge in Genoa collapsed on Tuesday during a storm.'
    """
    return telling_sentences(reader, [reports])[0]


def telling_sentences(reader: PhraseReader, bursts: Sequence[Sequence[Report]]) -> list[str]:
    """`telling_sentence` of each of some bursts."""
    words, early = WordKeys(reader), [first_day(reports) for reports in bursts]
    whole = [[_whole_sentences(report) for report in own] for own in early]
    # Of a burst of headlines, captions or lists no sentence can be told: it need not be read.
    best = [""] * len(bursts)
    told = [n for n, own in enumerate(whole) if any(own)]
    if not told:
        return best
    found = [
        (profile, _candidates(profile, whole[n], words))
        for n, profile in zip(told, profiles(reader, [early[n] for n in told], words), strict=True)
    ]
    keys = list(dict.fromkeys(key for _, candidates in found for one in candidates for key in one.telling))
    rarity = dict(zip(keys, rarities(reader, keys), strict=True))
    for n, (profile, candidates) in zip(told, found, strict=True):
        best[n] = _best(profile.shares, candidates, rarity)
    return best


def _whole_sentences(report: Report) -> list[tuple[int, str]]:
    """Those of its first sentences that are neither too short nor too long, and end as one does; with their places."""
    body = report.text.removeprefix(report.title).strip() or report.title
    return [
        (place, sentence)
        for place, sentence in enumerate(sentences(body, report.is_cut)[:FIRST_SENTENCES])
        if SHORTEST <= sentence.count(" ") + 1 <= LONGEST and _IS_ENDED.search(sentence)
    ]


class _Candidate(NamedTuple):
    """A sentence that may tell the event."""

    text: str
    form: float
    """How it is written and where it stands."""
    n_words: int
    telling: list[str]
    """The keys that the profile of the burst has too, in order."""


def _candidates(profile: Profile, whole: Sequence[Sequence[tuple[int, str]]], words: WordKeys) -> list[_Candidate]:
    """The whole sentences of each report, as they may be told."""
    found = []
    for names, own_sentences in zip(profile.names, whole, strict=True):
        told = [name for name in names if name in profile.shares]
        for place, sentence in own_sentences:
            own, low = words.of(sentence), fold(sentence)
            form = A_FORMAT if _LEANS.match(sentence) or is_format(sentence) else 1.0
            form *= CAPITALS_FIRST if sentence.split()[0].isupper() or "Related:" in sentence else 1.0
            telling = sorted((own & profile.shares.keys()).union(name for name in told if name in low))
            found.append(_Candidate(sentence, form * (1.0 - LATER * place), len(own), telling))
    return found


def _best(shares: Mapping[str, float], candidates: Sequence[_Candidate], rarity: Mapping[str, float]) -> str:
    best, best_worth = "", -1.0
    for one in candidates:
        told = sum(shares[key] * rarity[key] for key in one.telling)
        worth = one.form * told / (8.0 + one.n_words) ** 0.6
        if worth > best_worth:
            best, best_worth = one.text, worth
    return best
